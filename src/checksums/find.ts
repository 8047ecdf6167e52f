// Finds the directories that have a SHA256SUMS, for `verify`.
import { opendir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isSystemError } from '../disk/failure.ts';
import { isKeptName, isPartName } from '../disk/part-name.ts';
import { SUMS_NAME } from './format.ts';
import type { Finding, SumsDirectory } from './verify.ts';

/**
 * Yields each directory that has a SHA256SUMS, before those below it, and a finding for each that cannot be read.
 * `roots` are paths as the user wrote them. Only these may be symbolic links.
 */
export async function* findDirectories(roots: readonly string[], cwd: string): AsyncGenerator<SumsDirectory | Finding> {
  // A stack, so that directories come in the order of a recursive walk.
  const waiting = [...roots].reverse();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    try {
      const { hasSums, names, below } = await readContents(resolve(cwd, path));
      if (hasSums) yield { path: resolve(cwd, path), displayPath: path, names };
      for (const name of below.reverse()) waiting.push(join(path, name));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      yield { result: 'unreadable', path, error };
    }
  }
}

async function readContents(path: string) {
  const contents = { hasSums: false, names: [] as string[], below: [] as string[] };
  for await (const entry of await opendir(path, { bufferSize: 1024 })) {
    const { name } = entry;
    if (entry.isDirectory()) contents.below.push(name);
    else if (name === SUMS_NAME) contents.hasSums = true;
    else if (!isPartName(name) && !isKeptName(name)) contents.names.push(name);
  }
  return contents;
}
