// Runs `download`: checks the command line, opens the session and the outputs, runs the batch, and returns the exit status
// or throws the error of the run. How a batch and a single download work is in batch/ and transfer/.
import { resolve } from 'node:path';
import { Batch } from '../../batch/batch.ts';
import type { FileDeps } from '../../batch/files.ts';
import { Limits, Throttle } from '../../batch/limits.ts';
import { Recorder } from '../../batch/recorder.ts';
import { Counts, describeBatch, describeResumable, formatSummaryLine } from '../../batch/report.ts';
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
import { protectRunFiles } from './run-files.ts';
import type { OPTIONS } from './spec.ts';
import { createTargetFinder, findCommonDirectory, findStream, openOutputs } from './targets.ts';

/** The number of the signal for writing to a pipe whose reader has closed it. */
const SIGPIPE = 13;

interface Run {
  readonly order: Order;
  readonly session: Session;
  readonly files: FileDeps;
  readonly outputs: Awaited<ReturnType<typeof openOutputs>>;
  readonly recorder: Recorder;
  readonly world: World;
}

export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const order = readOrder(args, options, world);
  const { dryRun, limitRate } = options;
  const resolved = await resolveSettings(flags, world);
  const findRunFileError = await protectRunFiles(order, resolved, world);
  const limits = new Limits(dryRun ? {} : options, world.monotonic);
  const stdinUser = options.input === '-' ? '--input -' : undefined;
  const writesStdout = order.output === '-' || order.report === '-' || dryRun;
  const session = await openSession(flags, world, { stdinUser, writesStdout, meter: limits, resolved });
  try {
    const directories = new Directories(world);
    if (order.output === undefined && !dryRun)
      await directories.prepare({ directory: resolve(world.cwd, order.directory), below: '.' });
    const files: FileDeps = {
      findTarget: createTargetFinder(order, world),
      findRunFileError,
      stream: await findStream(order, world),
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
      flushChecksums: async () => files.checksums?.flush(),
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

/** A reader such as `head` may close the pipe early. That ends the plan of a dry run, but it is not a failure. */
function isClosedPipe(error: unknown): boolean {
  return error instanceof FilingsError && error.signal === SIGPIPE;
}

/**
 * Runs the batch, closes its outputs and writes the failed list. Returns the error of the run. Throws defects, and a
 * failure to write if there is no earlier error.
 */
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
    // The list is written only now, because this run may be reading the old list through a pipe.
    await replaceFile(resolve(world.cwd, failed), recorder.failedList, world, { mode: 0o666 });
    // Suggests a retry only if the list has a line that is not a comment. Invalid lines of the input are comments.
    return error && /^[^#\n]/m.test(recorder.failedList) ? withRetryHint(error, failed, order) : error;
  } catch (failure) {
    // This failure must not hide the earlier error. If the codes are equal, the cause is probably the same full disk.
    if (error === undefined || !(failure instanceof FilingsError)) throw failure;
    if (error.code !== failure.code) session.progress.failure(failure);
    return error;
  }
}

function withRetryHint(error: FilingsError, failed: string, { fileNames, layout, output }: Order): FilingsError {
  if (output !== undefined) return error;
  const place = fileNames.length > 0 ? ` and --layout ${shellWord(layout.template)}` : '';
  const source = fileNames.length > 0 ? 'ACCESSION and FILE' : 'ACCESSION or the input';
  const retry = `to retry the failed files, run the same command with -i ${shellWord(failed)}${place} instead of ${source}, and with another --failed file`;
  return error.with({ hint: error.stopsRun && error.hint !== undefined ? `${error.hint}; ${retry}` : retry });
}

/** Runs the batch and prints its summary. Returns the error of the run. */
async function runBatch(run: Run): Promise<FilingsError | undefined> {
  const { order, session, files, recorder, world } = run;
  const { options, isSingleFile, fileNames, output, layout } = order;
  const { progress, limits, counts } = files;
  const startedAt = world.monotonic();
  const { lines, close } = openLines(order, world, progress);
  const selection = createSelectionOptions(run, lines);
  const batch = new Batch({ selection, files, recorder, signal: session.signal, world });
  if (!isSingleFile) showBatchProgress(batch, files);
  const end = await batch.run().finally(close);
  counts.resumableBytes = files.fetching.directories.keptBytes;
  const error = decideRunError(end, run);
  if (isSingleFile && !options.dryRun) {
    if (counts.resumableBytes > 0) progress.note(`${fileNames[0]}: ${describeResumable(counts.resumableBytes)}`);
    return error;
  }
  const { bytes, requests } = limits;
  const ms = world.monotonic() - startedAt;
  const place = findCommonDirectory(order, world);
  const summary = { ...end, exitCode: error?.exitStatus ?? 0, place, ms, bytes, requests };
  recorder.write((time) => formatSummaryLine(counts, summary, time));
  progress.note(describeBatch(counts, summary));
  if (options.dryRun && fileNames.length > 0 && output === undefined)
    progress.note(`to use these lines with --input, add --layout ${shellWord(layout.template)}`);
  return error;
}

/** Returns the lines of `--input`, or the arguments as lines, and a function that closes the input. */
function openLines(
  { options, accessions, fileNames, isSelected }: Order,
  world: World,
  { note, warn }: Session['progress'],
) {
  async function* argumentLines(): AsyncGenerator<readonly Line[]> {
    const files = isSelected ? [undefined] : fileNames;
    yield accessions.flatMap((accession) => files.map((file) => ({ kind: 'entry', accession, file })));
  }
  if (options.input === undefined) return { lines: argumentLines(), close() {} };
  const stream = openInput(options.input, world, note);
  return { lines: readLines(stream, warn), close: () => void stream.destroy() };
}

function createSelectionOptions(
  { order, session, files: { limits, counts }, outputs: { done } }: Run,
  lines: AsyncIterable<readonly Line[]>,
): SelectionOptions {
  const onRetry = () => {
    counts.retries += 1;
  };
  return {
    lines,
    isSelected: order.isSelected,
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

function showBatchProgress({ tally }: Batch, { progress, counts }: FileDeps): void {
  progress.overall(() => {
    const total = tally.hasInputEnded && tally.pending === 0 ? tally.files : undefined;
    // For a single file, its own bar is enough.
    if (total === 1) return undefined;
    const { skipped, failed } = counts.files;
    const allBytes = total !== undefined && tally.unsized === 0 ? tally.bytes : undefined;
    return { files: counts.total, total, skipped, failed, endedBytes: counts.endedBytes, allBytes };
  });
}

/** A run for one file or filing ends with its own error, unless a signal or the deadline stopped the run. */
function decideRunError(end: BatchEnd, { order: { options }, recorder, files }: Run): FilingsError | undefined {
  if (options.dryRun && isClosedPipe(end.stoppedBy)) return undefined;
  if (recorder.singleError && end.stoppedBy?.isTimeUp !== true) return recorder.singleError;
  const { downloaded, resumed, failed } = files.counts.files;
  const error = batchError({ ...end, files: files.counts.total, failed, permanent: files.counts.permanent });
  if (error?.code !== 'limit') return error;
  // The next run stops at the same file if this one completed none, or if --if-exists overwrite makes it start over.
  const isStuck = downloaded + resumed === 0 || options.ifExists === 'overwrite';
  const hint = isStuck ? 'raise the limit: otherwise the next run gets no further' : 'run it again to continue';
  return error.with({ hint });
}
