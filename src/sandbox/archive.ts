import { constants } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemReason } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';

export type Archive = Awaited<ReturnType<typeof openArchive>>;
export type ServedFile = Awaited<ReturnType<typeof servedFile>>;

/** Not there for a client; anything else can't be read. */
const ABSENT = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];
const CHUNK_BYTES = 256 * 1024;

/** One step of a path. */
export function isFileName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

/**
 * Laid out as DIRECTORY/ACCESSION/FILE. Hidden files, such as the parts of a download, are not served. Throws `usage`
 * when it is no directory, `local_io` when it can't be looked at.
 */
export async function openArchive(root: string) {
  await requireDirectory(root);
  return {
    /** Sorted by name; empty without such a filing. Rejects when it can't be read. */
    async list(accession: string) {
      const filing = join(root, accession);
      const names = (await orAbsent(readdir(filing))) ?? [];
      const files = names.filter(isServed).map(async (name) => {
        const stats = await orAbsent(stat(join(filing, name)));
        return stats?.isFile() ? [{ name, size: stats.size }] : [];
      });
      return (await Promise.all(files)).flat().sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    /** To be closed by the caller; undefined without such a file. Rejects when it can't be read. */
    async open(accession: string, name: string) {
      if (!isServed(name)) return undefined;
      // Without O_NONBLOCK, opening a FIFO waits for its writer.
      const flags = constants.O_RDONLY | constants.O_NONBLOCK;
      const handle = await orAbsent(open(join(root, accession, name), flags));
      return handle && servedFile(handle);
    },
  };
}

async function requireDirectory(directory: string): Promise<void> {
  const isDirectory = await stat(directory).then(
    (stats) => stats.isDirectory(),
    (cause) => {
      if (ABSENT.includes(errnoOf(cause) ?? '')) return false;
      throw new FilingsError('local_io', `cannot serve ${directory}: ${systemReason(cause)}`, { cause });
    },
  );
  if (isDirectory) return;
  throw new FilingsError('usage', `cannot serve ${directory}: not a directory`, {
    hint: 'name a folder laid out as DIRECTORY/ACCESSION/FILE, or none for the sample filings',
  });
}

function isServed(name: string): boolean {
  return isFileName(name) && !name.startsWith('.');
}

/** Throws when it is of no regular file. */
async function servedFile(handle: FileHandle) {
  const stats = await handle.stat({ bigint: true });
  if (!stats.isFile()) {
    await handle.close();
    throw new Error('it is not a regular file');
  }
  const { ino, size, mtimeNs, ctimeNs } = stats;
  return {
    size: Number(size),
    /** Strong: the time of change can't be set by hand, and a replaced file has another inode. */
    etag: `"${[ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join('-')}"`,
    read: (offset: number, length: number) => chunksOf(handle, offset, offset + length),
    close: () => handle.close(),
  };
}

/** Throws when the file ends before. */
async function* chunksOf(handle: FileHandle, offset: number, end: number): AsyncGenerator<Buffer> {
  for (let position = offset; position < end; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) throw new Error('the file became shorter while it was being sent');
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

async function orAbsent<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (ABSENT.includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}
