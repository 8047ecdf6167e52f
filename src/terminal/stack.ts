import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/**
 * Returns a stack that names the source files instead of the bundled ones. A location without a source map stays as it
 * is. Node's own option is not used, because it would read the maps at each start.
 */
export function stackOfSource(stack: string): string {
  return stack.replace(/(\/[^\n():]+\.js):(\d+):(\d+)/g, (location, path, line, column) => {
    try {
      const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')));
      const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
      if (!('originalSource' in entry) || !entry.originalSource.includes('src/')) return location;
      return `${entry.originalSource.replace(/^(\.\.\/)+/, '')}:${entry.originalLine + 1}`;
    } catch {
      return location;
    }
  });
}
