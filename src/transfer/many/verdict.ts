import { FilingsError } from '../../errors.ts';
import { counted } from '../../text.ts';
import type { Things } from './stop-rule.ts';

/** How a batch went. */
export interface BatchResult {
  /** How many files (or filings) were tried to their end. */
  readonly files: number;
  readonly failed: number;
  /** Every failure was temporary. */
  readonly onlyTemporary: boolean;
  readonly stoppedBy: FilingsError | undefined;
  /** By a signal or the deadline, not by a file's error. */
  readonly fromOutside: boolean;
  /** How many were not tried, or broken off; undefined when nobody knows: the input was not read to its end. */
  readonly undone: number | undefined;
}

/** Only files that are there are skipped; a listing is asked for again. */
const HINTS: Readonly<Record<Things, { readonly temporary: string; readonly partial: string }>> = {
  files: {
    temporary: 'running it again later is enough: what is there is skipped',
    partial: 'see the errors above; running it again skips what is there',
  },
  filings: { temporary: 'running it again later is enough', partial: 'see the errors above' },
};

/**
 * The error a batch ends with, or undefined (interface page, "A batch of several
 * files"): a signal, the deadline and what stopped it win, unless a file's
 * error that stopped it was temporary and another file failed for good.
 */
export function batchError(
  { files, failed, onlyTemporary, stoppedBy, fromOutside, undone }: BatchResult,
  things: Things = 'files',
): FilingsError | undefined {
  // A limit of one's own is the weakest reason.
  const isWeak = stoppedBy?.code === 'limit' && failed > 0;
  if (stoppedBy && !isWeak && (fromOutside || stoppedBy.code !== 'temporary' || onlyTemporary)) {
    return leftUndone(stoppedBy, undone, things);
  }
  if (failed === 0 && !stoppedBy) return undefined;
  const stopped = stoppedBy ? `; then ${stoppedBy.message}; ${undone ?? 'the rest'} left undone` : '';
  const code = onlyTemporary ? 'temporary' : 'partial';
  return new FilingsError(code, `${failed} of ${files} ${things} failed${stopped}`, { hint: HINTS[things][code] });
}

function leftUndone(error: FilingsError, undone: number | undefined, things: Things): FilingsError {
  if (undone === 0 || error.code === 'interrupted') return error;
  const rest = undone === undefined ? 'the rest' : counted(undone, things === 'files' ? 'file' : 'filing');
  return error.reworded(`${error.message}; ${rest} left undone`);
}
