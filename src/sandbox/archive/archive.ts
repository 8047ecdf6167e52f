import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemReason } from '../../disk/system-reason.ts';
import { errnoOf, FilingsError } from '../../errors.ts';
import { ArchivedFile } from './archived-file.ts';

export interface ArchiveEntry {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** Files laid out as DIRECTORY/ACCESSION/FILE. Links below DIRECTORY are not followed, hidden files not served. */
export interface Archive {
  /** The files of a filing, sorted by name; empty without such a filing. Rejects when it can't be read. */
  list(accession: string): Promise<readonly ArchiveEntry[]>;
  /** An open file, to be closed by the caller; undefined without such a file. Rejects when it can't be read. */
  open(accession: string, name: string): Promise<ServedFile | undefined>;
}

/** An open file of an archive. */
export interface ServedFile {
  /** Bytes. */
  readonly size: number;
  /** Strong. */
  readonly etag: string;
  /** Milliseconds since the epoch; infinite where nobody knows. */
  readonly modifiedAt: number;
  /** Reads `length` bytes from an offset, in chunks. Throws when they are not of the state that the ETag names. */
  read(offset: number, length: number): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** What means "not there" to a client; anything else means "can't be read". */
const ABSENT = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];
/** Above the granularity of the file systems' clocks. */
const CLOCK_TICK_MS = 20;
// Without O_NONBLOCK, opening a FIFO waits for its writer.
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Whether a name can be that of a file within a filing: one step of a path. */
export function isFileName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

/**
 * Opens the archive at an absolute path. `now`: milliseconds since the epoch.
 * Throws a FilingsError `usage` when it is no directory, `local_io` when it can't be looked at.
 */
export async function openArchive(directory: string, now: () => number): Promise<Archive> {
  const root = await rootOf(directory);
  return {
    async list(accession) {
      const filing = join(root, accession);
      if (!(await isRealDirectory(filing))) return [];
      const names = (await readdir(filing)).filter(isServed).sort();
      const entries = await Promise.all(names.map((name) => entryOf(filing, name)));
      return entries.filter((entry) => entry !== undefined);
    },
    async open(accession, name) {
      const filing = join(root, accession);
      if (!isServed(name) || !(await isRealDirectory(filing))) return undefined;
      const handle = await orAbsent(open(join(filing, name), READ_ONLY));
      return handle && whileOpen(handle, () => settledFile(handle, now));
    },
  };
}

async function rootOf(directory: string): Promise<string> {
  try {
    const root = await realpath(directory);
    if ((await stat(root)).isDirectory()) return root;
  } catch (cause) {
    if (!ABSENT.includes(errnoOf(cause) ?? '')) {
      throw new FilingsError('local_io', `cannot serve ${directory}: ${systemReason(cause)}`, { cause });
    }
    throw notServable(directory, 'there is no such directory', cause);
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

async function entryOf(directory: string, name: string): Promise<ArchiveEntry | undefined> {
  const stats = await orAbsent(lstat(join(directory, name)));
  return stats?.isFile() ? { name, size: stats.size } : undefined;
}

/**
 * Waits out the clock tick of a file's last change before its validators are taken:
 * two changes within one tick could not be told apart, and the ETag would not be strong.
 */
async function settledFile(handle: FileHandle, now: () => number): Promise<ArchivedFile> {
  const stats = await handle.stat({ bigint: true });
  if (!stats.isFile()) throw new Error('it is not a regular file');
  const age = now() - Number(stats.ctimeMs);
  if (age < 0 || age >= CLOCK_TICK_MS) return new ArchivedFile(handle, stats);
  await sleep(CLOCK_TICK_MS);
  return new ArchivedFile(handle, await handle.stat({ bigint: true }));
}

async function whileOpen<T>(handle: FileHandle, take: () => Promise<T>): Promise<T> {
  try {
    return await take();
  } catch (error) {
    await handle.close();
    throw error;
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
