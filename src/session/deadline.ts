import { setMaxListeners } from 'node:events';
import { FilingsError } from '../errors.ts';
import { inSeconds } from '../text.ts';

/** A signal that aborts as `interrupt` does, and after `ms` milliseconds: `--deadline` bounds the whole command. */
export function startDeadline(ms: number | undefined, interrupt: AbortSignal): { signal: AbortSignal; stop(): void } {
  if (ms === undefined) return { signal: interrupt, stop() {} };
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const onInterrupt = () => controller.abort(interrupt.reason);
  interrupt.addEventListener('abort', onInterrupt, { once: true });
  if (interrupt.aborted) onInterrupt();
  const timer = setTimeout(() => controller.abort(deadlinePassed(ms)), ms);
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer);
      interrupt.removeEventListener('abort', onInterrupt);
    },
  };
}

function deadlinePassed(ms: number): FilingsError {
  return new FilingsError('temporary', `the deadline of ${inSeconds(ms)} has passed`, {
    hint: 'running it again goes on where it can; --deadline allows more',
    stopsRun: true,
  });
}
