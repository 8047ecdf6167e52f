import { createAbortController, type Sleep } from '../../abort.ts';
import type { Disk } from '../../disk/calls.ts';
import { isWriteFailure } from '../../disk/failure.ts';
import type { OutputFile } from '../../disk/output-file.ts';

/**
 * Limits the flush of a part that a later run can resume, because a signal or the deadline may end the run.
 * Milliseconds.
 */
export const MAX_FLUSH_MS = 2000;

/** A part that a later run can resume. */
interface KeptPart {
  readonly bytes: number;
  readonly disk: Disk;
  /** The paths of the record and of the part. They are removed in this order, so that no part keeps its record. */
  readonly paths: readonly string[];
}

/**
 * The parts that a run leaves for later runs. Each part is flushed first. After a failed write or flush of any file the
 * run leaves no part: one cause makes the disk lose bytes of several files, and the kernel reports each loss only once,
 * so a later run's flush of such a part would succeed.
 */
export class KeptParts {
  readonly #sleep: Sleep;
  #hasFailed = false;
  readonly #parts: KeptPart[] = [];

  constructor(sleep: Sleep) {
    this.#sleep = sleep;
  }

  /** Records an error of the run. Errors other than failed writes and flushes are ignored. */
  readonly noteFailure = (error: unknown): void => {
    this.#hasFailed ||= isWriteFailure(error);
  };

  /** Flushes a part. Returns whether a later run may resume the part. Never throws. */
  async tryFlush(file: OutputFile): Promise<boolean> {
    if (this.#hasFailed) return false;
    const flushed = createAbortController();
    const timeout = this.#sleep(MAX_FLUSH_MS, flushed.signal).then(() => false);
    const flushing = file.flush().then(() => true);
    return Promise.race([flushing, timeout])
      .catch(() => false)
      .finally(() => flushed.abort());
  }

  /** Counts a part that the run leaves, so that `settle` can remove it. */
  add(part: KeptPart): void {
    this.#parts.push(part);
  }

  /** Removes the parts if a write failed. Returns how many bytes the run leaves for later runs. Never throws. */
  async settle(): Promise<number> {
    if (this.#hasFailed) {
      for (const { disk, paths } of this.#parts.splice(0)) {
        for (const path of paths) await disk.remove(path).catch(() => {});
      }
    }
    return this.#parts.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}
