import type { FilingsError } from '../errors.ts';
import type { AccessionNumber } from '../service/accession.ts';

/** One file that was asked for. */
export interface Wanted {
  readonly accession: AccessionNumber;
  readonly fileName: string;
}

/** What became of it. */
export interface Outcome {
  readonly wanted: Wanted;
  readonly result: 'downloaded' | 'resumed' | 'skipped' | 'planned' | 'failed' | 'unfinished';
  /** Where it stands, as the user would name it; null when it went to no file. */
  readonly path: string | null;
  /** The whole file's size; for a failure, 0. */
  readonly bytes: number;
  /** Bytes that did not have to be moved again after a break, in this run or from an earlier one. */
  readonly saved: number;
  /** Bytes moved in this run. */
  readonly moved: number;
  readonly sha256?: string | undefined;
  readonly etag?: string | undefined;
  readonly verifiedLength: boolean;
  readonly attempts: number;
  /** Milliseconds. */
  readonly ms: number;
  readonly error?: FilingsError | undefined;
}
