// Writes small files: the config file, keys, tokens and the list of failed downloads. With `replaceFile`, a reader sees
// either the old file or the complete new one, even after a crash.
import { open, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf, FilingsError } from '../errors.ts';
import { requireUtf8Path } from '../paths.ts';
import type { World } from '../world.ts';
import { createNameOperations, undefinedIfMissing } from './calls.ts';
import { mapWriteErrors, toWriteError } from './failure.ts';
import { resolveLinks } from './links.ts';
import { flushDirectory, makeDirectories } from './make-directories.ts';
import { requireRegular } from './open-file.ts';
import { workingPartName } from './part-name.ts';
import { type Protection, requireKeptPermissions } from './secret-file.ts';

export interface NewFile {
  readonly path: string;
  readonly bytes: Uint8Array | string;
  /** The permissions. They are set when the file is created, so that others can never read a secret. */
  readonly mode: number;
  /** The file is not created if this program would not read it afterwards. */
  readonly protection?: Protection | undefined;
}

/** Creates all files or none, but an incomplete file may stay after a crash. A symbolic link is an existing file. */
export async function createNewFiles(files: readonly NewFile[], world: Pick<World, 'uid'>): Promise<void> {
  const created: string[] = [];
  for (const file of files) {
    try {
      await create(file, file.path, world);
      created.push(file.path);
      await flushDirectory(dirname(file.path));
    } catch (cause) {
      // A file that could not be created is not among them: `create` has removed it, or it existed before.
      for (const path of created) await unlink(path).catch(() => {});
      if (errnoOf(cause) !== 'EEXIST') throw toWriteError(cause, file.path);
      throw new FilingsError('local_io', 'already exists, and is never overwritten', {
        subject: { path: file.path },
        hint: 'choose another name, or move the existing file away',
        cause,
      });
    }
  }
}

interface ReplaceOptions {
  /** The permissions, even if the file exists and has others. By default only the owner may read the file. */
  readonly mode?: number;
  /** Whether to create the directories above the file. Everyone who may read the file may enter the new ones. */
  readonly makesDirectories?: boolean;
  readonly protection?: NewFile['protection'];
}

/** If `path` is a symbolic link, replaces or creates its target. */
export function replaceFile(
  path: string,
  text: string,
  { platform, sleep, random, uid }: Pick<World, 'platform' | 'sleep' | 'random' | 'uid'>,
  { mode = 0o600, makesDirectories = false, protection }: ReplaceOptions = {},
): Promise<void> {
  return mapWriteErrors(path, async () => {
    requireUtf8Path(path);
    const target = await resolveLinks(path);
    const stats = await stat(target).catch(undefinedIfMissing);
    // The rename below would replace even a device or a FIFO by a file.
    if (stats) requireRegular(stats);
    // Turns each read permission into a permission to enter: 0o444 >> 2 is 0o111.
    const made = makesDirectories ? makeDirectories(dirname(target), mode | ((mode & 0o444) >> 2)) : [];
    for (const directory of made) await flushDirectory(dirname(directory));
    // Named like the part of a download, so if a crash leaves it there, `verify` ignores it.
    const tempFile = join(dirname(target), workingPartName(basename(target), random()));
    await create({ path: tempFile, bytes: text, mode, protection }, path, { uid });
    // On Windows the rename is retried, because a virus scanner may have the file open.
    await removeOnFailure(tempFile, () => createNameOperations({ platform, sleep }).rename(tempFile, target));
    await flushDirectory(dirname(target));
  });
}

/** Flushes the bytes, but not the directory entry. An existing file is neither changed nor removed. */
async function create(
  { path, bytes, mode, protection }: NewFile,
  finalPath: string,
  world: Pick<World, 'uid'>,
): Promise<void> {
  const handle = await open(path, 'wx', mode);
  await removeOnFailure(path, async () => {
    try {
      if (protection) requireKeptPermissions(await handle.stat(), protection, finalPath, world);
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
