import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Directory } from '../disk/directory.ts';
import { diskFailure } from '../disk/failure.ts';
import { FollowingHash } from '../disk/hash/following-hash.ts';
import { sha256OfFile } from '../disk/hash/sha256.ts';
import type { Heartbeat } from '../disk/owner/heartbeat.ts';
import type { Owner } from '../disk/owner/owner.ts';
import { otherSpelling } from '../disk/spelling.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { Persistence } from '../http/retry/attempts.ts';
import { requireHash } from './checked.ts';
import type { Leftovers } from './sinks/leftovers.ts';
import { PartFile } from './sinks/part-file.ts';
import type { PartPlace } from './sinks/part-place.ts';
import type { Identity } from './sinks/resume-record.ts';
import { takeOver } from './sinks/take-over.ts';
import { type Remote, type Transferred, transfer, type Watcher } from './transfer.ts';

export type IfExists = 'skip' | 'overwrite' | 'error';

/** One file to be put under one name of one directory. */
export interface Saving {
  readonly directory: Directory;
  readonly leftovers: Leftovers;
  readonly heartbeat: Heartbeat;
  readonly name: string;
  readonly ifExists: IfExists;
  readonly identity: Identity;
  readonly owner: Owner;
  readonly uid: number | undefined;
  readonly nextSerial: () => string;
  /** What the file must hash to; nothing is hashed without it. */
  readonly sha256: string | undefined;
  /** The built `hash-worker.js`. */
  readonly hashWorker: string;
}

export type Saved = { readonly sha256: string | undefined } & (
  | { readonly kind: 'skipped'; readonly bytes: number }
  | ({ readonly kind: 'saved' } & Transferred)
);

/**
 * Brings a file to disk, whole or not at all: into a part, flushed, renamed, the
 * directory flushed. Throws what ended it; the part then stays only if it can be resumed.
 */
