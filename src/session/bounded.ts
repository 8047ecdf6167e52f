import { FilingsError } from '../errors.ts';
import { envLayer, flagLayer } from '../settings/layers.ts';
import { TABLE } from '../settings/table.ts';
import type { Flags } from '../spec/invocation.ts';
import type { World } from '../world.ts';
import { startDeadline } from './deadline.ts';

/**
 * Does the work within the deadline that flags or environment set, counted from here on: the config file, a key or a
 * token may come out of a pipe that says nothing. One that the config file sets counts once that is read.
 */
export async function withinDeadline(
  flags: Flags,
  world: World,
  work: (bounded: World) => Promise<number>,
): Promise<number> {
  // No path is among these: the working directory does not matter.
  const [given] = [flagLayer(flags, '/'), envLayer(world.env, '/')].flatMap((layer) => layer.get('deadline') ?? []);
  const deadline = startDeadline(given && TABLE.deadline.kind.parse(String(given.value)), world.interrupt);
  try {
    return await work(Object.create(world, { interrupt: { value: deadline.signal } }));
  } catch (error) {
    // What an interrupted call throws is not what went wrong.
    throw error instanceof FilingsError || !deadline.signal.aborted ? error : deadline.signal.reason;
  } finally {
    deadline.stop();
  }
}
