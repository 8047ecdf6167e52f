import { randomBytes } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { flushEntries } from '../../disk/directory/make-directories.ts';
import { diskFailure } from '../../disk/failure.ts';
import { endsInLine } from '../../disk/whole-lines.ts';
import { appendLines, requireOwn, type SharedFile } from './append.ts';
import { countingEntries, indexSums, type ReadableSums } from './counting-entries.ts';
import { type EntryPath, RewriteLock } from './rewrite-lock.ts';
import { sorted } from './sorted.ts';
import { sumsLine } from './sums-line.ts';
import { rewriteNameOf } from './sums-name.ts';

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;
const WRITE_LINES = 2048;

/** A checksum file that is to be rewritten. */
export interface Rewriting {
  readonly sums: string;
  readonly entry: EntryPath;
  /** The file's path for people. */
  readonly shown: string;
  /** Whose it has to be. */
  readonly uid: number | undefined;
  /** Names of what rewrites that were broken off left behind. */
  readonly leftovers: readonly string[];
}

/**
 * Rewrites a checksum file sorted, one entry a name, by a file that takes its place whole. Those who append meanwhile
 * lose nothing: what went into the old file behind what was read is appended to the new one, where it may stand twice.
 * Several files of one directory are rewritten each by itself, since another machine may append to any of them.
 * @throws FilingsError `local_io`, the signal's reason
 */
export async function rewriteSums(work: Rewriting, signal: AbortSignal): Promise<void> {
  try {
    const lock = await RewriteLock.take(work.sums, work.entry, signal);
    try {
      for (const name of work.leftovers) await unlink(work.entry(name)).catch(() => {});
      await rewriteHeld(work, lock, signal);
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw diskFailure(error, work.shown, 'let it be yours');
  }
}

async function rewriteHeld({ sums, entry, shown, uid }: Rewriting, lock: RewriteLock, signal: AbortSignal) {
  const target: SharedFile = { path: entry(sums), shown, uid };
  const old = await open(target.path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  const temporary = entry(rewriteNameOf(sums, randomBytes(6).toString('hex')));
  try {
    const stats = await old.stat({ bigint: true });
    requireOwn(stats, target);
    const end = await endOfLines(old);
    await writeSorted(temporary, { fd: old.fd, end }, stats, signal);
    signal.throwIfAborted();
    await lock.requireHeld(shown);
    await rename(temporary, target.path);
    await flushNames(entry('.'));
    const late = await linesFrom(old, end);
    if (late.length > 0) await appendLines(target, late);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  } finally {
    await old.close();
  }
}

/** How far whole lines reach; a torn one is ended first, as whoever appends would do. */
async function endOfLines(file: FileHandle): Promise<number> {
  for (;;) {
    const { size } = await file.stat();
    if (await endsInLine(file.fd, size)) return size;
    await file.write('\n');
  }
}

async function writeSorted(
  temporary: string | Buffer,
  old: ReadableSums,
  stats: BigIntStats,
  signal: AbortSignal,
): Promise<void> {
  const lines = await linesOf(old, signal);
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for (let from = 0; from < lines.length; from += WRITE_LINES) {
      await file.writeFile(
        lines
          .slice(from, from + WRITE_LINES)
          .map(lineOf)
          .join(''),
        'latin1',
      );
    }
    await file.chown(Number(stats.uid), Number(stats.gid)).catch(() => {});
    await file.chmod(Number(stats.mode & 0o777n));
    // Of several files of a directory, the one that was changed last counts.
    await file.utimes(Number(stats.atimeNs) / 1e9, Number(stats.mtimeNs) / 1e9);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Each name once, in order, with its hash behind a NUL, which no name holds. */
async function linesOf(file: ReadableSums, signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  for await (const entries of countingEntries([file], await indexSums([file], signal))) {
    // Copied: parts of what was read would keep all of it in memory.
    for (const { name, sha256 } of entries) found.push(Buffer.from(`${name}\0${sha256}`, 'latin1').toString('latin1'));
  }
  return sorted(found);
}

function lineOf(found: string): string {
  const end = found.lastIndexOf('\0');
  return sumsLine({ name: found.slice(0, end), sha256: found.slice(end + 1) });
}

/** Whole lines only: whoever is still writing one finds the file replaced, and appends it again. */
async function linesFrom(file: FileHandle, position: number): Promise<Buffer> {
  const { size } = await file.stat();
  const text = Buffer.alloc(size - position);
  let length = 0;
  while (length < text.length) {
    const { bytesRead } = await file.read(text, length, text.length - length, position + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return text.subarray(0, text.subarray(0, length).lastIndexOf('\n') + 1);
}

async function flushNames(directory: string | Buffer): Promise<void> {
  const handle = await open(directory, O_DIRECTORY);
  await flushEntries(handle).finally(() => handle.close());
}
