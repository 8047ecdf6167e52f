import { opendirSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemReason } from '../disk/failure.ts';
import { isPartLike } from '../disk/file-name.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { withSlashes } from '../paths.ts';
import type { World } from '../world.ts';
import { type ByteText, byteText, SUMS_NAME, systemPath } from './read.ts';
import { type Finding, joined, type OnProgress, type SumsDirectory } from './verify.ts';

const ENTRIES_PER_READ = 512;

/** Directories by their absolute paths without links, each with its path for display. */
export type Roots = ReadonlyMap<ByteText, ByteText>;

/** Returns the named directories, each once. Throws `usage` if one cannot be opened. */
export async function rootsOf(
  directories: readonly string[],
  { cwd, platform }: Pick<World, 'cwd' | 'platform'>,
): Promise<Roots> {
  const roots = new Map<ByteText, ByteText>();
  for (const displayPath of directories) {
    // With the slash at its end, the path of a file is an error.
    const real = await realpath(displayPath && `${resolve(cwd, displayPath)}/`).catch((cause) => {
      throw new FilingsError('usage', `cannot be opened: ${systemReason(cause)}`, {
        subject: { path: displayPath || "''" },
        hint: 'name the directory that was downloaded to',
        cause,
      });
    });
    if (!roots.has(byteText(real))) roots.set(byteText(real), byteText(withSlashes(displayPath, platform)));
  }
  return roots;
}

/**
 * Yields each directory that has a SHA256SUMS, once and before the directories below it. Follows no links. Throws what
 * `onProgress` throws.
 */
export async function* findDirectories(
  roots: Roots,
  platform: string,
  onProgress: OnProgress,
): AsyncGenerator<SumsDirectory | Finding> {
  const waiting = [...roots].reverse();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [path, displayPath] = next;
    try {
      const { hasSums, names, below } = await contentsOf(path, onProgress);
      if (hasSums) yield { path, displayPath, names, platform };
      for (const name of below.reverse()) {
        const inner = joined(path, name);
        if (!roots.has(inner)) waiting.push([inner, joined(displayPath, name)]);
      }
    } catch (error) {
      if (error instanceof FilingsError || errnoOf(error) === undefined) throw error;
      yield { result: 'unreadable', path: displayPath, error };
    }
  }
}

async function contentsOf(path: ByteText, onProgress: OnProgress) {
  const contents = { hasSums: false, names: [] as ByteText[], below: [] as ByteText[] };
  const directory = opendirSync(systemPath(`${path}/.`), { encoding: 'latin1', bufferSize: ENTRIES_PER_READ });
  try {
    for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
      const { name } = entry;
      if (entry.isDirectory()) contents.below.push(name);
      else if (name === SUMS_NAME) contents.hasSums = true;
      else if (!isPartLike(name)) contents.names.push(name);
      await onProgress();
    }
  } finally {
    directory.closeSync();
  }
  return contents;
}
