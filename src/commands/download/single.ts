import { join, resolve } from 'node:path';
import { FilingsError } from '../../errors.ts';
import type { Session } from '../../session/session.ts';
import { descriptorAt, isStreamPath, pathWriter, stdoutWriter } from '../../stdio/byte-writer.ts';
import { humanBytes } from '../../terminal/units.ts';
import { type Fetching, fetchToDisk, fetchToStream, type StreamTarget } from '../../transfer/fetch-file.ts';
import { keepChecksum } from '../../transfer/mirror/keep-checksum.ts';
import type { Outcome, Wanted } from '../../transfer/outcome.ts';
import { outcomeLine, setbackLine } from '../../transfer/report.ts';
import type { Placed } from '../../transfer/selection/layout.ts';
import type { Watcher } from '../../transfer/transfer.ts';
import type { World } from '../../world.ts';
import { checksumsOf } from './checksums.ts';
import type { Order } from './order.ts';

/** Fetches the one file that is named to where it is to go. A failure is an outcome, not an exception. */
export async function fetchSingle(
  wanted: Wanted,
  order: Order,
  fetching: Fetching,
  session: Session,
  world: World,
): Promise<Outcome> {
  const { output, directory, ifExists, layout } = order;
  const { sha256 } = order.options;
  const { signal } = session;
  const stream = await streamFor(order, world);
  const watcher = watched(wanted.fileName, session);
  if (stream) return finished(await fetchToStream(wanted, stream, fetching, signal, watcher), watcher);
  const placed = output === undefined ? layout.place(wanted.accession, wanted.fileName) : undefined;
  const shown = output ?? join(directory, pathOf(placed, wanted));
  const target = {
    path: resolve(world.cwd, shown),
    below:
      output === undefined ? { directory: resolve(world.cwd, directory), path: pathOf(placed, wanted) } : undefined,
    shown,
    makeDirectory: output === undefined,
    ifExists: ifExists ?? (output === undefined ? 'skip' : 'overwrite'),
    sha256,
    hashed: order.options.checksums,
  };
  const outcome = await fetchToDisk(wanted, target, fetching, signal, watcher);
  const sums = checksumsOf(order, world);
  return finished(sums ? await keepChecksum(outcome, target, sums, fetching.places, signal) : outcome, watcher);
}

/** Throws `usage` for a name that the layout can't place. */
function pathOf(placed: Placed | undefined, { fileName }: Wanted): string {
  if (placed?.fault) throw new FilingsError('usage', `file name '${fileName}': ${placed.fault.reason}`);
  return placed?.path ?? fileName;
}

/** The stream that `--output` names: stdout, a device, a FIFO; undefined for a plain file. */
async function streamFor({ output, options }: Order, world: World): Promise<StreamTarget | undefined> {
  if (output === undefined) return undefined;
  const { sha256, spool } = options;
  const spoolIn = spool ? world.env.TMPDIR || '/tmp' : undefined;
  const path = resolve(world.cwd, output);
  if (output === '-' || (await descriptorAt(path)) === 1) {
    return { open: async () => stdoutWriter(world.stdout), sha256, spoolIn };
  }
  return (await isStreamPath(path)) ? { open: (signal) => pathWriter(path, signal), sha256 } : undefined;
}

export type ShownFile = Watcher & { finish(line: string | undefined): void };

/** Shows a file while it is fetched, and a line when it has ended. */
export function watched(name: string, { progress }: Pick<Session, 'progress'>): ShownFile {
  const shown = progress.start({ name, offset: 0 });
  return {
    total: (bytes, offset) => shown.total(bytes, offset),
    moved: (bytes) => shown.advance(bytes),
    setback: (setback) => shown.wait(setbackLine(setback)),
    finish: (line) => shown.finish(line),
  };
}

function finished(outcome: Outcome, shown: ShownFile): Outcome {
  shown.finish(outcome.error ? undefined : outcomeLine(outcome, humanBytes));
  return outcome;
}
