// Runs `download`: opens the session and the outputs, runs a batch, even for a single file, and works out its error.
import { createChildController } from '../../abort.ts';
import { Batch } from '../../batch/batch.ts';
import { Counts } from '../../batch/counts.ts';
import { createNameCheck } from '../../batch/name-check.ts';
import { Recorder } from '../../batch/recorder.ts';
import { describeBatch, describeResumable, formatSummaryLine } from '../../batch/report.ts';
import { Selection } from '../../batch/selection.ts';
import { type BatchEnd, batchError } from '../../batch/verdict.ts';
import { createChecksumFiles } from '../../checksums/sums-files.ts';
import { replaceFile } from '../../disk/atomic-write.ts';
import { Directories } from '../../disk/directory.ts';
import { FilingsError } from '../../errors.ts';
import { type Entry, type Line, openLines } from '../../input/lines.ts';
import { listFiles, openSession, type Session } from '../../session/session.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/command.ts';
import { isClosedStdout } from '../../stdio/output.ts';
import { isTerminalPath } from '../../stdio/output-path.ts';
import { shellWord } from '../../text.ts';
import { createThrottle } from '../../transfer/throttle.ts';
import type { World } from '../../world.ts';
import { type DownloadArgs, parseArguments, requireSafeNames } from './arguments.ts';
import { protectRunFiles } from './run-files.ts';
import type { OPTIONS } from './spec.ts';
import { createTargetFinder, findCommonDirectory, findStream, openOutputs } from './targets.ts';

interface Run {
  readonly args: DownloadArgs;
  readonly session: Session;
  readonly counts: Counts;
  readonly world: World;
  readonly batch: Batch;
  readonly recorder: Recorder;
  readonly isStream: boolean;
}

/** Returns the exit status, or throws the error of the run. */
export async function run(invocation: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const { options, flags } = invocation;
  const args = parseArguments(invocation.args, options, world);
  const { dryRun } = options;
  const resolved = await resolveSettings(flags, world);
  const protectedPaths = await protectRunFiles(args, resolved, world);
  requireSafeNames(args, protectedPaths);
  // A dry run shows all files, and not only those that one limited run would reach. So it ignores the limits, even
  // --max-requests, although it may request listings.
  const counts = new Counts(dryRun ? {} : options, world.monotonic);
  const outputs = [args.options.output ?? '', args.options.report ?? ''];
  const writesStdout = outputs.includes('-') || dryRun;
  const writesTerminal = (writesStdout && world.stdout.isTTY) || outputs.some(isTerminalPath);
  const session = await openSession(flags, world, { input: options.input, writesTerminal, meter: counts, resolved });
  // Aborts for whatever stops the batch, such as an output that cannot be written.
  const canceller = createChildController(world.interrupt);
  let input: ReturnType<typeof openLines> | undefined;
  try {
    input = openLines(listEntries(args), options.input, world, session.progress);
    const error = await downloadAll(
      await openRun({ args, session, counts, world }, protectedPaths, input.lines, canceller),
    );
    // A limit that the user set is not a failure, so with --quiet only the exit status shows it.
    if (error?.code === 'limit' && session.settings.quiet) return error.exitStatus;
    if (error) throw error;
    return 0;
  } catch (error) {
    if (isClosedDryRun(error, args)) return 0;
    throw error;
  } finally {
    input?.closeInput();
    canceller.detach();
    await session.close();
  }
}

