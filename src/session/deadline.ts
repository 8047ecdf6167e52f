import { childOf, createAbortController } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { envLayer, firstOf, flagLayer } from '../settings/layers.ts';
import { TABLE } from '../settings/table.ts';
import type { Flags } from '../spec/command.ts';
import { inSeconds } from '../text.ts';
import { derived, type World } from '../world.ts';

/**
 * Does the work in a world whose `interrupt` also aborts at the deadline. One that flags or environment set counts from
 * here on, because the config file, a key or a token may come out of a pipe that says nothing. Where they set none,
 * `setDeadline` takes the one of the config file, once that is read.
 */
export async function withinDeadline<T>(flags: Flags, world: World, work: (bounded: World) => Promise<T>): Promise<T> {
  const { signal, abort, detach } = childOf(world.interrupt);
  const ended = createAbortController();
  let isSet = false;
  const setDeadline = (ms: number | undefined) => {
    if (ms === undefined || isSet) return;
    isSet = true;
    world.sleep(ms, ended.signal).then(
      () => abort(deadlinePassed(ms)),
      () => {},
    );
  };
  const given = firstOf([flagLayer(flags), envLayer(world.env)], 'deadline');
  setDeadline(given && TABLE.deadline.kind.parse(String(given.value)));
  try {
    return await work(derived(world, { interrupt: signal, setDeadline }));
  } catch (error) {
    // What an interrupted call throws is not what went wrong.
    throw error instanceof FilingsError || !signal.aborted ? error : signal.reason;
  } finally {
    ended.abort();
    detach();
  }
}

function deadlinePassed(ms: number): FilingsError {
  return new FilingsError('temporary', `the deadline of ${inSeconds(ms)} has passed`, {
    hint: 'run it again to resume, or allow more with --deadline',
    stopsRun: true,
    isTimeUp: true,
  });
}
