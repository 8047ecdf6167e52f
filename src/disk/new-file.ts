import { open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf, FilingsError } from '../errors.ts';
import { systemReason } from './failure.ts';
import { flushDirectory } from './make-directories.ts';

export interface NewFile {
  readonly path: string;
  readonly bytes: Uint8Array | string;
  /** The permissions that it has from before its first byte. */
  readonly mode: number;
}

/**
 * Creates files that must not be there yet, all or none, and flushes them and their entries. A link in the place of one counts as a file.
 *
 * @throws FilingsError `usage`: one exists already; `local_io`
 */
export async function createNewFiles(files: readonly NewFile[]): Promise<void> {
  const created: string[] = [];
  try {
    for (const file of files) await createNewFile(file, () => created.push(file.path));
    for (const directory of new Set(created.map(dirname))) {
      await flushDirectory(directory).catch((cause) => {
        throw cannotCreate(directory, cause);
      });
    }
  } catch (error) {
    for (const path of created) await unlink(path).catch(() => {});
    throw error;
  }
}

async function createNewFile({ path, bytes, mode }: NewFile, onCreated: () => void): Promise<void> {
  try {
    const handle = await open(path, 'wx', mode);
    onCreated();
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw cannotCreate(path, cause);
  }
}

function cannotCreate(path: string, cause: unknown): FilingsError {
  const errno = errnoOf(cause);
  if (errno === 'EEXIST') {
    const hint = 'choose another name, or move the old file away';
    return new FilingsError('usage', `${path}: already exists, and is not overwritten`, { hint, cause });
  }
  const why = errno === 'ENOENT' ? 'its directory does not exist' : `cannot be written: ${systemReason(cause)}`;
  return new FilingsError('local_io', `${path}: ${why}`, { cause });
}
