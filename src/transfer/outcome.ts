import { type FilingsError, withoutResource } from '../errors.ts';
import type { RetryEvent } from '../http/retry.ts';
import type { AccessionNumber } from '../service/accession.ts';
import type { Wait } from '../terminal/lines.ts';

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
  readonly error?: FilingsError | undefined;
}

/** Returns the wait before a retry, for the progress display. */
export function retryWait({ error, waitMs, isServiceWait, retry, retries }: RetryEvent): Wait {
  const next = (ms: number) => `retry ${retry} of ${retries} in ${Math.max(1, Math.ceil(ms / 1000))} s`;
  const { message } = withoutResource(error);
  return { reason: `${message}${isServiceWait ? ' (the service asks to wait)' : ''}`, ms: waitMs, next };
}
