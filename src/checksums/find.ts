import { opendirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isKeptName, isPartName } from '../disk/part-name.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { SUMS_NAME } from './format.ts';
import type { Finding, OnProgress, SumsDirectory } from './verify.ts';

const ENTRIES_PER_READ = 512;

/**
 * Yields each directory that has a SHA256SUMS, before the directories below it. Follows no links. Directories are by
 * their paths for display. Throws what `onProgress` throws.
 */
export async function* findDirectories(
  roots: readonly string[],
  cwd: string,
  onProgress: OnProgress,
): AsyncGenerator<SumsDirectory | Finding> {
  const waiting = [...roots].reverse();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    try {
      const { hasSums, names, below } = await contentsOf(resolve(cwd, path), onProgress);
      if (hasSums) yield { path: resolve(cwd, path), displayPath: path, names };
      for (const name of below.reverse()) waiting.push(join(path, name));
    } catch (error) {
      if (error instanceof FilingsError || errnoOf(error) === undefined) throw error;
      yield { result: 'unreadable', path, error };
    }
  }
}

async function contentsOf(path: string, onProgress: OnProgress) {
  const contents = { hasSums: false, names: [] as string[], below: [] as string[] };
  const directory = opendirSync(`${path}/.`, { bufferSize: ENTRIES_PER_READ });
  try {
    for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
      const { name } = entry;
      if (entry.isDirectory()) contents.below.push(name);
      else if (name === SUMS_NAME) contents.hasSums = true;
      else if (!isPartName(name) && !isKeptName(name)) contents.names.push(name);
      await onProgress();
    }
  } finally {
    directory.closeSync();
  }
  return contents;
}
