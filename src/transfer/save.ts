import type { Stats } from 'node:fs';
import { sha256OfFile } from '../disk/hash/sha256.ts';
import { FilingsError } from '../errors.ts';
import { type IfExists, presentAt } from './present.ts';
import { DiskFile, type Purpose } from './sinks/disk-file.ts';
import { shownPath } from './sinks/part/part-place.ts';
import { type Fetched, fetchInto, type Remote, type Watcher } from './transfer.ts';

/** One file to be put under one name of one directory. */
export interface Saving extends Purpose {
  readonly ifExists: IfExists;
}

/** What stands under the name in the end: a file that was there, or the one that was fetched. */
export type Standing =
  | { readonly kind: 'skipped'; readonly bytes: number; readonly sha256: string | undefined }
  | ({ readonly kind: 'fetched' } & Fetched);

/**
 * Brings a file to disk, whole or not at all: into a part, flushed, renamed, the
 * directory flushed. Throws what ended it; the part then stays only if it can be resumed.
 */
export async function save(remote: Remote, saving: Saving, watcher: Watcher): Promise<Standing> {
  const attempt = () => saveOnce(remote, saving, watcher);
  // Another machine takes the part of a run that slept for long; what was lost so is fetched anew, or stands by now.
  const standing = (await attempt()) ?? (await attempt());
  if (standing) return standing;
  throw new FilingsError('local_io', `${shownPath(saving.place)}: its part was removed, twice`, {
    hint: 'something else writes to that directory: see what removes files there',
  });
}

/** Undefined when the part was taken away meanwhile. */
async function saveOnce(remote: Remote, saving: Saving, watcher: Watcher): Promise<Standing | undefined> {
  const { place, ifExists, signal } = saving;
  const present = await presentAt(place, ifExists);
  if (present.kind === 'file-to-keep') {
    await place.leftovers.sweepBeside(place.final, present.stat);
    return skip(saving, present.stat);
  }
  const exclusive = present.kind === 'nothing' && ifExists !== 'overwrite';
  const sink = await DiskFile.open(saving, { exclusive, replaced: present.stat });
  const fetched = await fetchInto(remote, sink, signal, watcher);
  if (fetched.placed === 'lost') return undefined;
  await place.leftovers.sweep(place.final);
  if (fetched.placed === 'placed') return { kind: 'fetched', ...fetched };
  // Another run has put it there meanwhile.
  const { stat } = await presentAt(place, ifExists);
  return skip(saving, stat);
}

/**
 * Leaves the file that is there; it must be the right one where that can be told, and is not read for anything else.
 * Whoever put it there may have been killed before its name was flushed.
 */
async function skip({ place, proof, signal }: Saving, stat: Stats | undefined): Promise<Standing> {
  const shown = () => shownPath(place);
  const hash = () => sha256OfFile(place.directory.entry(place.final), shown(), signal);
  const sha256 = proof.expects ? await proof.require(hash, shown()) : undefined;
  await place.directory.settle(stat?.ctimeMs ?? Number.POSITIVE_INFINITY);
  return { kind: 'skipped', bytes: stat?.size ?? 0, sha256 };
}