async function openRun(
  shared: Omit<Run, 'batch' | 'recorder' | 'isStream'>,
  protectedPaths: ReadonlyMap<string, string>,
  lines: AsyncIterable<readonly Line[]>,
  canceller: ReturnType<typeof createChildController>,
): Promise<Run> {
  const { args, session, counts, world } = shared;
  const { isSingleFile, nameFilter, layout, options, root } = args;
  const { dryRun, failed, limitRate, output, query } = options;
  const { client, progress, settings } = session;
  const { signal, abort: cancel } = canceller;
  const directories = new Directories(root, output === undefined, world);
  // Before anything is requested.
  if (output === undefined && !dryRun) directories.open(root);
  const stream = await findStream(args, world);
  const findTarget = createTargetFinder(args, world.platform, stream);
  const outputs = await openOutputs(args, session, world, cancel);
  const { done } = outputs;
  const checksums = options.checksums && !dryRun ? createChecksumFiles(directories) : undefined;
  const throttle = limitRate === undefined ? undefined : createThrottle(limitRate, world);
  const context = { client, directories, checksums, throttle, progress, isDryRun: dryRun, world, signal };
  const recorder = new Recorder({
    ...outputs,
    counts,
    writesFailedLines: failed !== undefined,
    progress,
    printsFiles: !dryRun && (isSingleFile || settings.verbose),
    singleTarget: isSingleFile ? 'file' : args.accessions.length === 1 ? 'filing' : undefined,
    world,
    cancel,
  });
  const selection = new Selection({
    lines,
    nameFilter,
    checkName: createNameCheck(layout, protectedPaths),
    counts,
    jobs: settings.jobs,
    signal,
    async list(accession) {
      // The batch stops at this error, and starts nothing more.
      if (counts.limitError) throw counts.limitError;
      await done?.forget(accession);
      return (await listFiles(session, accession, query, signal)).files;
    },
    isDone: (accession) => done?.has(accession) === true,
  });
  const batch = new Batch({ context, selection, counts, jobs: settings.jobs, findTarget, recorder, cancel });
  return { ...shared, batch, recorder, isStream: stream !== undefined };
}

/** A reader such as `head` may close the pipe early. That ends the list of a dry run, but it is not a failure. */
function isClosedDryRun(error: unknown, { options }: DownloadArgs): boolean {
  return options.dryRun && options.report !== '-' && isClosedStdout(error);
}

