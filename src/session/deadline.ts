// Limits the time of a whole command. Takes the deadline from flags, environment or the config file, and gives the
// command a world that is interrupted then.
import { childOf, createAbortController } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { envLayer, findInLayers, flagLayer } from '../settings/layers.ts';
import { TABLE } from '../settings/table.ts';
import type { Flags } from '../spec/command.ts';
import { inSeconds } from '../text.ts';
import { deriveWorld, type World } from '../world.ts';

/**
 * Runs `work` in a world whose `interrupt` also aborts at the deadline, and returns its result. Throws `temporary` when
 * the deadline passes. A deadline from flags or environment starts here, because the config file, a key or a token may
 * be a silent pipe. Otherwise `setDeadline` starts the deadline of the config file when it has been read.
 */
export async function withinDeadline<T>(flags: Flags, world: World, work: (limited: World) => Promise<T>): Promise<T> {
  const { signal, abort, detach } = childOf(world.interrupt);
  const ended = createAbortController();
  let isSet = false;
  const setDeadline = (ms: number | undefined) => {
    if (ms === undefined || isSet) return;
    isSet = true;
    world.sleep(ms, ended.signal).then(
      () => abort(deadlineError(ms)),
      () => {},
    );
  };
  const setting = findInLayers([flagLayer(flags), envLayer(world.env)], 'deadline');
  setDeadline(setting && TABLE.deadline.kind.parse(String(setting.value)));
  try {
    return await work(deriveWorld(world, { interrupt: signal, setDeadline }));
  } catch (error) {
    // An interrupted call throws an error of its own. The interruption is the cause.
    throw error instanceof FilingsError || !signal.aborted ? error : signal.reason;
  } finally {
    ended.abort();
    detach();
  }
}

function deadlineError(ms: number): FilingsError {
  return new FilingsError('temporary', `the deadline of ${inSeconds(ms)} has passed`, {
    hint: 'run it again, or allow more time with --deadline',
    stopsRun: true,
    isTimeUp: true,
  });
}
