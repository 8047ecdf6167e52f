// All that a run counts, and the limits on it: `--max-bytes`, `--max-requests` and `--stop-after`.
import { FilingsError } from '../errors.ts';
import type { Meter } from '../service/client.ts';
import { exactDuration, grouped, humanBytes } from '../text.ts';
import type { Outcome } from '../transfer/outcome.ts';
import { isTemporary, type NotStarted } from './verdict.ts';

/** `stopAfter` is in milliseconds. */
type LimitOptions = { readonly [Name in 'maxBytes' | 'maxRequests' | 'stopAfter']?: number | undefined };

export class Counts implements Meter {
  requests = 0;
  retries = 0;
  receivedBytes = 0;

  /** Found so far, without duplicates. Here and below, a failed listing and an invalid line are one file each. */
  files = 0;
  /** Of these files: the sum of the listed sizes, and the number of files without one. */
  listedBytes = 0;
  unsized = 0;
  /** Filings whose listings this run needs, and those of which all files have ended. */
  filings = 0;
  endedFilings = 0;
  /** Filings whose listings have not been read. */
  pendingListings = 0;
  hasInputEnded = false;
  /** Filings that were skipped because they are in the done list. */
  doneFilings = 0;
  /** Filings of which no file was selected. */
  unmatched = 0;

  readonly byResult = { downloaded: 0, resumed: 0, skipped: 0, planned: 0, failed: 0, unfinished: 0 };
  /** In a dry run, the listed sizes of the planned files. */
  fileBytes = 0;
  /** Listed sizes of all ended files, or real ones where none is listed, to compare with `listedBytes`. */
  endedBytes = 0;
  keptBytes = 0;
  /** The latest time before which the service does not want to be asked again, in milliseconds since the epoch. */
  retryAt: number | undefined;
  /** Failures that would come again in the next run. */
  permanent = 0;

  readonly #limits: LimitOptions;
  readonly #monotonic: () => number;
  readonly #startedAt: number;

  constructor(limits: LimitOptions, monotonic: () => number) {
    this.#limits = limits;
    this.#monotonic = monotonic;
    this.#startedAt = monotonic();
  }

  /** Counts a file that the run has found, or with -1, one that turns out to be a duplicate. */
  addFile(size: number | undefined, change: 1 | -1 = 1): void {
    this.files += change;
    if (size === undefined) this.unsized += change;
    else this.listedBytes += change * size;
  }

  addOutcome({ result, bytes, error, keptBytes }: Outcome, size: number | undefined): void {
    this.byResult[result] += 1;
    // A failed or unfinished file has 0 bytes.
    if (result !== 'skipped') this.fileBytes += bytes;
    this.endedBytes += size ?? bytes;
    this.keptBytes += keptBytes;
    if (result !== 'failed' || error === undefined) return;
    if (!isTemporary(error)) this.permanent += 1;
    if (error.retryAt !== undefined) this.retryAt = Math.max(this.retryAt ?? 0, error.retryAt);
  }

  get ended(): number {
    return Object.values(this.byResult).reduce((sum, count) => sum + count, 0);
  }

  /** Undefined if the input was not read to its end. */
  get notStarted(): NotStarted | undefined {
    return this.hasInputEnded ? { files: this.files - this.ended, filings: this.pendingListings } : undefined;
  }

  get elapsedMs(): number {
    return this.#monotonic() - this.#startedAt;
  }

  /** The error for a limit that is reached. Undefined as long as downloads may start and listings may be requested. */
  get limitError(): FilingsError | undefined {
    const { maxBytes = Infinity, maxRequests = Infinity, stopAfter = Infinity } = this.#limits;
    if (this.requests >= maxRequests) return toLimitError(`request limit (${grouped(maxRequests)})`);
    if (this.receivedBytes >= maxBytes) return toLimitError(`download limit (${humanBytes(maxBytes)})`);
    // The clock is read only if there is a time limit.
    const isLate = stopAfter !== Infinity && this.elapsedMs >= stopAfter;
    return isLate ? toLimitError(`time limit (${exactDuration(stopAfter)})`) : undefined;
  }

  /** In how many milliseconds `--stop-after` will have been reached. Undefined without that limit. */
  get msToLimit(): number | undefined {
    const { stopAfter } = this.#limits;
    return stopAfter === undefined ? undefined : Math.ceil(stopAfter - this.elapsedMs) + 1;
  }
}

function toLimitError(limit: string): FilingsError {
  return new FilingsError('limit', `${limit} reached`, { stopsRun: true });
}
