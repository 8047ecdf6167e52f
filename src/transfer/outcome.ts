// The outcome of one file of a run, as data from which messages, counts and report lines are made. Also the message
// that is shown during the wait before a retry.
import { type FilingsError, messageOf, withoutResource } from '../errors.ts';
import type { RetryEvent } from '../http/retry.ts';
import type { AccessionNumber } from '../service/accession.ts';

/** A file of the service. */
export interface RemoteFile {
  readonly accession: AccessionNumber;
  readonly fileName: string;
}

/** How one file ended. */
export interface Outcome {
  /** `planned`: in a dry run. `unfinished`: cancelled because the run stopped, or not started because of a limit. */
  readonly result: 'downloaded' | 'resumed' | 'skipped' | 'planned' | 'failed' | 'unfinished';
  /** The path as the user would write it, or null for a stream. */
  readonly path: string | null;
  /** The size of the whole file. For `planned`, the size that the service lists, or 0 if none. 0 after a failure. */
  readonly bytes: number;
  /** How many of these bytes had arrived before the last request, in this run or an earlier one. */
  readonly resumedBytes: number;
  readonly sha256?: string | undefined;
  readonly etag?: string | undefined;
  /**
   * False if the body ended with the connection, and neither a header nor a range gave the length. Also false for a
   * file that is `failed`, `planned` or `unfinished`. True for a `skipped` file, because its length is not in doubt.
   * But if it was compared with a fetched body (`isSame`), the value is about that body.
   */
  readonly verifiedLength: boolean;
  /** The number of requests for the file. One attempt of a transfer may make two (`requestCount` in job.ts). */
  readonly attempts: number;
  /** The duration in milliseconds. */
  readonly ms: number;
  /**
   * True for a `skipped` file that was compared with the fetched bytes and has the same ones. Otherwise undefined: if
   * they differ, the file has `failed`.
   */
  readonly isSame?: boolean;
  readonly error?: FilingsError | undefined;
}

/** Returns the outcome of a file that needed no request. Uses no spread, which is slow for a million such files. */
export function outcomeWithoutRequest(
  result: Outcome['result'],
  path: string | null,
  bytes: number,
  error?: FilingsError,
): Outcome {
  return { result, path, bytes, resumedBytes: 0, verifiedLength: result === 'skipped', attempts: 0, ms: 0, error };
}

/** Returns a sentence about the wait before a retry. It omits the file, because it is shown next to the file's name. */
export function describeRetry({ error, waitMs, isServiceWait, retry, maxRetries }: RetryEvent): string {
  const message = messageOf(withoutResource(error));
  const serviceNote = isServiceWait ? ' (the service asks to wait)' : '';
  return `${message}${serviceNote}; retry ${retry} of ${maxRetries} in ${Math.max(1, Math.ceil(waitMs / 1000))} s`;
}
