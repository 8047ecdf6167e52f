// Decides when a run over several files or filings stops early, and with which error it ends. All are pure functions of
// the errors seen so far, except the counts in a row.
import { FilingsError } from '../errors.ts';
import { counted } from '../text.ts';

/** After so many failed connections in a row, the service is not reachable. */
const MAX_UNREACHABLE = 10;
/** After so many responses with 403 in a row, the reason is not a single file. */
const MAX_FORBIDDEN = 20;

/** The noun for messages. */
type Unit = 'file' | 'filing';

/** Stops a run over several files or filings once the next ones would fail, too. */
export class StopRule {
  readonly #unit: Unit;
  #unreachable = 0;
  #forbidden = 0;

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  /** Counts the end of the next file or filing. Returns the error that stops the run, or undefined. */
  check(error: FilingsError | undefined): FilingsError | undefined {
    this.#unreachable = error?.connected === false ? this.#unreachable + 1 : 0;
    this.#forbidden = error?.problem?.status === 403 ? this.#forbidden + 1 : 0;
    if (error === undefined || error.stopsRun) return error;
    const stop = { cause: error, stopsRun: true };
    if (this.#forbidden >= MAX_FORBIDDEN) {
      const hint = 'some services mean "slow down": wait, then run again with --rate 1/s; otherwise check the key';
      return new FilingsError('auth', `403 for ${MAX_FORBIDDEN} ${this.#unit}s in a row`, { ...stop, hint });
    }
    if (this.#unreachable < MAX_UNREACHABLE) return undefined;
    const { hint = 'run it again later' } = error;
    const message = `${MAX_UNREACHABLE} ${this.#unit}s in a row could not even connect`;
    return new FilingsError('temporary', message, { ...stop, hint });
  }
}

/** Why a batch ended, and which files were not started. */
export interface BatchEnd {
  /** The error that stopped the batch before its last file. */
  readonly stoppedBy: FilingsError | undefined;
  /** Number of files or filings not started or cancelled. Undefined if the input was not read to its end. */
  readonly notStarted: number | undefined;
}

/** The end of a batch and the failures of its files or filings. */
export interface BatchResult extends BatchEnd {
  readonly files: number;
  readonly failed: number;
  /** Number of those failures that running it again would not mend. */
  readonly permanent: number;
}

/** Returns whether running it again may be enough: after a failure of the network, also in the middle of a body. */
export function isTemporary({ code, retryable }: FilingsError): boolean {
  return code === 'temporary' || (code === 'integrity' && retryable === true);
}

/**
 * Returns the error that a batch ends with, or undefined if it ended well. A signal comes first, then the error that
 * stopped the batch, then failures of files, then a limit. The remarks of the error have the rest.
 */
export function batchError(result: BatchResult, unit: Unit = 'file'): FilingsError | undefined {
  const { files, failed, permanent, stoppedBy, notStarted } = result;
  if (stoppedBy?.code === 'interrupted') return stoppedBy;
  const failures = failed > 0 ? `${failed} of ${files} ${unit}s failed` : undefined;
  const rest = notStarted === undefined ? 'the rest' : counted(notStarted, unit);
  const notStartedText = notStarted === 0 ? undefined : `${rest} not started`;
  if (stoppedBy && (stoppedBy.code !== 'limit' || !failures)) {
    // The error that stopped the batch is that of one failed file, except at the deadline. Other failed files are
    // counted.
    const before = failed > (stoppedBy.isTimeUp ? 0 : 1) ? failures : undefined;
    return stoppedBy.with({ remarks: [before, notStartedText].filter((remark) => remark !== undefined) });
  }
  if (!failures) return undefined;
  const stopped = stoppedBy ? [stoppedBy.reason, notStartedText] : [];
  return new FilingsError(permanent === 0 ? 'temporary' : 'partial', failures, {
    remarks: stopped.filter((remark) => remark !== undefined),
    hint: permanent === 0 ? 'run it again later' : 'see the errors above',
  });
}
