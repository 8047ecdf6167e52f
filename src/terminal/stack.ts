import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/**
 * Returns a stack that names the files of the source instead of those that the build has bundled them into. A place
 * without a map stays as it is. Node itself would read the maps at each start.
 */
export function stackOfSource(stack: string): string {
  return stack.replace(/(\/[^\n():]+\.js):(\d+):(\d+)/g, (place, path, line, column) => {
    try {
      const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')));
      const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
      if (!('originalSource' in entry) || !entry.originalSource.includes('src/')) return place;
      return `${entry.originalSource.replace(/^(\.\.\/)+/, '')}:${entry.originalLine + 1}`;
    } catch {
      return place;
    }
  });
}
