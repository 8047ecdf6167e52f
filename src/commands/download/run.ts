// Runs `download`: takes the parsed command line, connects the session, the outputs and the batch, and returns the exit
// status or throws the error of the run. The decisions are in batch/ and transfer/.
import { resolve } from 'node:path';
import { Batch, type BatchOptions } from '../../batch/batch.ts';
import type { DoneList } from '../../batch/done-list.ts';
import type { FileDeps } from '../../batch/files.ts';
import { Limits, Throttle } from '../../batch/limits.ts';
import { resumableLine } from '../../batch/outcome-line.ts';
import { Recorder } from '../../batch/recorder.ts';
import { batchSummary, batchSummaryLine, type Counts } from '../../batch/report.ts';
import { type BatchEnd, batchError } from '../../batch/verdict.ts';
import { ChecksumFiles } from '../../checksums/append.ts';
import { replaceFile } from '../../disk/atomic-write.ts';
import { FilingsError } from '../../errors.ts';
import { type Line, openInput, readLines } from '../../input/lines.ts';
import { hintOf } from '../../session/hints.ts';
import { listFiles, openSession, type Session } from '../../session/session.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Flags, Invocation } from '../../spec/command.ts';
import { Directories } from '../../transfer/directories.ts';
import type { World } from '../../world.ts';
import { type Order, readOrder } from './order.ts';
import { withRetryHint } from './retry-command.ts';
import { type RunFiles, requireRunFiles } from './run-files.ts';
import type { OPTIONS } from './spec.ts';
import { displayPathsOf, openOutputs, streamOf, targetsOf } from './targets.ts';

interface Run {
  readonly order: Order;
  readonly flags: Flags;
  readonly session: Session;
  readonly limits: Limits;
  readonly runFiles: RunFiles;
  readonly checksums: ChecksumFiles | undefined;
  /** `ignored` becomes true when a listing's size turns out not to be the size of the file. */
  readonly listedSizes: { ignored: boolean };
  readonly directories: Directories;
  readonly world: World;
}

