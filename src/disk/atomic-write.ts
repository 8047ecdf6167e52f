// Writes whole small files: a reader sees either the old file or the complete new one, even after a crash.
import { lstat, open, readlink, realpath, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { namesOn, undefinedIfMissing } from './calls.ts';
import { diskError, withDiskError } from './failure.ts';
import { flushDirectory, makeDirectories } from './make-directories.ts';
import { partName } from './part-name.ts';
import { requirePlain } from './plain-file.ts';

/** A file to create. */
export interface NewFile {
  readonly path: string;
  readonly bytes: Uint8Array | string;
  /** The permissions, which the file has before its first byte. */
  readonly mode: number;
}

/**
 * Creates all files or none, and flushes their entries. Throws `local_io`, also if one of them already exists or its
 * directory is missing; a symbolic link is treated as an existing file.
 */
export async function createNewFiles(files: readonly NewFile[]): Promise<void> {
  const created: string[] = [];
  for (const file of files) {
    try {
      await create(file);
      created.push(file.path);
      await flushDirectory(dirname(file.path));
    } catch (cause) {
      for (const path of created) await unlink(path).catch(() => {});
      if (errnoOf(cause) !== 'EEXIST') throw diskError(cause, file.path);
      throw new FilingsError('local_io', 'already exists, and is not overwritten', {
        subject: { path: file.path },
        hint: 'choose another name, or move the old file away',
        cause,
      });
    }
  }
}

interface ReplaceOptions {
  /** The permissions, which the file has before its first byte. By default only the owner may read the file. */
  readonly mode?: number;
  /** Whether missing directories are created. The users who may read the file may also enter these directories. */
  readonly makesDirectories?: boolean;
}

/**
 * Replaces or creates a file completely or not at all. Follows a symbolic link, and replaces or creates its target.
 * Throws `local_io`.
 */
export function replaceFile(
  path: string,
  text: string,
  { platform, sleep, random }: Pick<World, 'platform' | 'sleep' | 'random'>,
  { mode = 0o600, makesDirectories = false }: ReplaceOptions = {},
): Promise<void> {
  return withDiskError(path, async () => {
    const target = await targetOf(path);
    const stats = await lstat(target).catch(undefinedIfMissing);
    // The file is written by rename, which would replace a device or FIFO.
    if (stats) requirePlain(stats);
    const made = makesDirectories ? makeDirectories(dirname(target), mode | ((mode & 0o444) >> 2)) : [];
    for (const directory of made) await flushDirectory(dirname(directory));
    const temporary = join(dirname(target), partName(basename(target), random()));
    await create({ path: temporary, bytes: text, mode });
    await removeOnFailure(temporary, () => namesOn({ platform, sleep }).rename(temporary, target));
    await flushDirectory(dirname(target));
  });
}

async function targetOf(path: string): Promise<string> {
  const real = await realpath(path).catch(undefinedIfMissing);
  if (real !== undefined) return real;
  const link = await readlink(path).catch(() => undefined);
  return link === undefined ? path : targetOf(resolve(await realpath(dirname(path)), link));
}

/** Creates a file and flushes its bytes. Removes the file after a failure. Throws the system error. */
async function create({ path, bytes, mode }: NewFile): Promise<void> {
  const handle = await open(path, 'wx', mode);
  await removeOnFailure(path, async () => {
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
  });
}

async function removeOnFailure(path: string, work: () => Promise<void>): Promise<void> {
  await work().catch(async (error) => {
    await unlink(path).catch(() => {});
    throw error;
  });
}
