import { type FileHandle, opendir, readdir } from 'node:fs/promises';

/** So many entries are read at once: all that is ever in memory of a directory with a million. */
const ENTRIES_AT_ONCE = 1024;
/** What a directory of few entries has: some hundred names, on most disks. */
const FEW_BYTES = 16 << 10;
/** And where a size says nothing about entries. */
const FEW_NAMES = 1024;

/** The names in a directory, read some at a time. Throws what the system says. */
export async function* allNames(path: string): AsyncGenerator<string> {
  for await (const { name } of await opendir(path, { bufferSize: ENTRIES_AT_ONCE })) yield name;
}

/**
 * The names in a directory that is open, where they are few: that costs hardly more than a look at one of them.
 * Undefined where they are not. Throws what the system says.
 */
export async function fewNames(handle: FileHandle, path: string): Promise<ReadonlySet<string> | undefined> {
  const { size } = await handle.stat();
  if (size > FEW_BYTES) return undefined;
  const names = await readdir(path);
  return names.length > FEW_NAMES ? undefined : new Set(names);
}
