import { resolve } from 'node:path';
import { ChecksumFiles } from '../../checksums/append.ts';
import { FilingsError } from '../../errors.ts';
import type { Session } from '../../session/session.ts';
import { descriptorAt, isStreamPath, pathWriter, stdoutWriter } from '../../stdio/byte-writer.ts';
import { humanBytes } from '../../terminal/units.ts';
import { type Fetching, fetchToDisk, fetchToStream, type StreamTarget } from '../../transfer/fetch-file.ts';
import type { Limits } from '../../transfer/limits/limits.ts';
import { countedWatcher, type Throttle } from '../../transfer/limits/throttle.ts';
import { keepChecksum } from '../../transfer/mirror/keep-checksum.ts';
import type { Tally } from '../../transfer/mirror/tally.ts';
import type { Outcome, Wanted } from '../../transfer/outcome.ts';
import { keptLine, outcomeLine, retryWait } from '../../transfer/report.ts';
import type { Watcher } from '../../transfer/transfer.ts';
import type { World } from '../../world.ts';
import type { Order } from './order/order.ts';
import { targetAt } from './target.ts';

/** Fetches the one file that is named to where it is to go. A failure is an outcome, not an exception. */
export async function fetchSingle(wanted: Wanted, order: Order, tools: SingleTools): Promise<Outcome> {
  const { fetching, session, world, limits, throttle, books } = tools;
  const { signal } = session;
  const stream = await streamFor(order, tools);
  const target = targetAt(placedPath(wanted, order), order, world.cwd);
  const shown = watched(wanted, session, books.tally);
  const watcher = countedWatcher(shown, limits, throttle, signal);
  const finished = (outcome: Outcome) => {
    shown.finish(outcome.error ? undefined : outcomeLine(outcome, humanBytes));
    if (books.tally.kept > 0) session.progress.note(`${wanted.fileName}: ${keptLine(books.tally.kept, humanBytes)}`);
    return outcome;
  };
  if (stream) return finished(await fetchToStream(wanted, stream, fetching, signal, watcher));
  const outcome = await fetchToDisk(wanted, target, fetching, signal, watcher);
  if (!order.options.checksums) return finished(outcome);
  const sums = new ChecksumFiles({ now: world.now, flushed: false });
  return finished(await keepChecksum(outcome, target, sums, signal));
}

/** Its path below DIR; with `--output` it has none. Throws `usage` for a name that the layout can't place. */
function placedPath({ accession, fileName }: Wanted, { output, layout }: Order): string {
  if (output !== undefined) return '';
  const placed = layout.place(accession, fileName);
  if (placed.fault) throw new FilingsError('usage', `file name '${fileName}': ${placed.fault.reason}`);
  return placed.path;
}

/** The stream that `--output` names: stdout, a device, a FIFO; undefined for a plain file. */
async function streamFor({ output, options }: Order, { world }: SingleTools): Promise<StreamTarget | undefined> {
  if (output === undefined) return undefined;
  const { sha256, spool } = options;
  const spoolIn = spool ? world.env.TMPDIR || '/tmp' : undefined;
  const path = resolve(world.cwd, output);
  if (output === '-' || (await descriptorAt(path)) === 1) {
    return { open: async () => stdoutWriter(world.stdout), sha256, spoolIn };
  }
  return (await isStreamPath(path)) ? { open: (signal) => pathWriter(path, signal), sha256 } : undefined;
}

/** What one file is fetched with. */
export interface SingleTools {
  readonly session: Session;
  readonly fetching: Fetching;
  readonly limits: Limits;
  readonly throttle: Throttle | undefined;
  readonly books: { readonly tally: Tally };
  readonly world: World;
}

export type ShownFile = Watcher & { finish(line: string | undefined): void };

/** Shows a file while it is fetched, and a line when it has ended; its waits are counted. */
export function watched(
  file: { readonly fileName: string; readonly size?: number | undefined },
  { progress }: Pick<Session, 'progress'>,
  tally: Tally,
): ShownFile {
  const shown = progress.start({ name: file.fileName, offset: 0, size: file.size });
  return {
    total: (bytes, offset) => shown.total(bytes, offset),
    moved: (bytes) => shown.advance(bytes),
    retry(event) {
      tally.wait(event);
      shown.wait(retryWait(event));
    },
    kept(bytes) {
      tally.kept += bytes;
    },
    finish: (line) => shown.finish(line),
  };
}
