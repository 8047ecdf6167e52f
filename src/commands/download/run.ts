// Runs `download`: takes the parsed command line, connects the session, the outputs and the batch, and returns the exit
// status or throws the error of the run. The decisions are in batch/ and transfer/.
import { resolve } from 'node:path';
import { Batch } from '../../batch/batch.ts';
import type { FileDeps } from '../../batch/files.ts';
import { Limits, Throttle } from '../../batch/limits.ts';
import { Recorder } from '../../batch/recorder.ts';
import { batchSummary, batchSummaryLine, Counts, resumableLine } from '../../batch/report.ts';
import type { SelectionOptions } from '../../batch/selection.ts';
import { type BatchEnd, batchError } from '../../batch/verdict.ts';
import { ChecksumFiles } from '../../checksums/sums-files.ts';
import { replaceFile } from '../../disk/atomic-write.ts';
import { Directories } from '../../disk/directory.ts';
import { FilingsError } from '../../errors.ts';
import { type Line, openInput, readLines } from '../../input/lines.ts';
import { listFiles, openSession, type Session } from '../../session/session.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/command.ts';
import { shellWord } from '../../text.ts';
import type { World } from '../../world.ts';
import { type Order, readOrder } from './order.ts';
import { requireRunFiles } from './run-files.ts';
import type { OPTIONS } from './spec.ts';
import { openOutputs, placeOf, streamOf, targetsOf } from './targets.ts';

/** The signal of a pipe whose reader has gone away. */
const SIGPIPE = 13;

interface Run {
  readonly order: Order;
  readonly session: Session;
  readonly files: FileDeps;
  readonly outputs: Awaited<ReturnType<typeof openOutputs>>;
  readonly recorder: Recorder;
  readonly world: World;
}

/** Downloads the files. Returns the exit status, or throws the error of the run. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const order = readOrder(args, options, world);
  const { dryRun, limitRate } = options;
  const resolved = await resolveSettings(flags, world);
  const runFileFault = await requireRunFiles(order, resolved, world);
  const limits = new Limits(dryRun ? {} : options, world.monotonic);
  const stdinUser = options.input === '-' ? '--input -' : undefined;
  const writesStdout = order.output === '-' || order.report === '-' || dryRun;
  const session = await openSession(flags, world, { stdinUser, writesStdout, meter: limits, resolved });
  try {
    const directories = new Directories(world);
    if (order.output === undefined && !dryRun)
      await directories.prepare({ directory: resolve(world.cwd, order.directory), below: '.' });
    const files: FileDeps = {
      targetOf: targetsOf(order, world),
      runFileFault,
      stream: await streamOf(order, world),
      fetching: { client: session.client, directories, monotonic: world.monotonic },
      checksums: options.checksums && !dryRun ? new ChecksumFiles() : undefined,
      limits,
      throttle: limitRate === undefined ? undefined : new Throttle(limitRate, world),
      progress: session.progress,
      counts: new Counts(),
      isDryRun: dryRun,
    };
    const outputs = await openOutputs(order, session, world);
    const recorder = new Recorder({
      ...outputs,
      counts: files.counts,
      hasFailedList: options.failed !== undefined,
      beforeDone: async () => files.checksums?.flush(),
      progress: session.progress,
      printsFiles: !dryRun && (order.isSingleFile || session.settings.verbose),
      singleTarget: order.isSingleFile ? 'file' : order.accessions.length === 1 ? 'filing' : undefined,
      world,
    });
    const error = await downloadAll({ order, session, files, outputs, recorder, world });
    if (error?.code === 'limit' && session.settings.quiet) return error.exitStatus;
    if (error) throw error;
    return 0;
  } catch (error) {
    if (dryRun && isClosedPipe(error)) return 0;
    throw error;
  } finally {
    await session.close();
  }
}

/** Whether the reader of stdout has gone away, which ends a plan but is no failure. */
function isClosedPipe(error: unknown): boolean {
  return error instanceof FilingsError && error.signal === SIGPIPE;
}

