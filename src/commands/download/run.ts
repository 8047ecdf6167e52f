import { resolve } from 'node:path';
import { Batch, type BatchEnd } from '../../batch/batch.ts';
import type { Counts } from '../../batch/counts.ts';
import { type Downloading, download, lookAt } from '../../batch/files.ts';
import { Limits, Throttle } from '../../batch/limits.ts';
import { Narrator } from '../../batch/narrator.ts';
import type { Recorder } from '../../batch/recorder.ts';
import { batchSummary, countsText, reportSummary, type Summary } from '../../batch/summary.ts';
import { batchError } from '../../batch/verdict.ts';
import { ChecksumFiles } from '../../checksums/append.ts';
import { FilingsError } from '../../errors.ts';
import { listFiles } from '../../session/list-files.ts';
import { openSession, type Session } from '../../session/session.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/invocation.ts';
import type { Progress } from '../../terminal/progress.ts';
import { Directories } from '../../transfer/directories.ts';
import { resumableLine } from '../../transfer/outcome.ts';
import type { World } from '../../world.ts';
import { isLocal, streamOf, targetsOf } from './destination.ts';
import { type Lines, openLines } from './lines.ts';
import { type Order, readOrder } from './order/order.ts';
import { type RunFiles, requireRunFiles } from './order/run-files.ts';
import { openOutputs, type RunOutputs } from './outputs.ts';
import type { OPTIONS } from './spec.ts';

/** So often a batch without bars says how far it is. */
const EVERY_MS = 60_000;

/** `filings download`: files of filings, to disk or to stdout. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const order = readOrder(args, options, flags, world);
  const resolved = await resolveSettings(flags, world);
  const runFiles = await requireRunFiles(order, resolved.configPath, world);
  const { maxBytes, maxRequests, stopAfter: stopAfterMs } = options;
  const limits = new Limits({ maxBytes, maxRequests, stopAfterMs }, world.monotonic);
  const stdinUser = order.input === '-' ? '--input -' : undefined;
  const writesStdout = [order.output, order.report].some((path) => path === '-' || path === '/dev/stdout');
  const session = await openSession(flags, world, { stdinUser, writesStdout, meter: limits, resolved });
  const directories = new Directories(world);
  try {
    await downloadAll(order, { session, directories, limits, runFiles, world });
    return 0;
  } finally {
    await session.close();
  }
}

interface Tools {
  readonly session: Session;
  readonly directories: Directories;
  readonly limits: Limits;
  readonly runFiles: RunFiles;
  readonly world: World;
}

/** Downloads what an order selects. Throws what the run ends with. */
async function downloadAll(order: Order, tools: Tools): Promise<void> {
  const { session, world } = tools;
  const checksums = order.options.checksums ? new ChecksumFiles(order.options.done !== undefined) : undefined;
  const outputs = await openOutputs(order, checksums, session, world);
  let error: FilingsError | undefined;
  try {
    const lines = openLines(order, world, session.progress.note);
    try {
      error = await work(order, lines, checksums, outputs, tools);
    } finally {
      lines.close();
    }
  } catch (thrown) {
    await outputs.abandon();
    throw thrown;
  }
  await closeAfter(error, outputs);
  if (error) throw error;
}

/** Closes the outputs; that one can't be put in its place does not hide what the run ended with. Throws `FilingsError`. */
async function closeAfter(error: FilingsError | undefined, outputs: RunOutputs): Promise<void> {
  try {
    await outputs.close();
  } catch (thrown) {
    await outputs.abandon();
    if (error === undefined || !(thrown instanceof FilingsError)) throw thrown;
    throw error.reworded(`${error.message}; then ${thrown.message}`);
  }
}

