import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { isAbsolute } from 'node:path';
import type { OwnFiles } from '../own-files.ts';

const BUILT_FRAME = /(?:file:\/\/)?((?:\/[^\s()]*\/)?dist\/[\w.-]+\.js):(\d+):(\d+)/g;

/**
 * A stack whose frames in the built program name the file and line of `src/` that they come from. Mapped only when a
 * defect is told: Node's own way (`--enable-source-maps`) reads every map at each start. Without a map a frame stays.
 */
export function mappedStack(stack: string, own: OwnFiles): string {
  const maps = new Map<string, SourceMap | undefined>();
  return stack.replace(BUILT_FRAME, (frame, file: string, line: string, column: string) => {
    if (!maps.has(file)) maps.set(file, mapOf(file, own));
    // Both count from 0 in a map.
    const found = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (found === undefined || !('originalSource' in found)) return frame;
    const { originalSource, originalLine, originalColumn } = found;
    return `${originalSource.replace(/^(\.\.\/)+/, '')}:${originalLine + 1}:${originalColumn + 1}`;
  });
}

/** Beside the file; an executable's code has a path in the project, and its map is an asset. */
function mapOf(file: string, own: OwnFiles): SourceMap | undefined {
  try {
    const path = `${file}.map`;
    const bytes = isAbsolute(file) ? readFileSync(path) : own.read(path);
    return new SourceMap(JSON.parse(bytes.toString()));
  } catch {
    return undefined;
  }
}