/** Returns the error of the run, after all files and the lists are written. Throws errors of the program itself. */
async function downloadAll(run: Run): Promise<FilingsError | undefined> {
  const { order, session, recorder, world } = run;
  const { failed, dryRun } = order.options;
  const error = await runBatch(run).catch(async (failure) => {
    await recorder.close().catch(() => {});
    throw failure;
  });
  try {
    await recorder.close();
    if (failed === undefined || dryRun) return error;
    // The list is replaced only at the end, because a pipe may feed the old list to this run.
    await replaceFile(resolve(world.cwd, failed), recorder.failedList, world, { mode: 0o666 });
    // Invalid lines of the input are comments, which no command can retry.
    return error && /^[^#\n]/m.test(recorder.failedList) ? withRetryHint(error, failed, order) : error;
  } catch (failure) {
    // An error at the end must not hide the error of the run, which may be the same full disk.
    if (error === undefined || !(failure instanceof FilingsError)) throw failure;
    if (error.code !== failure.code) session.progress.failure(failure);
    return error;
  }
}

function withRetryHint(error: FilingsError, failed: string, { fileNames, layout, output }: Order): FilingsError {
  if (output !== undefined) return error;
  const place = fileNames.length > 0 ? ` and --layout ${shellWord(layout.template)}` : '';
  const source = fileNames.length > 0 ? 'ACCESSION and FILE' : 'ACCESSION or the input';
  const retry = `to retry the failed files, run the same command with -i ${shellWord(failed)}${place} in place of ${source}, and with another --failed file`;
  return error.with({ hint: error.stopsRun && error.hint !== undefined ? `${error.hint}; ${retry}` : retry });
}

/** Runs the batch and prints its summary. Returns the error of the run. */
async function runBatch(run: Run): Promise<FilingsError | undefined> {
  const { order, session, files, recorder, world } = run;
  const { options, isSingleFile, fileNames, output, layout } = order;
  const { progress, limits, counts } = files;
  const startedAt = world.monotonic();
  const { lines, close } = openLines(order, world, progress);
  const batch = new Batch({ selection: selectionOf(run, lines), files, recorder, signal: session.signal, world });
  if (!isSingleFile) showBatchProgress(batch, files);
  const end = await batch.run().finally(close);
  counts.resumableBytes = files.fetching.directories.keptBytes;
  const error = errorOf(end, run);
  if (isSingleFile && !options.dryRun) {
    if (counts.resumableBytes > 0) progress.note(`${fileNames[0]}: ${resumableLine(counts.resumableBytes)}`);
    return error;
  }
  const { bytes, requests } = limits;
  const ms = world.monotonic() - startedAt;
  const summary = { ...end, exitCode: error?.exitStatus ?? 0, place: placeOf(order, world), ms, bytes, requests };
  recorder.write((time) => batchSummaryLine(counts, summary, time));
  progress.note(batchSummary(counts, summary));
  if (options.dryRun && fileNames.length > 0 && output === undefined)
    progress.note(`to use these lines with --input, add --layout ${shellWord(layout.template)}`);
  return error;
}

/** Returns the lines of the arguments or of the input in small groups, and a function that closes the input. */
function openLines(
  { options, accessions, fileNames, isChosen }: Order,
  world: World,
  { note, warn }: Session['progress'],
) {
  async function* argumentLines(): AsyncGenerator<readonly Line[]> {
    const files = isChosen ? [undefined] : fileNames;
    yield accessions.flatMap((accession) => files.map((file) => ({ kind: 'entry', accession, file })));
  }
  if (options.input === undefined) return { lines: argumentLines(), close() {} };
  const stream = openInput(options.input, world, note);
  return { lines: readLines(stream, warn), close: () => void stream.destroy() };
}

function selectionOf(
  { order, session, files: { limits, counts }, outputs: { done } }: Run,
  lines: AsyncIterable<readonly Line[]>,
): SelectionOptions {
  const onRetry = () => {
    counts.retries += 1;
  };
  return {
    lines,
    isSelected: order.isChosen,
    layout: order.layout,
    jobs: session.settings.jobs,
    async list(accession, stop) {
      if (limits.reached) throw limits.reached;
      return (await listFiles(session, accession, order.options.query, stop, onRetry)).files;
    },
    isAlreadyDone(accession) {
      if (!done?.has(accession)) return false;
      counts.done += 1;
      return true;
    },
  };
}

/** Adds the line of the whole batch to the progress. */
function showBatchProgress({ tally }: Batch, { progress, counts }: FileDeps): void {
  progress.overall(() => {
    const total = tally.isRead && tally.pending === 0 ? tally.files : undefined;
    // A batch of one file shows only the bar of the file.
    if (total === 1) return undefined;
    const { skipped, failed } = counts.files;
    const allBytes = total !== undefined && tally.unsized === 0 ? tally.bytes : undefined;
    return { files: counts.total, total, skipped, failed, endedBytes: counts.endedBytes, allBytes };
  });
}

/** Returns the error of the run: the single file's own error, unless a signal or the deadline stopped the batch. */
function errorOf(end: BatchEnd, { order: { options }, recorder, files }: Run): FilingsError | undefined {
  if (options.dryRun && isClosedPipe(end.stoppedBy)) return undefined;
  if (recorder.singleError && end.stoppedBy?.isTimeUp !== true) return recorder.singleError;
  const { downloaded, resumed, failed } = files.counts.files;
  const error = batchError({ ...end, files: files.counts.total, failed, permanent: files.counts.permanent });
  if (error?.code !== 'limit') return error;
  // With --if-exists overwrite, the next run begins again at the first file.
  const isInVain = downloaded + resumed === 0 || options.ifExists === 'overwrite';
  return error.with({ hint: isInVain ? 'raise the limit, or no run gets further' : 'run it again to continue' });
}
