import { childOf, createAbortController } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { envLayer, firstOf, flagLayer } from '../settings/layers.ts';
import type { Resolved } from '../settings/resolve.ts';
import { TABLE } from '../settings/table.ts';
import type { Flags } from '../spec/command.ts';
import { inSeconds } from '../text.ts';
import { derived, type World } from '../world.ts';

/**
 * Does the work within the deadline that flags or environment set, counted from here on: the config file, a key or a
 * token may come out of a pipe that says nothing. One that the config file sets counts once that is read.
 */
export async function withinDeadline<T>(flags: Flags, world: World, work: (bounded: World) => Promise<T>): Promise<T> {
  const given = firstOf([flagLayer(flags), envLayer(world.env)], 'deadline');
  const deadline = arm(given && TABLE.deadline.kind.parse(String(given.value)), world);
  try {
    return await work(derived(world, { interrupt: deadline.signal }));
  } catch (error) {
    // What an interrupted call throws is not what went wrong.
    throw error instanceof FilingsError || !deadline.signal.aborted ? error : deadline.signal.reason;
  } finally {
    deadline.stop();
  }
}

/** The config file's; any other runs already, and the world's `interrupt` tells of it. */
export function startDeadline({ settings, given }: Resolved, world: World) {
  const level = given.get('deadline')?.level;
  return arm(level === 'profile' || level === 'file' ? settings.deadline : undefined, world);
}

/** Its signal aborts as `interrupt` does, and when the time has passed. */
function arm(ms: number | undefined, { interrupt, sleep }: World) {
  if (ms === undefined) return { signal: interrupt, stop() {} };
  const { signal, abort, letGo } = childOf(interrupt);
  const stopped = createAbortController();
  const hint = 'run it again to resume, or allow more with --deadline';
  const why = { hint, stopsRun: true, isTimeUp: true };
  const pass = () => abort(new FilingsError('temporary', `the deadline of ${inSeconds(ms)} has passed`, why));
  sleep(ms, stopped.signal).then(pass, () => {});
  return {
    signal,
    stop() {
      stopped.abort();
      letGo();
    },
  };
}
