import { constants } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemReason } from '../disk/failure.ts';
import { isOneFile } from '../disk/file-name.ts';
import { errnoOf, FilingsError } from '../errors.ts';

// Finds and opens the files that the sandbox serves, in a directory laid out as DIRECTORY/ACCESSION/FILE.

export type Archive = Awaited<ReturnType<typeof openArchive>>;
export type ServedFile = Awaited<ReturnType<typeof servedFile>>;

/** The errors for which a client gets a 404. */
const MISSING = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];
const CHUNK_BYTES = 256 * 1024;

/** Returns whether a name is a single path segment. */
function isFileName(name: string, platform: string): boolean {
  return !name.includes('\\') && isOneFile(name, platform);
}

/**
 * Opens an archive that is laid out as DIRECTORY/ACCESSION/FILE. Hidden files, such as the parts of a download, are not
 * served. Throws `usage` if the path is not a directory, and `local_io` if it cannot be read.
 */
export async function openArchive(root: string, platform: string) {
  const isServed = (name: string) => isFileName(name, platform) && !name.startsWith('.');
  await requireDirectory(root);
  return {
    /** Returns whether a file can have this name. */
    isFileName: (name: string) => isFileName(name, platform),
    /** Returns the files of a filing, sorted by name, or none without such a filing. Rejects if it cannot be read. */
    async list(accession: string) {
      const filing = join(root, accession);
      const names = (await undefinedIfAbsent(readdir(filing))) ?? [];
      const files = names.filter(isServed).map(async (name) => {
        const stats = await undefinedIfAbsent(stat(join(filing, name)));
        return stats?.isFile() ? [{ name, size: stats.size }] : [];
      });
      return (await Promise.all(files)).flat().sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    /** Returns a file, which the caller must close, or undefined without such a file. Rejects if it cannot be read. */
    async open(accession: string, name: string) {
      if (!isServed(name)) return undefined;
      // Without O_NONBLOCK, opening a FIFO waits for its writer.
      const flags = constants.O_RDONLY | constants.O_NONBLOCK;
      const handle = await undefinedIfAbsent(open(join(root, accession, name), flags));
      return handle && servedFile(handle);
    },
  };
}

async function requireDirectory(directory: string): Promise<void> {
  const isDirectory = await stat(directory).then(
    (stats) => stats.isDirectory(),
    (cause) => {
      if (MISSING.includes(errnoOf(cause) ?? '')) return false;
      throw new FilingsError('local_io', `cannot serve ${directory}: ${systemReason(cause)}`, { cause });
    },
  );
  if (isDirectory) return;
  throw new FilingsError('usage', `cannot serve ${directory}: not a directory`, {
    hint: 'name a folder laid out as DIRECTORY/ACCESSION/FILE, or none for the sample filings',
  });
}

/** Throws if the handle is not a regular file's. */
async function servedFile(handle: FileHandle) {
  const stats = await handle.stat({ bigint: true });
  if (!stats.isFile()) {
    await handle.close();
    throw new Error('it is not a regular file');
  }
  const { ino, size, mtimeNs, ctimeNs } = stats;
  return {
    size: Number(size),
    /** A strong ETag: no program can set ctime, and a file that replaces another has another inode. */
    etag: `"${[ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join('-')}"`,
    read: (offset: number, length: number) => chunksOf(handle, offset, offset + length),
    close: () => handle.close(),
  };
}

/** Yields a range of the file. Throws if the file ends before `end`. */
async function* chunksOf(handle: FileHandle, offset: number, end: number): AsyncGenerator<Buffer> {
  for (let position = offset; position < end; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) throw new Error('the file became shorter while it was being sent');
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

async function undefinedIfAbsent<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (MISSING.includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}