/** Downloads the files. Returns 0, or throws the error of the run. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const order = readOrder(args, options, flags, world);
  const resolved = await resolveSettings(flags, world);
  const runFiles = await requireRunFiles(order, resolved, world);
  const limits = new Limits(options, world.monotonic);
  const stdinUser = order.input === '-' ? '--input -' : undefined;
  const writesStdout = order.output === '-' || order.report === '-';
  const session = await openSession(flags, world, { stdinUser, writesStdout, meter: limits, resolved });
  const checksums = options.checksums && !options.dryRun ? new ChecksumFiles(options.done !== undefined) : undefined;
  const listedSizes = { ignored: false };
  try {
    const directories = new Directories(world, options.dryRun);
    const run = { order, flags, session, limits, runFiles, checksums, listedSizes, directories, world };
    const error = await downloadAll(run);
    if (error) throw error;
    return 0;
  } finally {
    await session.close();
  }
}

/** Returns the error of the run, after all files and the lists are written. Throws errors of the program itself. */
async function downloadAll(run: Run): Promise<FilingsError | undefined> {
  const { order, flags, session, checksums, directories, world } = run;
  const { failed, dryRun } = order.options;
  const { report, done } = await openOutputs(order, session, world);
  const hasFailedList = failed !== undefined && !dryRun;
  const recorder = new Recorder({
    report,
    done: dryRun ? undefined : done,
    hasFailedList,
    beforeDone: async () => checksums?.flush(),
    progress: session.progress,
    shouldPrintSkipped: order.isSingleFile || session.settings.verbose,
    singleTarget: order.isSingleFile ? 'file' : order.accessions.length === 1 ? 'filing' : undefined,
    hintOf,
    world,
  });
  const error = await runBatch(run, recorder, done).catch(async (failure) => {
    await recorder.close().catch(() => {});
    throw failure;
  });
  try {
    await recorder.close();
    if (!hasFailedList) return error;
    // The list is replaced only at the end, because a pipe may feed the old list to this run.
    await replaceFile(resolve(world.cwd, failed), recorder.failedList, world, { mode: 0o666 });
    // Invalid lines of the input are comments, which no command can retry.
    if (!error || !/^[^#\n]/m.test(recorder.failedList)) return error;
    const { hintCommand } = session.client.options;
    return withRetryHint(error, { isOwn: error === recorder.singleError, order, flags, hintCommand });
  } catch (failure) {
    directories.keptParts.noteFailure(failure);
    await directories.keptParts.settle();
    // An error at the end must not hide the error of the run, which may be the same full disk.
    if (error === undefined || !(failure instanceof FilingsError)) throw failure;
    return error.code === failure.code ? error : error.with({ followedBy: failure });
  }
}

/** Runs the batch and prints its summary. Returns the error of the run. */
async function runBatch(run: Run, recorder: Recorder, done: DoneList | undefined): Promise<FilingsError | undefined> {
  const { order, limits, directories, world } = run;
  const { progress } = run.session;
  const { counts } = recorder;
  const startedAt = world.monotonic();
  const { lines, close } = openLines(order, world, progress.note);
  let end: BatchEnd;
  try {
    const batch = await createBatch(run, lines, recorder, done);
    if (!order.isSingleFile) showBatchProgress(batch, counts, run);
    end = await batch.run();
  } finally {
    close();
    counts.resumableBytes = await directories.keptParts.settle();
  }
  const error = errorOf(end, recorder);
  if (order.isSingleFile && !order.options.dryRun) {
    if (counts.resumableBytes > 0) progress.note(`${order.fileNames[0]}: ${resumableLine(counts.resumableBytes)}`);
    return error;
  }
  const { bytes, requests } = limits;
  const summary = { ...end, exitCode: error?.exitStatus ?? 0, ms: world.monotonic() - startedAt, bytes, requests };
  if (end.stoppedBy?.code === 'limit' && limits.isRepeated) {
    progress.note('warning: the next run begins again at the first file: existing files are compared or overwritten');
  }
  recorder.write((time) => batchSummaryLine(counts, summary, time));
  progress.note(batchSummary(counts, summary));
  return error;
}

/** Returns the lines of the arguments or of the input in small groups, and a function that closes the input. */
function openLines({ input, accessions, fileNames, isChosen }: Order, world: World, note: (text: string) => void) {
  async function* argumentLines(): AsyncGenerator<readonly Line[]> {
    const files = isChosen ? [undefined] : fileNames;
    yield accessions.flatMap((accession) => files.map((file) => ({ kind: 'entry', accession, file })));
  }
  if (input === undefined) return { lines: argumentLines(), close() {} };
  const stream = openInput(input, world, note);
  return {
    lines: readLines(stream, note),
    close() {
      stream.destroy();
    },
  };
}

async function createBatch(
  { order, session, limits, runFiles, checksums, listedSizes, directories, world }: Run,
  input: AsyncIterable<readonly Line[]>,
  recorder: Recorder,
  done: DoneList | undefined,
): Promise<Batch> {
  const { isChosen, layout, query, options } = order;
  const { client, progress, settings, signal } = session;
  const { counts } = recorder;
  const { monotonic } = world;
  const { dryRun } = options;
  const files: FileDeps = {
    targetOf: targetsOf(order, world),
    displayPathOf: displayPathsOf(order, world.platform),
    runFiles,
    stream: await streamOf(order, world),
    fetching: { client, directories, listedSizes, monotonic },
    checksums,
    limits,
    throttle: options.limitRate === undefined ? undefined : new Throttle(options.limitRate, world),
    progress,
    counts,
    isDryRun: dryRun,
  };
  const onRetry = () => {
    counts.retries += 1;
  };
  const selection: BatchOptions['selection'] = {
    isSelected: isChosen,
    layout,
    jobs: settings.jobs,
    decideStart: () => limits.decideStart(),
    async list(accession, stop) {
      if (limits.decideStart() === 'end') throw limits.error;
      const end = limits.start();
      const listing = await listFiles(session, accession, query, stop, onRetry).finally(() => end(false));
      if (listing.isPrimaryOnly && options.all) {
        progress.note(`${accession}: the listing names only the primary document; the filing may have more files`);
      }
      return listing.files;
    },
    isAlreadyDone(accession) {
      if (!done?.has(accession)) return false;
      counts.done += 1;
      return true;
    },
  };
  const { noteFailure } = directories.keptParts;
  const { hintCommand } = client.options;
  return new Batch({ input, selection, files, recorder, limits, hintCommand, noteFailure, signal, world });
}

/** Adds the line of the whole batch to the progress. */
function showBatchProgress({ selection }: Batch, counts: Counts, { session: { progress }, listedSizes }: Run): void {
  progress.overall(() => {
    const { files: total, sizes } = selection;
    // A batch of one file shows only the bar of the file.
    if (total === 1) return undefined;
    const { ended } = counts;
    const { skipped, failed } = counts.files;
    const known = sizes && !listedSizes.ignored ? sizes : undefined;
    return {
      ...{ files: counts.total, total, skipped, failed },
      endedBytes: ended.bytes,
      sizes: known && { bytes: known.bytes + ended.unsizedBytes, unsized: known.unsized - ended.unsized },
    };
  });
}

/** Returns the error of the run: the single file's own error, unless a signal or the deadline stopped the batch. */
function errorOf(end: BatchEnd, { singleError, counts }: Recorder): FilingsError | undefined {
  if (singleError && end.stoppedBy?.isTimeUp !== true) return singleError;
  const failures = new Set(counts.failures.keys());
  return batchError({ ...end, files: counts.total, failed: counts.files.failed, failures });
}
