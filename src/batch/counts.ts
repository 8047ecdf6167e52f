import type { ErrorCode, FilingsError } from '../errors.ts';
import type { Outcome } from '../transfer/outcome.ts';

/** The counts of a run. */
export class Counts {
  readonly files = { downloaded: 0, resumed: 0, skipped: 0, planned: 0, failed: 0, unfinished: 0 };
  /** Filings that the done list had. */
  done = 0;
  /** Filings of whose listing nothing was chosen. */
  unmatched = 0;
  retries = 0;
  /** Bytes of the files that would be downloaded, as far as listings say. */
  plannedBytes = 0;
  /** Bytes of the files that were downloaded or resumed. */
  bytes = 0;
  /** Bytes of unfinished and failed files, from which another run can resume. */
  resumableBytes = 0;
  /** When the service asked to come back, the latest; milliseconds since the epoch. */
  retryAt: number | undefined;
  readonly #failures = new Map<ErrorCode, number>();

  add(outcome: Outcome): void {
    this.files[outcome.result] += 1;
    if (outcome.result === 'downloaded' || outcome.result === 'resumed') this.bytes += outcome.bytes;
    if (outcome.result === 'planned') this.plannedBytes += outcome.bytes;
    if (outcome.result === 'failed' && outcome.error) this.#note(outcome.error);
  }

  /** A failure that is of no file: a line of the input, a listing. */
  fail(error: FilingsError): void {
    this.files.failed += 1;
    this.#note(error);
  }

  /** Something is tried again. */
  retry(): void {
    this.retries += 1;
  }

  get total(): number {
    return Object.values(this.files).reduce((sum, count) => sum + count, 0);
  }

  /** Failures by their codes, the most frequent first. */
  get failures(): readonly (readonly [code: ErrorCode, count: number])[] {
    return [...this.#failures].sort(([, a], [, b]) => b - a);
  }

  /** Whether running it again later may mend every failure there was. */
  get onlyTemporary(): boolean {
    return [...this.#failures.keys()].every((code) => code === 'temporary');
  }

  #note({ code, retryAt }: FilingsError): void {
    this.#failures.set(code, (this.#failures.get(code) ?? 0) + 1);
    if (retryAt !== undefined) this.retryAt = Math.max(this.retryAt ?? 0, retryAt);
  }
}
