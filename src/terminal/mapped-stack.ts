import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

const BUILT_FRAME = /(?:file:\/\/)?((?:\/[^\s()]*\/)?dist\/[\w.-]+\.js):(\d+):(\d+)/g;

/**
 * A stack whose frames in the built program name the file and line of `src/` that they come from. Mapped only when a
 * defect is told: Node's own way (`--enable-source-maps`) reads every map at each start. Without a map a frame stays.
 */
export function mappedStack(stack: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  return stack.replace(BUILT_FRAME, (frame, file: string, line: string, column: string) => {
    if (!maps.has(file)) maps.set(file, mapOf(file));
    // Both count from 0 in a map.
    const found = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (found === undefined || !('originalSource' in found)) return frame;
    const { originalSource, originalLine, originalColumn } = found;
    return `${originalSource.replace(/^(\.\.\/)+/, '')}:${originalLine + 1}:${originalColumn + 1}`;
  });
}

function mapOf(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}
