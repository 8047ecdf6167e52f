import type { Stats } from 'node:fs';
import { sha256OfFile } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';
import { PartFile, type PartTarget } from './part/part-file.ts';
import type { Identity } from './part/record.ts';
import type { Places, Where } from './places.ts';
import { type IfExists, presentAt } from './present.ts';
import type { Proof } from './proof.ts';
import { type Fetched, fetchInto, type Remote, type Watcher } from './transfer.ts';

/** Whether the sizes that listings give are believed: some services list the filing's size with each file. */
export interface ListedSizes {
  ignored: boolean;
}

/** One file to be put under one name of one directory. */
export interface Saving {
  readonly where: Where;
  readonly final: string;
  readonly identity: Identity;
  readonly ifExists: IfExists;
  /** The size that the listing gave. Bytes. */
  readonly listedSize: number | undefined;
  readonly proof: Proof;
  readonly signal: AbortSignal;
}

/** What has the name in the end: a file that existed, or the one that was fetched. */
export type Saved = { readonly kind: 'skipped' | 'fetched' } & Pick<Fetched, 'bytes' | 'sha256'> & Partial<Fetched>;

/** What all files of a run are saved with. */
export interface SavingTools {
  readonly places: Places;
  readonly listedSizes: ListedSizes;
}

/**
 * Brings a file to disk, whole or not at all: into a part, flushed, named, the directory flushed. Throws what ended it;
 * the part then stays only if it can be resumed.
 */
export async function save(remote: Remote, saving: Saving, tools: SavingTools, watcher: Watcher): Promise<Saved> {
  const attempt = () => saveOnce(remote, saving, tools, watcher);
  // What was removed while it came is downloaded again, or exists by now.
  const saved = (await attempt()) ?? (await attempt());
  if (saved) return saved;
  throw new FilingsError('local_io', `${saving.where.directory}: the part of ${saving.final} was removed, twice`, {
    hint: 'something else writes to that directory: see what removes files there',
  });
}

/** Undefined when the part or its directory was taken away meanwhile. */
async function saveOnce(
  remote: Remote,
  saving: Saving,
  { places, listedSizes }: SavingTools,
  watcher: Watcher,
): Promise<Saved | undefined> {
  const { final, signal } = saving;
  const place = await places.at(saving.where);
  const { directory, leftovers } = place;
  const present = await presentAt(directory, final, saving.ifExists);
  const doubtful = present.kind === 'keep' && !isAsListed(saving, present.stats.size, listedSizes);
  const ifExists = doubtful ? 'compare' : saving.ifExists;
  const target: PartTarget = { ...saving, ...place, ifExists };
  if (present.kind !== 'write') {
    const sha256 = await proofOf(target);
    if (ifExists === 'skip' || sha256 !== undefined) {
      await leftovers.sweep(final);
      return skip(target, present.stats, sha256);
    }
  }
  const fetched = await fetchInto(remote, await PartFile.open(target), signal, watcher);
  if (fetched.placed === 'lost') {
    places.forget();
    return undefined;
  }
  await leftovers.sweep(final);
  if (!isAsListed(saving, fetched.bytes, listedSizes)) warnOfSize(saving, fetched, listedSizes, watcher);
  if (fetched.placed === 'placed') return { kind: 'fetched', ...fetched };
  const { stats } = await presentAt(directory, final, ifExists);
  return { ...fetched, ...(await skip(target, stats, fetched.sha256)) };
}

/** The hash of what exists, where it must have one. Throws `integrity` when it is another one. */
function proofOf({ directory, final, proof, signal }: PartTarget): Promise<string | undefined> {
  const path = directory.entry(final);
  return proof.expects ? proof.require(() => sha256OfFile(path, path, signal), path) : Promise.resolve(undefined);
}

/** Leaves the file that exists. Whoever put it there may have been killed before its name was flushed. */
async function skip({ directory }: PartTarget, stats: Stats | undefined, sha256: string | undefined): Promise<Saved> {
  await directory.settle(stats?.ctimeMs ?? Number.POSITIVE_INFINITY);
  return { kind: 'skipped', bytes: stats?.size ?? 0, sha256 };
}

function isAsListed({ listedSize }: Saving, bytes: number, { ignored }: ListedSizes): boolean {
  return listedSize === undefined || ignored || listedSize === bytes;
}

/** What existed and was fetched again for its size, and is the same, says that listed sizes mean something else. */
function warnOfSize({ final, listedSize }: Saving, fetched: Fetched, listed: ListedSizes, watcher: Watcher): void {
  const why = `${final}: the listing says ${listedSize} bytes, the file has ${fetched.bytes}`;
  const isWrong = fetched.placed === 'taken';
  watcher.warn?.(isWrong ? `${why}, as the one that exists: sizes in listings are ignored from now on` : why);
  listed.ignored = isWrong;
}
