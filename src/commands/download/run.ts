import { resolve } from 'node:path';
import { Batch, type BatchEnd } from '../../batch/batch.ts';
import { type Downloading, download, lookAt } from '../../batch/files.ts';
import type { Item } from '../../batch/item.ts';
import { Limits } from '../../batch/limits.ts';
import { Narrator, noMatch } from '../../batch/narrator.ts';
import { reachLine, reachOf, sayEachMinute } from '../../batch/reach.ts';
import type { Recorder } from '../../batch/recorder.ts';
import { type Summary, summaryLine, summaryText } from '../../batch/summary.ts';
import { Throttle } from '../../batch/throttle.ts';
import { batchError } from '../../batch/verdict.ts';
import { ChecksumFiles } from '../../checksums/append.ts';
import { FilingsError } from '../../errors.ts';
import { listFiles } from '../../session/list-files.ts';
import { openSession, type Session } from '../../session/session.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { descriptorAt, isStreamPath, pathWriter, stdoutWriter } from '../../stdio/byte-writer.ts';
import type { StreamTarget } from '../../transfer/download.ts';
import { keptLine } from '../../transfer/outcome-line.ts';
import { Places } from '../../transfer/places.ts';
import type { World } from '../../world.ts';
import { type Lines, openLines } from './lines.ts';
import { type Order, readOrder } from './order/order.ts';
import { openedRunFiles, requireRunFiles } from './order/run-files.ts';
import { openOutputs, type RunOutputs } from './outputs.ts';
import type { OPTIONS } from './spec.ts';
import { targetsOf } from './target.ts';

/** `filings download`: files of filings, to disk or to stdout. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const order = readOrder(args, options, flags, world);
  const resolved = await resolveSettings(flags, world);
  await requireRunFiles(order, resolved.configPath, world);
  const { maxBytes, maxRequests, stopAfter: stopAfterMs } = options;
  const limits = new Limits({ maxBytes, maxRequests, stopAfterMs }, world.monotonic);
  const stdinUser = order.input === '-' ? '--input -' : undefined;
  const writesStdout = [order.output, order.report].some((path) => path === '-' || path === '/dev/stdout');
  const session = await openSession(flags, world, { stdinUser, writesStdout, meter: limits, resolved });
  const places = new Places(world);
  try {
    await downloadAll(order, { session, places, limits, config: resolved.configPath, world });
    return 0;
  } finally {
    await session.close();
  }
}

interface Tools {
  readonly session: Session;
  readonly places: Places;
  readonly limits: Limits;
  /** The config file, where there is one. */
  readonly config: string | undefined;
  readonly world: World;
}

/** Downloads what an order selects. Throws what the run ends with. */
async function downloadAll(order: Order, tools: Tools): Promise<void> {
  const { session, world } = tools;
  const checksums = order.options.checksums
    ? new ChecksumFiles({ now: world.now, flushed: order.options.done !== undefined })
    : undefined;
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
  { recorder, done }: RunOutputs,
  tools: Tools,
): Promise<FilingsError | undefined> {
  const { session, limits, world } = tools;
  const { progress, signal, settings } = session;
  const { counts } = recorder;
  const began = world.monotonic();
  const downloading = await downloadingOf(order, checksums, recorder, tools);
  const narrator = new Narrator(progress, downloading.tellsAll);
  let alone: FilingsError | undefined;
  const batch = new Batch({
    input: lines.batches,
    isStream: lines.isStream,
    selection: {
      chosen: order.chosen,
      layout: order.layout,
      jobs: settings.jobs,
      async list(accession, within) {
        const limit = limits.reached();
        if (limit) throw limit;
        return listFiles(session, accession, { query: order.query, signal: within, onRetry: () => counts.retry() });
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
    download: (file, within, arrived) => download(file, downloading, within, arrived),
    onEnd(item, outcome) {
      alone ??= aloneIn(order, item, outcome?.error);
      if (alone === undefined) narrator.ended(item, outcome);
    },
    again: session.client.again,
    signal,
    monotonic: world.monotonic,
  });
  const read = () => ({ bytes: batch.selection.bytesRead, of: lines.size });
  if (!order.single) progress.overall(() => reachOf(counts, batch.extent));
  const told = () => reachLine(counts, order.input === undefined ? undefined : read(), world.monotonic() - began);
  const stopSaying = progress.moves || order.single ? () => {} : sayEachMinute(told, progress.note);
  const end = await batch.run().finally(stopSaying);
  narrator.end(end.stoppedBy);
  const error = verdict(end, recorder, alone);
  if (order.single && !order.options.dryRun) {
    if (counts.kept > 0) progress.note(`${order.fileNames[0]}: ${keptLine(counts.kept)}`);
    return error;
  }
  const summary = { ...end, exitCode: error?.exitStatus ?? 0, ms: world.monotonic() - began, bytes: limits.bytes };
  return sumUp({ ...summary, requests: limits.requests }, recorder, session, error);
}

/** Why a report could not be written to its end, if that is so: what stopped the batch before is the graver error. */
async function sumUp(
  summary: Summary,
  recorder: Recorder,
  { progress }: Session,
  error: FilingsError | undefined,
): Promise<FilingsError | undefined> {
  recorder.summary((time) => summaryLine(recorder.counts, summary, time));
  const untold = await recorder.finish().then(
    () => undefined,
    (thrown) => thrown,
  );
  progress.note(summaryText(recorder.counts, summary));
  if (untold !== undefined && !(untold instanceof FilingsError)) throw untold;
  return summary.stoppedBy ? error : (untold ?? error);
}

function verdict(
  { stoppedBy, notStarted }: BatchEnd,
  { counts }: Recorder,
  alone: FilingsError | undefined,
): FilingsError | undefined {
  if (alone && stoppedBy?.isTimeUp !== true) return alone;
  const { total, onlyTemporary, files } = counts;
  return batchError({ files: total, failed: files.failed, onlyTemporary, stoppedBy, notStarted });
}

/** The error of the one file, or of the one filing's listing, which is what the command ends with. */
function aloneIn(order: Order, item: Item, error: FilingsError | undefined): FilingsError | undefined {
  if (order.single) return error;
  if (order.accessions.length !== 1) return undefined;
  if (item.kind === 'unlisted') return item.error;
  if (item.kind !== 'unmatched') return undefined;
  return new FilingsError('not_found', `${item.accession}: ${noMatch(item.files)}`, {
    hint: 'see what there is with filings list',
  });
}

async function downloadingOf(
  order: Order,
  checksums: ChecksumFiles | undefined,
  { counts }: Recorder,
  { session, places, limits, config, world }: Tools,
): Promise<Downloading> {
  const { dryRun, limitRate } = order.options;
  const { monotonic } = world;
  return {
    targetOf: targetsOf(order, world.cwd),
    runFiles: await openedRunFiles(order, config, world),
    stream: await streamFor(order, world),
    fetching: { client: session.client, places, listedSizes: { ignored: false }, monotonic },
    checksums,
    limits,
    throttle: limitRate === undefined ? undefined : new Throttle(limitRate, world),
    progress: session.progress,
    counts,
    dryRun,
    tellsAll: order.single || session.settings.verbose,
  };
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
  return (await isStreamPath(path)) ? { open: (signal) => pathWriter(path, world.sleep, signal), sha256 } : undefined;
}
