// Finds the directories that have a SHA256SUMS.
import { opendir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isSystemError } from '../disk/failure.ts';
import { isKeptName, isPartName } from '../disk/part-name.ts';
import { SUMS_NAME } from './format.ts';
import type { Finding, SumsDirectory } from './verify.ts';

/**
 * Yields each directory that has a SHA256SUMS, before the directories below it. Follows no links. Directories are by
 * their paths for display.
 */
export async function* findDirectories(roots: readonly string[], cwd: string): AsyncGenerator<SumsDirectory | Finding> {
  const waiting = [...roots].reverse();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    try {
      const { hasSums, names, below } = await contentsOf(resolve(cwd, path));
      if (hasSums) yield { path: resolve(cwd, path), displayPath: path, names };
      for (const name of below.reverse()) waiting.push(join(path, name));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      yield { result: 'unreadable', path, error };
    }
  }
}

async function contentsOf(path: string) {
  const contents = { hasSums: false, names: [] as string[], below: [] as string[] };
  for await (const entry of await opendir(path, { bufferSize: 1024 })) {
    const { name } = entry;
    if (entry.isDirectory()) contents.below.push(name);
    else if (name === SUMS_NAME) contents.hasSums = true;
    else if (!isPartName(name) && !isKeptName(name)) contents.names.push(name);
  }
  return contents;
}
