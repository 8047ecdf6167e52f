// How one file of a run ended, as data from which messages, counts and report lines are made.
import type { FilingsError } from '../errors.ts';

export interface Outcome {
  /** `planned`: in a dry run. `unfinished`: cancelled because the run stopped. */
  readonly result: 'downloaded' | 'resumed' | 'skipped' | 'planned' | 'failed' | 'unfinished';
  /** The `displayPath` of the target: null for a stream. */
  readonly path: string | null;
  /** The size of the whole file. For `planned`, the size that the service lists, or 0 if none. 0 after a failure. */
  readonly bytes: number;
  /** How many of these bytes had arrived before the last request, in this run or an earlier one. */
  readonly resumedBytes: number;
  readonly sha256?: string | undefined;
  readonly etag?: string | undefined;
  /**
   * False if the body ended with the connection, and neither a header nor a range gave the length, and for a file that
   * is `failed`, `planned` or `unfinished`. With `isSame`, it is about the fetched body.
   */
  readonly verifiedLength: boolean;
  /** The number of requests for the file. For a listing that failed, the tries of its last page. */
  readonly attempts: number;
  readonly ms: number;
  /** The size of the kept part that a failed or stopped download has left. */
  readonly keptBytes: number;
  /** True for a `skipped` file that was compared with the fetched bytes and has the same ones. */
  readonly isSame?: boolean | undefined;
  readonly error?: FilingsError | undefined;
}

/** How a fetch or a plan ended, as far as its code knows the members of an outcome. */
export type Ending = Partial<Outcome> & Pick<Outcome, 'result' | 'bytes'>;

/** By default, nothing was requested. A spread of defaults would take longer, and there may be a million files. */
export function makeOutcome(ending: Ending): Outcome {
  const { result, path = null, bytes, resumedBytes = 0, sha256, etag, isSame, error } = ending;
  const { verifiedLength = result === 'skipped', attempts = 0, ms = 0, keptBytes = 0 } = ending;
  return { result, path, bytes, resumedBytes, sha256, etag, verifiedLength, attempts, ms, keptBytes, isSame, error };
}
