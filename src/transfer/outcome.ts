import { type FilingsError, messageOf, withoutResource } from '../errors.ts';
import type { RetryEvent } from '../http/retry.ts';
import type { AccessionNumber } from '../service/accession.ts';

// The outcome of one file, as data for messages, counts and the report.

/** A file of the service. */
export interface RemoteFile {
  readonly accession: AccessionNumber;
  readonly fileName: string;
}

/** The result of one file, from which its report line is made. */
export interface Outcome {
  readonly result: 'downloaded' | 'resumed' | 'skipped' | 'planned' | 'failed' | 'unfinished';
  /** The path as the user would write it; null for a stream. */
  readonly path: string | null;
  /** The size of the whole file; 0 after a failure. */
  readonly bytes: number;
  /** The number of bytes, of this run or an earlier one, that existed before the last request. */
  readonly resumedBytes: number;
  readonly sha256?: string | undefined;
  readonly etag?: string | undefined;
  /** False if the body ended with the connection, and neither a header nor a range gave the length. */
  readonly verifiedLength: boolean;
  /** The number of requests. */
  readonly attempts: number;
  /** The duration in milliseconds. */
  readonly ms: number;
  /** Whether a skipped file was compared with the service's: it has the same bytes. */
  readonly isSame?: boolean;
  readonly error?: FilingsError | undefined;
}

/** Returns the outcome of a file that needed no request. No spread, because there may be a million of them. */
export function outcomeWithoutRequest(
  result: Outcome['result'],
  path: string | null,
  bytes: number,
  error?: FilingsError,
): Outcome {
  return { result, path, bytes, resumedBytes: 0, verifiedLength: result === 'skipped', attempts: 0, ms: 0, error };
}

/** Returns the words about the wait before a retry. */
export function retryWait({ error, waitMs, isServiceWait, retry, retries }: RetryEvent): string {
  const message = messageOf(withoutResource(error));
  const asked = isServiceWait ? ' (the service asks to wait)' : '';
  return `${message}${asked}; retry ${retry} of ${retries} in ${Math.max(1, Math.ceil(waitMs / 1000))} s`;
}
