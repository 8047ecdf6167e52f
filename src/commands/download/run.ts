import { join, resolve } from 'node:path';
import { openSession, type Session } from '../../session/session.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { descriptorAt, isStreamPath, pathWriter, stdoutWriter } from '../../stdio/byte-writer.ts';
import { openReport, type Report } from '../../stdio/report-file.ts';
import { errorObject } from '../../terminal/render-error.ts';
import { humanBytes } from '../../terminal/units.ts';
import { runBatch } from '../../transfer/batch.ts';
import { type Fetching, fetchToDisk, fetchToStream, type StreamTarget } from '../../transfer/fetch-file.ts';
import type { Outcome, Wanted } from '../../transfer/outcome.ts';
import { Places } from '../../transfer/places.ts';
import { outcomeLine, reportLine, setbackLine, Tally } from '../../transfer/report.ts';
import type { Watcher } from '../../transfer/transfer.ts';
import { batchError } from '../../transfer/verdict.ts';
import type { World } from '../../world.ts';
import { type Order, readOrder } from './order.ts';
import type { OPTIONS } from './spec.ts';

/** `filings download`: files of a filing, to disk or to stdout. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const order = readOrder(args, options);
  const session = await openSession(flags, world);
  const places = new Places(world);
  try {
    const report = await openReport(order.report, world, session.signal);
    const fetching = { client: session.client, places, monotonic: world.monotonic };
    await fetchAll(order, fetching, session, report, world).finally(() => report.close());
    return 0;
  } finally {
    await places.close();
    await session.close();
  }
}

async function fetchAll(
  order: Order,
  fetching: Fetching,
  session: Session,
  report: Report,
  world: World,
): Promise<void> {
  const wanted = order.fileNames.map((fileName) => ({ accession: order.accession, fileName }));
  const fetchOne = await fetcherFor(order, fetching, session, world);
  const tally = new Tally();
  const single = wanted.length === 1;
  let stopping = false;
  const end = await runBatch(
    wanted,
    fetchOne,
    async (outcome, brokenOff) => {
      if (!brokenOff) tally.add(outcome);
      await report.write(reportLine(outcome, (error) => errorObject(error, world.secrets)));
      if (outcome.error && single) throw outcome.error;
      // What stops the batch is told at its end.
      const first = outcome.error?.stopsRun && !stopping;
      if (first) stopping = true;
      else if (outcome.error && !brokenOff) session.progress.failure(outcome.error);
    },
    { jobs: session.settings.jobs, signal: session.signal },
  );
  if (single) {
    if (end.stoppedBy) throw end.stoppedBy;
    return;
  }
  session.progress.note(tally.summary(end.undone, humanBytes));
  const { failed, total: files, onlyTemporary } = tally;
  const error = batchError({ files, failed, onlyTemporary, ...end });
  if (error) throw error;
}

type FetchOne = (wanted: Wanted, signal: AbortSignal) => Promise<Outcome>;

/** Chooses where the files go: a stream, one path, or a directory. */
async function fetcherFor(order: Order, fetching: Fetching, session: Session, world: World): Promise<FetchOne> {
  const { output, sha256 } = order;
  const stream = await streamFor(order, world);
  if (stream) {
    return watched(session, (wanted, signal, watcher) => fetchToStream(wanted, stream, fetching, signal, watcher));
  }
  const toDirectory = output === undefined;
  const ifExists = order.ifExists ?? (toDirectory ? 'skip' : 'overwrite');
  return watched(session, (wanted, signal, watcher) => {
    const shown = output ?? join(order.directory, wanted.fileName);
    const target = { path: resolve(world.cwd, shown), shown, makeDirectory: toDirectory, ifExists, sha256 };
    return fetchToDisk(wanted, target, fetching, signal, watcher);
  });
}

/** The stream that `--output` names: stdout, a device, a FIFO; undefined for a plain file. */
async function streamFor({ output, sha256, spool }: Order, world: World): Promise<StreamTarget | undefined> {
  if (output === undefined) return undefined;
  const spoolIn = spool ? world.env.TMPDIR || '/tmp' : undefined;
  const path = resolve(world.cwd, output);
  if (output === '-' || (await descriptorAt(path)) === 1) {
    return { open: async () => stdoutWriter(world.stdout), sha256, spoolIn };
  }
  return (await isStreamPath(path)) ? { open: (signal) => pathWriter(path, signal), sha256 } : undefined;
}

/** Shows a file's progress while it is fetched, and a line when it has ended well. */
function watched(
  { progress }: Session,
  fetch: (wanted: Wanted, signal: AbortSignal, watcher: Watcher) => Promise<Outcome>,
): FetchOne {
  return async (wanted, signal) => {
    const shown = progress.start({ name: wanted.fileName, offset: 0 });
    const outcome = await fetch(wanted, signal, {
      total: (bytes, offset) => shown.total(bytes, offset),
      moved: (bytes) => shown.advance(bytes),
      setback: (setback) => shown.wait(setbackLine(setback)),
    });
    shown.finish(outcome.error ? undefined : outcomeLine(outcome, humanBytes));
    return outcome;
  };
}