export async function save(
  remote: Remote,
  saving: Saving,
  persistence: Persistence,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Saved> {
  const attempt = () => saveOnce(remote, saving, persistence, signal, watcher);
  // Another machine takes the part of a run that slept for long; what was lost so is fetched anew, or stands by now.
  const saved = (await attempt()) ?? (await attempt());
  if (saved) return saved;
  throw new FilingsError('local_io', `${join(saving.directory.path, saving.name)}: its part was removed, twice`, {
    hint: 'something else writes to that directory: see what removes files there',
  });
}

/** Undefined when the part was taken away meanwhile. */
async function saveOnce(
  remote: Remote,
  saving: Saving,
  persistence: Persistence,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Saved | undefined> {
  const { directory, leftovers, name, ifExists } = saving;
  const present = await whatStands(saving);
  if (present.kind === 'file-to-keep') {
    await leftovers.sweepBeside(name, present.stat);
    return skip(saving, signal, present.stat.size);
  }
  const exclusive = present.kind === 'nothing' && ifExists !== 'overwrite';
  const part = await openPart(saving, signal);
  part.expected = saving.sha256;
  const hash =
    saving.sha256 === undefined
      ? undefined
      : new FollowingHash(part.file, join(directory.path, name), saving.hashWorker);
  try {
    const moved = await transfer(remote, part, persistence, signal, followedBy(hash, part, watcher));
    const sha256 = await hash?.finish(moved.bytes, signal);
    if (sha256 !== undefined) requireHash(remote.what, sha256, saving.sha256);
    const mode = present.stat && keptMode(present.stat, await part.file.stat());
    const placed = await part.commit({ exclusive, mode }, signal);
    if (placed === 'lost') return undefined;
    await leftovers.sweep(name);
    if (placed === 'placed') return { kind: 'saved', sha256, ...moved };
  } catch (error) {
    await hash?.close();
    await (signal.aborted || isWorthKeeping(error) ? part.keep() : part.discard());
    throw error;
  } finally {
    await hash?.close();
  }
  // Another run has put it there meanwhile.
  await whatStands(saving);
  return skip(saving, signal);
}

async function skip({ directory, name, sha256 }: Saving, signal: AbortSignal, size?: number): Promise<Saved> {
  const found =
    sha256 === undefined ? undefined : await sha256OfFile(directory.entry(name), join(directory.path, name), signal);
  if (found !== undefined) requireHash(join(directory.path, name), found, sha256);
  return { kind: 'skipped', bytes: size ?? (await sizeOf(directory, name)), sha256: found };
}

async function openPart(saving: Saving, signal: AbortSignal): Promise<PartFile> {
  const { leftovers, name: final, identity } = saving;
  const place: PartPlace = { ...saving, final };
  const leftover = await leftovers.claim(final, identity);
  return (leftover && (await takeOver(place, leftover, signal))) ?? PartFile.create(place);
}

/** Lets the hash follow what is written. */
function followedBy(hash: FollowingHash | undefined, part: PartFile, watcher: Watcher): Watcher {
  if (!hash) return watcher;
  return {
    total(bytes, offset) {
      if (offset === 0) hash.restart();
      watcher.total(bytes, offset);
    },
    moved(bytes) {
      hash.reached(part.held.bytes);
      watcher.moved(bytes);
    },
    setback: (setback) => watcher.setback(setback),
  };
}

/** What has the final name already. */
type Present =
  | { readonly kind: 'file-to-keep'; readonly stat: Stats }
  /** `stat` is of a plain file. */
  | { readonly kind: 'nothing' | 'replaceable'; readonly stat?: Stats };

/**
 * The permissions that stay when a file is replaced, as with the shell's `>`; undefined: those of a new file.
 * Another user's file says nothing about who may change ours; another group may do no more than everybody.
 */
export function keptMode(
  old: Pick<Stats, 'uid' | 'gid' | 'mode'>,
  part: Pick<Stats, 'uid' | 'gid'>,
): number | undefined {
  if (old.uid !== part.uid) return undefined;
  const mode = old.mode & 0o777;
  return old.gid === part.gid ? mode : (mode & 0o707) | ((mode & 0o007) << 3);
}

/** A final link is replaced, never followed; anything else that is no plain file is left alone. */
async function whatStands({ directory, name, ifExists }: Saving): Promise<Present> {
  const path = join(directory.path, name);
  const look = async () => ({ stat: await lstat(directory.entry(name)), other: await otherSpelling(directory, name) });
  const found = await look().catch((error) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw diskFailure(error, path);
  });
  if (!found) return { kind: 'nothing' };
  const { stat, other } = found;
  if (other !== undefined) throw sameToTheDisk(path, other);
  if (ifExists === 'error') throw alreadyThere(directory, name);
  if (stat.isSymbolicLink()) return { kind: 'replaceable' };
  if (!stat.isFile()) throw inTheWay(path, stat.isDirectory() ? 'a directory' : 'something that is no file');
  return { kind: ifExists === 'skip' ? 'file-to-keep' : 'replaceable', stat };
}

function sameToTheDisk(path: string, other: string): FilingsError {
  return new FilingsError('local_io', `${path}: '${other}' is there, and this disk takes both names for one`, {
    hint: 'choose another place, or another name: -o PATH',
  });
}

function inTheWay(path: string, what: string): FilingsError {
  return new FilingsError('local_io', `${path}: cannot write: ${what} is in the way`, {
    hint: 'move it away, or choose another place with --output or --directory',
  });
}

async function sizeOf(directory: Directory, name: string): Promise<number> {
  return lstat(directory.entry(name)).then(
    (stat) => stat.size,
    () => 0,
  );
}

function alreadyThere(directory: Directory, name: string): FilingsError {
  return new FilingsError('local_io', `${join(directory.path, name)}: it is there already`, {
    hint: '--if-exists skip keeps it, --if-exists overwrite replaces it',
  });
}

/** After a temporary failure, a truncation or a signal another run can go on; after any other the bytes are of no use. */
function isWorthKeeping(error: unknown): boolean {
  if (!(error instanceof FilingsError)) return false;
  return error.code === 'temporary' || error.code === 'interrupted' || (error.code === 'integrity' && error.retryable);
}
