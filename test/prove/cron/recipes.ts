import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../../docs/recipes/cron');

/** The text of a file that docs/cron.md gives to copy. */
export function recipe(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}
