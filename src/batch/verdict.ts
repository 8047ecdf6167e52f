// Decides when a run over several files or filings stops early, and with which error it ends. `download` and `list`
// share these rules.
import { type ErrorCode, FilingsError } from '../errors.ts';
import { counted } from '../text.ts';

/** After this many failures in a row to connect, the service is treated as unreachable. */
const MAX_UNREACHABLE = 10;
/**
 * A 403 may be about one file, so a run continues after it. This many in a row are about the key or about the rate of
 * requests: some services send 403 for "slow down" (docs/service.md, section 8).
 */
const MAX_FORBIDDEN = 20;
/** After this many directories in a row in which nothing could be written, the disk is treated as unusable. */
const MAX_UNWRITABLE = 10;

/** What a run consists of, as a noun for messages. */
type Unit = 'file' | 'filing';

/** Stops a run when all other files or filings would fail in the same way. */
export function createStopRule(unit: Unit) {
  const unwritable = new Set<string>();
  let [unreachable, forbidden] = [0, 0];

  /** Call this when a file has arrived, not when it is written: files that were requested later may end first. */
  const recordArrival = () => {
    unreachable = 0;
    forbidden = 0;
  };

  /** An existing file shows nothing about the service. */
  const recordSkip = () => unwritable.clear();

  /** `error` is undefined for a success. Returns the error that stops the run, if any. */
  const record = (error: FilingsError | undefined): FilingsError | undefined => {
    // Any other end, even another failure, begins a count again. But a failed write shows nothing about the service.
    if (error?.code !== 'local_io') {
      unreachable = error?.isUnreachable ? unreachable + 1 : 0;
      // A host behind a redirect never stops the run at once, by a refusal or a long wait, as the service does.
      const wasRefusedElsewhere = error?.isOtherOrigin && (error.code === 'auth' || error.serviceWaitMs !== undefined);
      forbidden = error?.problem?.status === 403 || wasRefusedElsewhere ? forbidden + 1 : 0;
    }
    // A file that the service does not have shows nothing about the disk.
    if (error === undefined) unwritable.clear();
    if (error?.failedDirectory !== undefined) unwritable.add(error.failedDirectory);
    if (error === undefined || error.stopsRun) return error;
    const stop = (code: ErrorCode, message: string, hint: string) =>
      new FilingsError(code, `${message} in a row`, { cause: error, stopsRun: true, hint });
    const { hint, isOtherOrigin } = error;
    if (unwritable.size >= MAX_UNWRITABLE) {
      const message = `nothing could be written in ${MAX_UNWRITABLE} directories`;
      return stop('local_io', message, hint ?? 'check the disk and its permissions');
    }
    if (forbidden >= MAX_FORBIDDEN && isOtherOrigin) {
      const message = `the host behind a redirect refused ${MAX_FORBIDDEN} ${unit}s`;
      return stop(error.code, message, hint ?? 'check the base URL');
    }
    if (forbidden >= MAX_FORBIDDEN) {
      const wait =
        'some services send 403 when requests come too fast: wait, then run it again with --rate 1/s; if that fails, check the key';
      return stop('auth', `403 for ${MAX_FORBIDDEN} ${unit}s`, wait);
    }
    if (unreachable < MAX_UNREACHABLE) return undefined;
    const host = isOtherOrigin ? 'the host behind a redirect' : 'the service';
    return stop(
      'temporary',
      `could not connect to ${host} for ${MAX_UNREACHABLE} ${unit}s`,
      hint ?? 'run it again later',
    );
  };

  return { recordArrival, recordSkip, record };
}

export interface NotStarted {
  readonly files: number;
  /** Filings whose listings were not read. */
  readonly filings: number;
}

export interface BatchEnd {
  /** Undefined if the batch came to the end of its input. */
  readonly stoppedBy: FilingsError | undefined;
  /** Undefined if the input was not read to its end. */
  readonly notStarted: NotStarted | undefined;
}

/** Returns `2 files and 1 filing not started`, or undefined if nothing is left. */
export function describeNotStarted(notStarted: NotStarted | undefined): string | undefined {
  if (!notStarted) return 'the rest not started';
  const { files, filings } = notStarted;
  const parts = [files > 0 && counted(files, 'file'), filings > 0 && counted(filings, 'filing')].filter(Boolean);
  return parts.length === 0 ? undefined : `${parts.join(' and ')} not started`;
}

export interface BatchResult extends BatchEnd {
  /** Files or filings that have ended, whether or not they failed. */
  readonly ended: number;
  readonly failed: number;
  /** Failures that would come again in the next run. */
  readonly permanent: number;
}

/** Whether running the command again later may be enough. A truncated body is a retryable `integrity`. */
export function isTemporary({ code, retryable }: FilingsError): boolean {
  return code === 'temporary' || (code === 'integrity' && retryable === true);
}

/**
 * Returns the error that a batch ends with. If there are several reasons, it is the first of these:
 *
 * 1. a signal
 * 2. another error that stopped the batch, such as the deadline, but not a limit
 * 3. the number of failed files
 * 4. a limit, such as `--max-bytes`
 *
 * The remaining reasons become its remarks. Only the error of a signal gets none.
 */
export function batchError(result: BatchResult, unit: Unit = 'file'): FilingsError | undefined {
  const { ended, failed, permanent, stoppedBy, notStarted } = result;
  if (stoppedBy?.code === 'interrupted') return stoppedBy;
  const failures = failed > 0 ? `${failed} of ${ended} ${unit}s failed` : undefined;
  const leftOver = describeNotStarted(notStarted);
  if (stoppedBy && (stoppedBy.code !== 'limit' || !failures)) {
    // `failed` includes the file whose error stopped the batch, and that error needs no remark. No file is to blame for
    // the deadline, so all failed files are others.
    const hasOtherFailures = failed > (stoppedBy.isInterruption ? 0 : 1);
    return stoppedBy.with({
      remarks: [hasOtherFailures ? failures : undefined, leftOver].filter((remark) => remark !== undefined),
    });
  }
  if (!failures) return undefined;
  const stopped = stoppedBy ? [stoppedBy.reason, leftOver] : [];
  return new FilingsError(permanent === 0 ? 'temporary' : 'partial', failures, {
    remarks: stopped.filter((remark) => remark !== undefined),
  });
}
