import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { diskFailure } from '../failure.ts';
import { flushEntries } from './make-directories.ts';

/** Every file system has long written what was changed before that. Milliseconds. */
export const WRITTEN_AFTER_MS = 600_000;

/** What it takes to know whether the entries of a directory are on disk. */
export interface SettledOptions {
  readonly stat: () => Promise<Stats>;
  readonly flush: () => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Entries that others have made: a run that was killed between giving a name and flushing it, or one that is just there.
 * They are flushed once, and only those that are young, so that passing over a million files costs next to nothing.
 */
export class Settled {
  readonly #options: SettledOptions;
  /** What was changed before this, by the file system's clock, is on disk. */
  #before = 0;

  constructor(options: SettledOptions) {
    this.#options = options;
  }

  /** Until an entry that was seen is on disk; `changed` is the ctime of what it leads to, which its name is not younger than. */
  async wait(changed: number): Promise<void> {
    if (changed < this.#before) return;
    const { stat, flush, now } = this.#options;
    const { mtimeMs } = await stat();
    if (now() - mtimeMs < WRITTEN_AFTER_MS) await flush();
    this.#before = Math.max(this.#before, mtimeMs);
  }
}

/**
 * Until the entry of a directory is on disk that a killed run may have made: the one above it is flushed if it is young.
 * What may not be read is not ours to flush. Throws `local_io`.
 */
export async function settleDirectory(absolute: string, now: () => number): Promise<void> {
  const above = await open(dirname(absolute), constants.O_RDONLY | constants.O_DIRECTORY).catch(() => undefined);
  if (!above) return;
  try {
    await new Settled({ stat: () => above.stat(), flush: () => flushEntries(above), now }).wait(
      Number.POSITIVE_INFINITY,
    );
  } catch (error) {
    throw diskFailure(error, absolute);
  } finally {
    await above.close();
  }
}
