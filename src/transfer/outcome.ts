import { type FilingsError, withoutResource } from '../errors.ts';
import type { RetryEvent } from '../http/retry.ts';
import type { AccessionNumber } from '../service/accession.ts';
import type { Wait } from '../terminal/lines.ts';

export interface Wanted {
  readonly accession: AccessionNumber;
  readonly fileName: string;
}

export interface Outcome {
  readonly result: 'downloaded' | 'resumed' | 'skipped' | 'planned' | 'failed' | 'unfinished';
  /** As the user would name it; null for a stream. */
  readonly path: string | null;
  /** The whole file's size; for a failure, 0. */
  readonly bytes: number;
  /** Bytes, of this run or an earlier one, that were there when the last request was made. */
  readonly resumedBytes: number;
  readonly sha256?: string | undefined;
  readonly etag?: string | undefined;
  /** False when only the connection's end ended the body, and nothing told the file's length. */
  readonly verifiedLength: boolean;
  readonly attempts: number;
  /** Milliseconds. */
  readonly ms: number;
  readonly error?: FilingsError | undefined;
}

export function retryWait({ error, waitMs, asked, retry, retries }: RetryEvent): Wait {
  const next = (ms: number) => `retry ${retry} of ${retries} in ${Math.max(1, Math.ceil(ms / 1000))} s`;
  const { message } = withoutResource(error);
  return { reason: `${message}${asked ? ' (the service asks to wait)' : ''}`, ms: waitMs, next };
}
