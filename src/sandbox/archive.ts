import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemReason } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';

/** Files laid out as DIRECTORY/ACCESSION/FILE. Links below DIRECTORY are not followed, hidden files not served. */
export interface Archive {
  /** The files of a filing and their sizes in bytes, sorted by name; empty without such a filing. Rejects when it can't be read. */
  list(accession: string): Promise<readonly { readonly name: string; readonly size: number }[]>;
  /** An open file, to be closed by the caller; undefined without such a file. Rejects when it can't be read. */
  open(accession: string, name: string): Promise<ServedFile | undefined>;
}

/** A file held open: what is sent of it is one state of it, or is cut off. */
export interface ServedFile {
  /** Bytes. */
  readonly size: number;
  /** Strong: the time of change can't be set by hand, and a replaced file has another inode. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  /** Reads `length` bytes from an offset, in chunks. Throws before the last one when the file was written to meanwhile. */
  read(offset: number, length: number): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** What means "not there" to a client; anything else means "can't be read". */
const ABSENT = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];
const CHUNK_BYTES = 256 * 1024;
// Without O_NONBLOCK, opening a FIFO waits for its writer.
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Whether a name can be that of a file within a filing: one step of a path. */
export function isFileName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

/**
 * Opens the archive at an absolute path.
 * Throws a FilingsError `usage` when it is no directory, `local_io` when it can't be looked at.
 */
export async function openArchive(directory: string): Promise<Archive> {
  const root = await rootOf(directory);
  return {
    async list(accession) {
      const filing = join(root, accession);
      if (!(await isRealDirectory(filing))) return [];
      const entries = (await readdir(filing))
        .filter(isServed)
        .sort()
        .map(async (name) => {
          const stats = await orAbsent(lstat(join(filing, name)));
          return stats?.isFile() ? [{ name, size: stats.size }] : [];
        });
      return (await Promise.all(entries)).flat();
    },
    async open(accession, name) {
      const filing = join(root, accession);
      if (!isServed(name) || !(await isRealDirectory(filing))) return undefined;
      const handle = await orAbsent(open(join(filing, name), READ_ONLY));
      return handle && servedFile(handle);
    },
  };
}

async function rootOf(directory: string): Promise<string> {
  try {
    const root = await realpath(directory);
    if ((await stat(root)).isDirectory()) return root;
  } catch (cause) {
    if (ABSENT.includes(errnoOf(cause) ?? '')) throw notServable(directory, 'there is no such directory', cause);
    throw new FilingsError('local_io', `cannot serve ${directory}: ${systemReason(cause)}`, { cause });
  }
  throw notServable(directory, 'it is not a directory');
}

function notServable(directory: string, why: string, cause?: unknown): FilingsError {
  const hint = 'name a folder laid out as DIRECTORY/ACCESSION/FILE, or none for the sample filings';
  return new FilingsError('usage', `cannot serve ${directory}: ${why}`, { hint, cause });
}

function isServed(name: string): boolean {
  return isFileName(name) && !name.startsWith('.');
}

async function isRealDirectory(path: string): Promise<boolean> {
  return (await orAbsent(lstat(path)))?.isDirectory() ?? false;
}

/** Takes over the handle; throws when it is of no regular file. */
async function servedFile(handle: FileHandle): Promise<ServedFile> {
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw new Error('it is not a regular file');
    const { ino, size, mtimeNs, ctimeNs } = stats;
    return {
      size: Number(size),
      etag: `"${[ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join('-')}"`,
      modifiedAt: Number(stats.mtimeMs),
      read: (offset, length) => chunksOf(handle, stats, offset, length),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function* chunksOf(handle: FileHandle, stats: BigIntStats, offset: number, length: number) {
  const end = offset + length;
  for (let position = offset; position < end; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    position += bytesRead;
    if (bytesRead === 0 || (position === end && (await wasWritten(handle, stats)))) {
      throw new Error('the file changed while it was being sent');
    }
    yield chunk.subarray(0, bytesRead);
  }
}

async function wasWritten(handle: FileHandle, { size, mtimeNs }: BigIntStats): Promise<boolean> {
  const now = await handle.stat({ bigint: true });
  return now.size !== size || now.mtimeNs !== mtimeNs;
}

async function orAbsent<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (ABSENT.includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}
