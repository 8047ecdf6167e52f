import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Builds the program once before its tests if a source is newer than the build. */
export function setup(): void {
  const built = statSync(join(root, 'dist/main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const newest = Math.max(...sources.map((name) => statSync(join(root, 'src', name)).mtimeMs));
  if (newest > built) execFileSync(process.execPath, [join(root, 'scripts/build.js')], { stdio: 'inherit' });
}
