// Runs `download`: takes the parsed command line, connects the session, the outputs and the batch, and returns the exit
// status or throws the error of the run. The decisions are in batch/ and transfer/.
import { resolve } from 'node:path';
import { Batch } from '../../batch/batch.ts';
import type { DoneList } from '../../batch/done-list.ts';
import type { FileDeps } from '../../batch/files.ts';
import { Limits, Throttle } from '../../batch/limits.ts';
import { Recorder } from '../../batch/recorder.ts';
import { batchSummary, batchSummaryLine, type Counts, resumableLine } from '../../batch/report.ts';
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
import { type RunFiles, requireRunFiles } from './run-files.ts';
import type { OPTIONS } from './spec.ts';
import { openOutputs, placeOf, streamOf, targetsOf } from './targets.ts';

/** The signal of a pipe whose reader has gone away. */
const SIGPIPE = 13;

interface Run {
  readonly order: Order;
  readonly session: Session;
  readonly limits: Limits;
  readonly runFiles: RunFiles;
  readonly checksums: ChecksumFiles | undefined;
  readonly directories: Directories;
  readonly world: World;
}

/** Downloads the files. Returns the exit status, or throws the error of the run. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const order = readOrder(args, options, world);
  const resolved = await resolveSettings(flags, world);
  const runFiles = await requireRunFiles(order, resolved, world);
  const limits = new Limits(options.dryRun ? {} : options, world.monotonic);
  const stdinUser = order.input === '-' ? '--input -' : undefined;
  const writesStdout = order.output === '-' || order.report === '-' || options.dryRun;
  const session = await openSession(flags, world, { stdinUser, writesStdout, meter: limits, resolved });
  const checksums = options.checksums && !options.dryRun ? new ChecksumFiles() : undefined;
  try {
    const directories = new Directories(world);
    if (order.output === undefined && !options.dryRun)
      await directories.open({ directory: resolve(world.cwd, order.directory), below: '.' });
    const error = await downloadAll({ order, session, limits, runFiles, checksums, directories, world });
    if (error?.code === 'limit' && session.settings.quiet) return error.exitStatus;
    if (error) throw error;
    return 0;
  } catch (error) {
    if (options.dryRun && isClosedPipe(error)) return 0;
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
  const { order, session, checksums, world } = run;
  const { dryRun } = order.options;
  const { report, plan, done } = await openOutputs(order, session, world);
  const failed = dryRun ? undefined : order.failed;
  const recorder = new Recorder({
    report,
    plan,
    done: dryRun ? undefined : done,
    hasFailedList: failed !== undefined,
    beforeDone: async () => checksums?.flush(),
    progress: session.progress,
    printsFiles: !dryRun && (order.isSingleFile || session.settings.verbose),
    singleTarget: order.isSingleFile ? 'file' : order.accessions.length === 1 ? 'filing' : undefined,
    world,
  });
  const error = await runBatch(run, recorder, done).catch(async (failure) => {
    await recorder.close().catch(() => {});
    throw failure;
  });
  try {
    await recorder.close();
    if (failed === undefined) return error;
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
    counts.resumableBytes = directories.keptBytes;
  }
  const error = errorOf(end, recorder, order);
  if (order.isSingleFile && !order.options.dryRun) {
    if (counts.resumableBytes > 0) progress.note(`${order.fileNames[0]}: ${resumableLine(counts.resumableBytes)}`);
    return error;
  }
  const { bytes, requests } = limits;
  const ms = world.monotonic() - startedAt;
  const summary = { ...end, exitCode: error?.exitStatus ?? 0, place: placeOf(order, world), ms, bytes, requests };
  recorder.write((time) => batchSummaryLine(counts, summary, time));
  progress.note(batchSummary(counts, summary));
  if (order.options.dryRun && order.fileNames.length > 0 && order.output === undefined) {
    progress.note(`to use these lines with --input, add --layout ${shellWord(order.layout.template)}`);
  }
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
  { order, session, limits, runFiles, checksums, directories, world }: Run,
  lines: AsyncIterable<readonly Line[]>,
  recorder: Recorder,
  done: DoneList | undefined,
): Promise<Batch> {
  const { isChosen, layout, query, options } = order;
  const { client, progress, settings, signal } = session;
  const { counts } = recorder;
  const { jobs } = settings;
  const files: FileDeps = {
    targetOf: targetsOf(order, world),
    runFileFault: runFiles.faultAt,
    stream: await streamOf(order, world),
    fetching: { client, directories, monotonic: world.monotonic },
    checksums,
    limits,
    throttle: options.limitRate === undefined ? undefined : new Throttle(options.limitRate, world),
    progress,
    counts,
    isDryRun: options.dryRun,
  };
  const onRetry = () => {
    counts.retries += 1;
  };
  const selection: SelectionOptions = {
    lines,
    isSelected: isChosen,
    layout,
    jobs,
    async list(accession, stop) {
      if (limits.reached) throw limits.reached;
      const listing = await listFiles(session, accession, query, stop, onRetry);
      return listing.files;
    },
    isAlreadyDone(accession) {
      if (!done?.has(accession)) return false;
      counts.done += 1;
      return true;
    },
  };
  return new Batch({ selection, files, recorder, jobs, signal, world });
}

/** Adds the line of the whole batch to the progress. */
function showBatchProgress({ tally }: Batch, counts: Counts, { session: { progress } }: Run): void {
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
function errorOf(end: BatchEnd, { singleError, counts }: Recorder, { options }: Order): FilingsError | undefined {
  if (options.dryRun && isClosedPipe(end.stoppedBy)) return undefined;
  if (singleError && end.stoppedBy?.isTimeUp !== true) return singleError;
  const { files, total, permanent } = counts;
  const error = batchError({ ...end, files: total, failed: files.failed, permanent });
  if (error?.code !== 'limit') return error;
  // With --if-exists overwrite, the next run begins again at the first file.
  const isInVain = files.downloaded + files.resumed === 0 || options.ifExists === 'overwrite';
  return error.with({ hint: isInVain ? 'raise the limit, or no run gets further' : 'run it again to continue' });
}
