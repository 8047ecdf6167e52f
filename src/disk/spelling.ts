import { lstat } from 'node:fs/promises';
import type { Directory } from './directory.ts';
import { twinKey } from './file-name.ts';

/**
 * How an entry is really spelled that a look-up of `name` finds: some disks take several names for one, by case or
 * by Unicode form. Undefined: exactly so, or not at all. Throws what the system says.
 */
export async function otherSpelling(directory: Directory, name: string): Promise<string | undefined> {
  for (const variant of variants(name)) {
    const found = await lstat(directory.entry(variant)).catch(() => undefined);
    // Only then may the directory fold names; listing it for every file would cost much.
    if (found) return spelledOtherwise(await directory.names(), name);
  }
  return undefined;
}

/** The entry that a folding disk takes for `name`; undefined when `name` itself is among them, or none is. */
export function spelledOtherwise(names: readonly string[], name: string): string | undefined {
  if (names.includes(name)) return undefined;
  const key = twinKey(name);
  return names.find((entry) => twinKey(entry) === key);
}

/** Other names that are the same one to a disk that folds at all. */
function variants(name: string): ReadonlySet<string> {
  const swapped = name.replace(/[a-z]+|[A-Z]+/g, (run) => (run < 'a' ? run.toLowerCase() : run.toUpperCase()));
  const all = new Set([swapped, name.normalize('NFC'), name.normalize('NFD'), name.toUpperCase(), name.toLowerCase()]);
  all.delete(name);
  return all;
}
