import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The program's version, as the package in its folder says. */
export function versionIn(root: string): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}
