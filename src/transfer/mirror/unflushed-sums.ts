import type { ChecksumFiles } from '../checksums/checksum-files.ts';
import type { Places, Where } from '../places.ts';

/** So many directories are remembered at most. */
const MOST_DIRECTORIES = 256;

interface Unflushed {
  readonly where: Where;
  /** Whether this run has appended; what others have, may be on disk. */
  readonly ours: boolean;
}

/**
 * The directories whose checksum files may hold lines that are not on disk: those are flushed before a filing is in the
 * done list, since a run that passes over the filing would never list its files again. Once for all of its files.
 */
export class UnflushedSums {
  readonly #sums: ChecksumFiles;
  readonly #places: Places;
  readonly #directories = new Map<string, Unflushed>();
  #before: Promise<unknown> = Promise.resolve();
  /** A flush that failed is never tried again: the system tells of what is lost once. */
  #failure: { readonly error: unknown } | undefined;

  constructor(sums: ChecksumFiles, places: Places) {
    this.#sums = sums;
    this.#places = places;
  }

  /** A file of a directory is listed by now; `ours`: by this run. Never throws: what a flush of so many fails with, the next one throws. */
  async note(where: Where, ours: boolean): Promise<void> {
    const key = `${where.directory}\0${where.below}`;
    this.#directories.set(key, { where, ours: ours || this.#directories.get(key)?.ours === true });
    if (this.#directories.size >= MOST_DIRECTORIES) await this.flush().catch(() => {});
  }

  /** Until all lines that were noted are on disk. Throws `local_io`. */
  flush(): Promise<void> {
    // One after the other: what one has begun with, the next must see at its end.
    const flushing = this.#before.then(() => this.#flushAll());
    this.#before = flushing.catch(() => {});
    return flushing;
  }

  async #flushAll(): Promise<void> {
    if (this.#failure) throw this.#failure.error;
    for (const [key, { where, ours }] of [...this.#directories]) {
      // What is noted meanwhile is for the next time.
      this.#directories.delete(key);
      try {
        await this.#places.use(where, async ({ directory }) => {
          if (await this.#sums.flush(directory, ours)) await directory.sync();
        });
      } catch (error) {
        this.#failure = { error };
        throw error;
      }
    }
  }
}
