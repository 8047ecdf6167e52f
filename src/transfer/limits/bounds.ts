import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FilingsError } from '../../errors.ts';
import type { Watcher } from '../transfer.ts';
import type { Allowance } from './allowance.ts';
import { requireFree } from './free-space.ts';
import type { Throttle } from './throttle.ts';

/** The limits of one's own that every file of a run is fetched within. */
export interface Bounds {
  readonly allowance: Allowance;
  readonly throttle: Throttle | undefined;
  /** Bytes that stay free on the disk. */
  readonly minFree: number | undefined;
}

/** A file that is about to be fetched. */
export interface Due {
  /** Bytes, where its listing says so. */
  readonly size: number | undefined;
  /** Where it goes; undefined for what is written to no disk. */
  readonly path: string | undefined;
}

/** What keeps a file from being begun, if anything does: `limit`, or `local_io` for a disk with too little free. */
export async function keptFrom({ size, path }: Due, { allowance, minFree }: Bounds): Promise<FilingsError | undefined> {
  const limit = allowance.reached(size);
  if (limit) return limit;
  try {
    await requireRoom(path, minFree, size ?? 0);
    return undefined;
  } catch (error) {
    if (error instanceof FilingsError) return error;
    throw error;
  }
}

/** A watcher that counts a file's bytes against the limits, and holds them back where the bandwidth is limited. */
export function boundWatcher(
  { size, path }: Due,
  { allowance, throttle, minFree }: Bounds,
  shown: Watcher,
  signal: AbortSignal,
): Watcher & { release(): void } {
  const share = allowance.share(size);
  let unasked: number | undefined;
  return {
    total(bytes, offset) {
      share.expect(bytes === undefined ? undefined : bytes - offset);
      // A size that the listing did not tell is asked of the disk once it is known.
      if (size === undefined && bytes !== undefined) unasked = bytes - offset;
      shown.total(bytes, offset);
    },
    async moved(bytes) {
      share.came(bytes);
      if (unasked !== undefined) await requireRoom(path, minFree, unasked);
      unasked = undefined;
      await shown.moved(bytes);
      await throttle?.moved(bytes, signal);
    },
    setback: (setback) => shown.setback(setback),
    arrived: () => shown.arrived?.(),
    kept: (bytes) => shown.kept(bytes),
    release: () => share.release(),
  };
}

/** Throws `local_io`. */
async function requireRoom(path: string | undefined, minFree: number | undefined, bytes: number): Promise<void> {
  if (minFree === undefined || path === undefined) return;
  await requireFree(await standingDirectory(dirname(path)), minFree, bytes);
}

/** The first directory on the way up that is there: a missing one will be made on the same disk. */
async function standingDirectory(path: string): Promise<string> {
  const there = await lstat(path).then(
    () => true,
    () => false,
  );
  return there || dirname(path) === path ? path : standingDirectory(dirname(path));
}
