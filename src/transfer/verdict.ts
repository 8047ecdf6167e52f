import { FilingsError } from '../errors.ts';

/** How a batch went. */
export interface BatchResult {
  readonly files: number;
  readonly failed: number;
  /** Every failure was temporary. */
  readonly onlyTemporary: boolean;
  readonly stoppedBy: FilingsError | undefined;
  /** By a signal or the deadline, not by a file's error. */
  readonly fromOutside: boolean;
  readonly undone: number;
}

/**
 * The error a batch ends with, or undefined (interface page, "A batch of several
 * files"): a signal, the deadline and what stopped it win, unless a file's
 * error that stopped it was temporary and another file failed for good.
 */
export function batchError({
  files,
  failed,
  onlyTemporary,
  stoppedBy,
  fromOutside,
  undone,
}: BatchResult): FilingsError | undefined {
  if (stoppedBy && (fromOutside || stoppedBy.code !== 'temporary' || onlyTemporary)) {
    return leftUndone(stoppedBy, undone);
  }
  if (failed === 0 && !stoppedBy) return undefined;
  const stopped = stoppedBy ? `; then ${stoppedBy.message}; ${undone} left undone` : '';
  const message = `${failed} of ${files} files failed${stopped}`;
  if (onlyTemporary) {
    return new FilingsError('temporary', message, {
      hint: 'running it again later is enough: what is there is skipped',
    });
  }
  return new FilingsError('partial', message, { hint: 'see the errors above; running it again skips what is there' });
}

function leftUndone(error: FilingsError, undone: number): FilingsError {
  if (undone === 0 || error.code === 'interrupted') return error;
  return error.reworded(`${error.message}; ${undone} files left undone`);
}
