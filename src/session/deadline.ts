// --deadline: the command runs in a world whose `interrupt` aborts at the deadline, as it does on SIGINT.
import { createChildController, startTimer } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { findRunSetting } from '../settings/layers.ts';
import { TABLE } from '../settings/table.ts';
import type { Flags } from '../spec/command.ts';
import { exactDuration } from '../text.ts';
import { deriveWorld, type World } from '../world.ts';

/**
 * A deadline from a flag or the environment starts here, before anything is read, because the config file, a key or a
 * token may be a pipe that stays silent. One from the config file starts when `resolveSettings` has read it.
 */
export async function withinDeadline<T>(flags: Flags, world: World, work: (limited: World) => Promise<T>): Promise<T> {
  const { signal, abort, detach } = createChildController(world.interrupt);
  let stopTimer: (() => void) | undefined;
  const setDeadline = (ms: number | undefined) => {
    if (ms !== undefined) stopTimer ??= startTimer(ms, world.sleep, () => abort(deadlineError(ms)));
  };
  // An invalid value sets no deadline here: `resolveSettings` will report it.
  const setting = findRunSetting('deadline', flags, world.env);
  setDeadline(setting && TABLE.deadline.kind.parse(String(setting.value)));
  try {
    return await work(deriveWorld(world, { interrupt: signal, setDeadline }));
  } catch (error) {
    // A Node call that is aborted throws an AbortError. The reason for the abort says more.
    throw error instanceof FilingsError || !signal.aborted ? error : signal.reason;
  } finally {
    stopTimer?.();
    detach();
  }
}

function deadlineError(ms: number): FilingsError {
  return new FilingsError('temporary', `the deadline of ${exactDuration(ms)} has passed`, {
    hint: 'run the command again, or allow more time with --deadline',
    stopsRun: true,
    isInterruption: true,
  });
}