/** Returns the error of the run. Throws only bugs. */
async function downloadAll(run: Run): Promise<FilingsError | undefined> {
  const { args, session, recorder, world } = run;
  const { options, paths } = args;
  let error = await runBatch(run).catch(async (failure) => {
    // A second failure is ignored, because this one is a bug and must be seen.
    await recorder.close().catch(() => {});
    throw failure;
  });
  // Must neither hide an earlier error nor keep the failed list from being written.
  const addFailure = (failure: unknown) => {
    if (!(failure instanceof FilingsError)) throw failure;
    // If the causes are equal, this failure has stopped the run, so it is printed as the error of the run.
    if (error && error.cause !== failure.cause) session.progress.reportFailure(failure);
    error ??= failure;
    return error;
  };
  await recorder.close().catch(addFailure);
  if (paths.failed === undefined || options.dryRun) return error;
  const { failedLines } = recorder;
  // Suggests a retry only if the list has something to retry. An invalid line of the input is in it as a comment,
  // which begins with `#`.
  const withHint = () => (error && /^[^#\n]/m.test(failedLines) ? withRetryHint(error, run) : error);
  // The list is written only now, because this run may be reading the old list through a pipe.
  return replaceFile(paths.failed, failedLines, world, { mode: 0o666 }).then(withHint, addFailure);
}

function withRetryHint(error: FilingsError, { args: { fileNames, layout, options }, recorder }: Run): FilingsError {
  // --output is for a single file, and cannot be used with -i. The same command, run again, retries the file.
  if (options.output !== undefined) return error;
  // The default layout is {file_name} with FILE arguments, but {accession_no}/{file_name} with --input.
  const layoutOption = fileNames.length > 0 ? ` --layout ${shellWord(layout.template)}` : '';
  const source = fileNames.length > 0 ? 'ACCESSION and FILE' : 'ACCESSION or --input';
  const retry = `to retry the failed files, replace ${source} with -i ${shellWord(options.failed ?? '')}${layoutOption}, and choose another file for --failed`;
  // Unlike the hint of a batch with failed files, the hint of such an error names a cause that must be removed first.
  const namesCause = error.stopsRun || error === recorder.singleError;
  return error.with({ hint: namesCause && error.hint !== undefined ? `${error.hint}; ${retry}` : retry });
}

/** Returns the error of the run. */
async function runBatch(run: Run): Promise<FilingsError | undefined> {
  const { args, session, counts, batch, isStream, recorder, world } = run;
  const { options, isSingleFile, fileNames, layout } = args;
  const { progress } = session;
  if (!isSingleFile) showBatchProgress(counts, progress);
  const end = await batch.run();
  const error = decideRunError(end, run);
  // The result of a single file is already its own line or error, so it needs no summary.
  if (isSingleFile && !options.dryRun) {
    if (counts.keptBytes > 0) progress.note(`${fileNames[0]}: ${describeResumable(counts.keptBytes)}`);
    else if (error?.isInterruption && counts.receivedBytes > 0 && !isStream)
      progress.note(`${fileNames[0]}: stopped; no part was kept, so the next run begins at the first byte`);
    return error;
  }
  const directory = findCommonDirectory(args, world.platform);
  const summary = { ...end, exitCode: error?.exitStatus ?? 0, directory, isDryRun: options.dryRun };
  recorder.addReportLine((time) => formatSummaryLine(counts, summary, time));
  progress.note(describeBatch(counts, summary));
  if (options.dryRun && fileNames.length > 0 && options.output === undefined)
    progress.note(`to use these lines with --input, add --layout ${shellWord(layout.template)}`);
  return error;
}

/** Those of the arguments, as if they were lines of `--input`. */
function listEntries({ accessions, fileNames, nameFilter }: DownloadArgs): readonly Entry[] {
  // There is either a filter or FILE arguments. An entry without a file is a whole filing.
  const names = nameFilter ? [undefined] : fileNames;
  return accessions.flatMap((accession) => names.map((fileName): Entry => ({ kind: 'entry', accession, fileName })));
}

function showBatchProgress(counts: Counts, progress: Session['progress']): void {
  progress.showBatch(() => {
    const { files, filings, pendingListings, hasInputEnded, listedBytes, filesWithoutSize, endedFiles, endedBytes } =
      counts;
    const allFiles = hasInputEnded && pendingListings === 0 ? files : undefined;
    // For a single file, its own bar is enough.
    if (allFiles === 1) return undefined;
    const { skipped, failed } = counts.byResult;
    const allBytes = allFiles !== undefined && filesWithoutSize === 0 ? listedBytes : undefined;
    const endedFilings = filings > 0 ? counts.endedFilings : undefined;
    const allFilings = hasInputEnded ? filings : undefined;
    return { endedFiles, allFiles, endedFilings, allFilings, skipped, failed, endedBytes, allBytes };
  });
}

/** A run for one file or filing ends with its error instead of `1 of 1 files failed`, unless it was interrupted. */
function decideRunError(end: BatchEnd, { args, recorder, counts }: Run): FilingsError | undefined {
  if (isClosedDryRun(end.stoppedBy, args)) return undefined;
  if (recorder.singleError && end.stoppedBy?.isInterruption !== true) return recorder.singleError;
  const { downloaded, resumed, failed } = counts.byResult;
  const error = batchError({ ...end, ended: counts.endedFiles, failed, permanent: counts.permanentFailures });
  if (error?.code !== 'limit') return error;
  // A limit never cuts off a download: it only keeps another one from starting. So if this run completed no file,
  // something else used up the limit, for example listings, and would do so again in the next run. With --if-exists
  // overwrite, the next run starts over and stops at the same place.
  const isStuck = downloaded + resumed === 0 || args.options.ifExists === 'overwrite';
  return isStuck ? error.with({ hint: 'raise the limit: otherwise the next run gets no further' }) : error;
}
