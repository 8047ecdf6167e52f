// Turns one file of a batch into a plan, from the facts about its path, and the plan into an outcome. A failure is an
// outcome, not an exception, because the batch continues with the next file.
import { lstatSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { ChecksumFiles } from '../checksums/append.ts';
import { withDiskError } from '../disk/failure.ts';
import { sha256OfFile } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';
import type { Progress } from '../terminal/progress.ts';
import type { OpenDirectory } from '../transfer/directories.ts';
import {
  type DiskTarget,
  type FetchContext,
  fetchToDisk,
  fetchToStream,
  type StreamTarget,
} from '../transfer/download.ts';
import { findExisting, findExistingSync, NOTHING } from '../transfer/existing.ts';
import { type DecidedPlan, type Existing, type FilePlan, planFile } from '../transfer/file-plan.ts';
import type { Watcher } from '../transfer/job.ts';
import { type Outcome, retryWait } from '../transfer/outcome.ts';
import type { FileItem } from './item.ts';
import type { JobSlot } from './job-slots.ts';
import type { Limits, Throttle } from './limits.ts';
import { outcomeLine } from './outcome-line.ts';
import type { Counts } from './report.ts';

/** The settings and services that all files of a batch share. */
export interface FileDeps {
  readonly targetOf: (file: FileItem) => DiskTarget;
  readonly displayPathOf: (file: FileItem) => string;
  /** Refuses a download that would replace one of the run's own files. */
  readonly runFiles: {
    faultAt(path: string, displayPath: string, stats: Stats | undefined): FilingsError | undefined;
  };
  /** The target of a single file that is not written to a disk. */
  readonly stream: StreamTarget | undefined;
  readonly fetching: FetchContext;
  readonly checksums: ChecksumFiles | undefined;
  readonly limits: Limits;
  readonly throttle: Throttle | undefined;
  readonly progress: Progress;
  readonly counts: Counts;
  readonly isDryRun: boolean;
}

/** Returns the plan for a file, without a promise if the directory is on a local disk and already open. */
export function makePlan(file: FileItem, deps: FileDeps): FilePlan | Promise<FilePlan> {
  const { targetOf, stream, fetching, isDryRun } = deps;
  if (stream) return { kind: isDryRun ? 'planned' : 'download', isRepeated: false };
  const target = targetOf(file);
  const { directories } = fetching;
  const opened = directories.getIfOpen(target.location);
  if (!opened && directories.isMissing(target.location)) return planFor(file, target, deps, NOTHING, undefined);
  const existing = opened && findExistingSync(opened.directory, basename(target.path));
  return existing ? planFor(file, target, deps, existing, opened) : findPlan(file, target, deps);
}

/** Opens the directory first. */
async function findPlan(file: FileItem, target: DiskTarget, deps: FileDeps): Promise<FilePlan> {
  const { path, location } = target;
  try {
    const opened = await deps.fetching.directories.find(location);
    if (!opened) return planFor(file, target, deps, NOTHING, undefined);
    const existing = await withDiskError(path, () => findExisting(opened.directory, basename(path)));
    return planFor(file, target, deps, existing, opened);
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return { kind: 'fail', error };
  }
}

function planFor(
  { pathOwner }: FileItem,
  target: DiskTarget,
  { runFiles, fetching }: FileDeps,
  existing: Existing,
  opened: OpenDirectory | undefined,
): FilePlan {
  const stats = 'stats' in existing ? existing.stats : undefined;
  return planFile(existing, target, {
    areSizesIgnored: fetching.listedSizes.ignored,
    runFileFault: runFiles.faultAt(target.path, target.displayPath, stats),
    pathOwner,
    isSettled: stats && opened?.leftovers.hasNone(basename(target.path)) && opened.directory.isSettled(stats.ctimeMs),
  });
}

/** Returns the outcome of a plan that needs no work. */
export function outcomeOf(file: FileItem, plan: DecidedPlan, { displayPathOf, stream }: FileDeps): Outcome {
  const path = stream ? null : displayPathOf(file);
  const planned: Outcome = {
    result: 'planned',
    path,
    bytes: 0,
    resumedBytes: 0,
    verifiedLength: true,
    attempts: 0,
    ms: 0,
  };
  if (plan.kind === 'fail') return failedOutcome(planned, plan.error);
  if (plan.kind === 'keep') return { ...planned, result: 'skipped', bytes: plan.bytes };
  return { ...planned, bytes: file.size ?? 0 };
}

/**
 * Returns the outcome of a plan that needs work. `slot` is released once the file needs only the disk. Throws only
 * defects and the signal's reason.
 */
export async function executePlan(
  file: FileItem,
  deps: FileDeps,
  signal: AbortSignal,
  slot?: JobSlot,
): Promise<Outcome> {
  const { targetOf, stream, fetching, checksums, limits, throttle, progress, counts } = deps;
  const bar = progress.start(file.fileName, file.size);
  const watcher: Watcher = {
    total: bar.total,
    received(bytes) {
      limits.bytes += bytes;
      bar.advance(bytes);
      return throttle?.delay(bytes, signal);
    },
    complete(bytes) {
      if (slot?.release(bytes)) bar.complete();
    },
    beforeRefetch: () => slot?.reacquire(),
    warn: progress.note,
    retry(event) {
      counts.retries += 1;
      bar.wait(retryWait(event));
    },
  };
  const target = stream ? undefined : targetOf(file);
  const fetched = target
    ? await fetchToDisk(file, target, fetching, signal, watcher)
    : await fetchToStream(file, stream as StreamTarget, fetching, signal, watcher);
  const outcome = target && checksums ? await addChecksum(fetched, target, checksums, signal) : fetched;
  const isFetched = outcome.result === 'downloaded' || outcome.result === 'resumed';
  // The line replaces the bar.
  bar.finish(isFetched ? outcomeLine(file.fileName, outcome) : undefined);
  return outcome;
}

/** Returns undefined if there is no file, or on an error, which the write will report. */
export function statsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Adds a file to SHA256SUMS. Hashes an existing file that is not listed yet. */
async function addChecksum(
  outcome: Outcome,
  { path, displayPath }: DiskTarget,
  sums: ChecksumFiles,
  signal: AbortSignal,
): Promise<Outcome> {
  if (outcome.error) return outcome;
  const [directory, name] = [dirname(path), basename(path)];
  try {
    if (outcome.result === 'skipped' && (await sums.isListed(directory, name))) return outcome;
    const sha256 = outcome.sha256 ?? (await sha256OfFile(path, displayPath, signal));
    await sums.add(directory, name, sha256);
    return { ...outcome, sha256 };
  } catch (error) {
    return failedOutcome(outcome, error);
  }
}

function failedOutcome(outcome: Outcome, error: unknown): Outcome {
  if (!(error instanceof FilingsError)) throw error;
  return { ...outcome, result: 'failed', bytes: 0, verifiedLength: false, error };
}
