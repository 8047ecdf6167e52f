import { childOf } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { inSeconds } from '../text.ts';

/** A signal that aborts as `interrupt` does, and after `ms` milliseconds: `--deadline` bounds the whole command. */
export function startDeadline(ms: number | undefined, interrupt: AbortSignal): { signal: AbortSignal; stop(): void } {
  if (ms === undefined) return { signal: interrupt, stop() {} };
  const child = childOf(interrupt);
  const timer = setTimeout(() => child.abort(deadlinePassed(ms)), ms);
  return {
    signal: child.signal,
    stop() {
      clearTimeout(timer);
      child.letGo();
    },
  };
}

function deadlinePassed(ms: number): FilingsError {
  return new FilingsError('temporary', `the deadline of ${inSeconds(ms)} has passed`, {
    hint: 'running it again goes on where it can; --deadline allows more',
    stopsRun: true,
    isTimeUp: true,
  });
}