/** Works through the lines; gives what the run ends with. */
async function work(
  order: Order,
  lines: Lines,
  checksums: ChecksumFiles | undefined,
  outputs: RunOutputs,
  tools: Tools,
): Promise<FilingsError | undefined> {
  const { session, limits, world } = tools;
  const { counts } = outputs.recorder;
  const began = world.monotonic();
  const ms = () => world.monotonic() - began;
  const downloading = await downloadingOf(order, checksums, outputs, tools);
  const alone = order.single ? 'file' : order.accessions.length === 1 ? 'filing' : undefined;
  const narrator = new Narrator(session.progress, { tellsAll: downloading.tellsAll, alone });
  const batch = batchOf(order, lines, downloading, narrator, outputs, tools);
  const stopShowing = order.single ? () => {} : showReach(batch, counts, session.progress);
  const end = await batch.run().finally(stopShowing);
  narrator.end(end.stoppedBy);
  const error = verdict(end, counts, narrator.alone);
  if (order.single && !order.options.dryRun) {
    if (counts.resumableBytes > 0) {
      session.progress.note(`${order.fileNames[0]}: ${resumableLine(counts.resumableBytes)}`);
    }
    return error;
  }
  const { bytes, requests } = limits;
  const summary = { ...end, exitCode: error?.exitStatus ?? 0, ms: ms(), bytes, requests };
  return sumUp(summary, outputs.recorder, session, error);
}

/** Shows how far a batch is, above its bars or by a line each minute, until it is told to stop. Holds no process. */
function showReach(batch: Batch, counts: Counts, progress: Progress): () => void {
  progress.overall(() => {
    const { files: of, waiting } = batch.extent ?? {};
    // None for a batch that turns out to be of one file.
    return of === 1 ? undefined : { files: counts.total, of, failed: counts.files.failed, waiting };
  });
  const tell = () => progress.note(`so far ${countsText(counts)}`);
  const timer = progress.moves ? undefined : setInterval(tell, EVERY_MS).unref();
  return () => clearInterval(timer);
}

function batchOf(
  { chosen, layout, query }: Order,
  { batches, isStream }: Lines,
  downloading: Downloading,
  narrator: Narrator,
  { recorder, done }: RunOutputs,
  { session, limits, world }: Tools,
): Batch {
  const { counts } = recorder;
  return new Batch({
    input: batches,
    isStream,
    selection: {
      chosen,
      layout,
      jobs: session.settings.jobs,
      async list(accession, signal) {
        const limit = limits.reached();
        if (limit) throw limit;
        return listFiles(session, accession, { query, signal, onRetry: () => counts.retry() });
      },
      passesOver(accession) {
        if (!done?.has(accession)) return false;
        counts.done += 1;
        return true;
      },
    },
    recorder,
    limits,
    look: (file) => lookAt(file, downloading),
    download: (file, signal, arrived) => download(file, downloading, signal, arrived),
    onEnd: (item, outcome) => narrator.ended(item, outcome),
    again: session.client.options.again,
    signal: session.signal,
    monotonic: world.monotonic,
  });
}

async function downloadingOf(
  order: Order,
  checksums: ChecksumFiles | undefined,
  { recorder: { counts } }: RunOutputs,
  { session, directories, limits, runFiles, world }: Tools,
): Promise<Downloading> {
  const { dryRun, limitRate } = order.options;
  const { client, progress, settings } = session;
  return {
    targetOf: targetsOf(order, world.cwd),
    runFiles,
    stream: await streamOf(order, world),
    isLocal: await isLocal(resolve(world.cwd, order.directory), world.platform),
    fetching: { client, directories, listedSizes: { ignored: false }, monotonic: world.monotonic },
    checksums,
    limits,
    throttle: limitRate === undefined ? undefined : new Throttle(limitRate, world),
    progress,
    counts,
    dryRun,
    tellsAll: order.single || settings.verbose,
  };
}

/** What the run ends with: the one file's own error, unless a signal or the deadline came first. */
function verdict(
  { stoppedBy, notStarted }: BatchEnd,
  { total, files: { failed }, onlyTemporary }: Counts,
  alone: FilingsError | undefined,
): FilingsError | undefined {
  if (alone && stoppedBy?.isTimeUp !== true) return alone;
  return batchError({ files: total, failed, onlyTemporary, stoppedBy, notStarted });
}

/** Writes the summary; what keeps a report from its end is told, unless something graver stopped the batch before. */
async function sumUp(
  summary: Summary,
  recorder: Recorder,
  { progress }: Session,
  error: FilingsError | undefined,
): Promise<FilingsError | undefined> {
  recorder.summary((time) => reportSummary(recorder.counts, summary, time));
  const untold: unknown = await recorder.finish().catch((thrown) => thrown);
  progress.note(batchSummary(recorder.counts, summary));
  if (untold !== undefined && !(untold instanceof FilingsError)) throw untold;
  return summary.stoppedBy ? error : (untold ?? error);
}
