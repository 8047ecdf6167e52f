import { lstatSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { ChecksumFiles } from '../checksums/append.ts';
import { withDiskFailure } from '../disk/failure.ts';
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

interface FilesOptions {
  readonly targetOf: (file: FileItem) => DiskTarget;
  /** Refuses what would replace one of the run's own files. */
  readonly runFiles: {
    faultAt(path: string, displayPath: string, stats: Stats | undefined): FilingsError | undefined;
  };
  /** For the one file that is written to no disk. */
  readonly stream: StreamTarget | undefined;
  readonly fetching: FetchContext;
  readonly checksums: ChecksumFiles | undefined;
  readonly limits: Limits;
  readonly throttle: Throttle | undefined;
  readonly progress: Progress;
  readonly counts: Counts;
  readonly isDryRun: boolean;
}

/** Collects the facts for the plan of each file, and carries the plan out. */
export class Files {
  readonly #options: FilesOptions;

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  /** Returns no promise if the directory is on a local disk and was opened before. */
  plan(file: FileItem): FilePlan | Promise<FilePlan> {
    const { targetOf, stream, fetching, isDryRun } = this.#options;
    if (stream) return { kind: isDryRun ? 'planned' : 'download', isRepeated: false };
    const target = targetOf(file);
    const { directories } = fetching;
    const opened = directories.getIfOpen(target.location);
    if (!opened && directories.isMissing(target.location)) return this.#planFor(file, target, NOTHING, undefined);
    const existing = opened && findExistingSync(opened.directory, basename(target.path));
    return existing ? this.#planFor(file, target, existing, opened) : this.#look(file, target);
  }

  /** The outcome of a plan that needs no work. */
  outcomeOf(file: FileItem, plan: DecidedPlan): Outcome {
    const { targetOf, stream } = this.#options;
    const path = stream ? null : targetOf(file).displayPath;
    const nothing: Outcome = {
      result: 'planned',
      path,
      bytes: 0,
      resumedBytes: 0,
      verifiedLength: true,
      attempts: 0,
      ms: 0,
    };
    if (plan.kind === 'fail') return failed(nothing, plan.error);
    if (plan.kind === 'keep') return { ...nothing, result: 'skipped', bytes: plan.bytes };
    return { ...nothing, bytes: file.size ?? 0 };
  }

  /** A failure is an outcome, not an exception. `slot`: released once the file needs only the disk. */
  async carryOut(file: FileItem, signal: AbortSignal, slot?: JobSlot): Promise<Outcome> {
    const { targetOf, stream, fetching, checksums, limits, throttle, progress, counts } = this.#options;
    const shown = progress.start(file.fileName, file.size);
    const watcher: Watcher = {
      total: shown.total,
      received(bytes) {
        limits.bytes += bytes;
        shown.advance(bytes);
        return throttle?.received(bytes, signal);
      },
      complete(bytes) {
        if (slot?.release(bytes)) shown.complete();
      },
      beforeRefetch: () => slot?.reacquire(),
      warn: progress.note,
      retry(event) {
        counts.retries += 1;
        shown.wait(retryWait(event));
      },
    };
    const target = stream ? undefined : targetOf(file);
    const fetched = target
      ? await fetchToDisk(file, target, fetching, signal, watcher)
      : await fetchToStream(file, stream as StreamTarget, fetching, signal, watcher);
    const outcome = target && checksums ? await listed(fetched, target, checksums, signal) : fetched;
    const came = outcome.result === 'downloaded' || outcome.result === 'resumed';
    // The line replaces the bar.
    shown.finish(came ? outcomeLine(file.fileName, outcome) : undefined);
    return outcome;
  }

  async #look(file: FileItem, target: DiskTarget): Promise<FilePlan> {
    const { path, location } = target;
    try {
      const opened = await this.#options.fetching.directories.find(location);
      if (!opened) return this.#planFor(file, target, NOTHING, undefined);
      const existing = await withDiskFailure(path, () => findExisting(opened.directory, basename(path)));
      return this.#planFor(file, target, existing, opened);
    } catch (error) {
      if (!(error instanceof FilingsError)) throw error;
      return { kind: 'fail', error };
    }
  }

  #planFor(
    { pathOwner }: FileItem,
    target: DiskTarget,
    existing: Existing,
    opened: OpenDirectory | undefined,
  ): FilePlan {
    const { runFiles, fetching } = this.#options;
    const stats = 'stats' in existing ? existing.stats : undefined;
    return planFile(existing, target, {
      areSizesIgnored: fetching.listedSizes.ignored,
      runFileFault: runFiles.faultAt(target.path, target.displayPath, stats),
      pathOwner,
      isSettled: stats && opened?.leftovers.hasNone(basename(target.path)) && opened.directory.isSettled(stats.ctimeMs),
    });
  }
}

/** Errors count as absent; the write reports them. */
export function statsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Lists a file in SHA256SUMS. An existing file that is not listed yet is hashed. */
async function listed(
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
    return failed(outcome, error);
  }
}

function failed(outcome: Outcome, error: unknown): Outcome {
  if (!(error instanceof FilingsError)) throw error;
  return { ...outcome, result: 'failed', bytes: 0, verifiedLength: false, error };
}
