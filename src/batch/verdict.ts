import { FilingsError } from '../errors.ts';
import { counted } from '../text.ts';
import type { Things } from './stop-rule.ts';

/** How a batch went. */
export interface BatchResult {
  /** How many files (or filings) have ended. */
  readonly files: number;
  readonly failed: number;
  /** Every failure was temporary. */
  readonly onlyTemporary: boolean;
  readonly stoppedBy: FilingsError | undefined;
  /** How many were not started; undefined when nobody knows: the input was not read to its end. */
  readonly notStarted: number | undefined;
}

/**
 * The error a batch ends with, or undefined (interface page, "A batch of several files"): a signal, then what stopped it;
 * else failures, permanent ones first; else a limit. What happened before is told, too.
 */
export function batchError(
  { files, failed, onlyTemporary, stoppedBy, notStarted }: BatchResult,
  things: Things = 'files',
): FilingsError | undefined {
  if (stoppedBy?.code === 'interrupted') return stoppedBy;
  const failures = failed > 0 ? `${failed} of ${files} ${things} failed` : undefined;
  const left = notStarted === 0 ? undefined : `${rest(notStarted, things)} not started`;
  if (stoppedBy && (stoppedBy.code !== 'limit' || !failures)) {
    // Unless it came from outside, the error that stopped it is one of the failures, and says all where it is the only one.
    const before = failed > (stoppedBy.isTimeUp ? 0 : 1) ? failures : undefined;
    return stoppedBy.reworded([stoppedBy.message, before, left].filter(Boolean).join('; '));
  }
  if (!failures) return undefined;
  const stopped = stoppedBy ? [stoppedBy.message, left] : [];
  const code = onlyTemporary ? 'temporary' : 'partial';
  const hint = onlyTemporary ? 'run it again later' : 'see the errors above';
  return new FilingsError(code, [failures, ...stopped].filter(Boolean).join('; '), { hint });
}

function rest(notStarted: number | undefined, things: Things): string {
  return notStarted === undefined ? 'the rest' : counted(notStarted, things === 'files' ? 'file' : 'filing');
}
