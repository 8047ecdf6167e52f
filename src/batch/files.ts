// Plans one file of a batch and carries the plan out. The plan is to `fetch` the file, to `fail`, or to keep the
// existing file. Three plans keep it: `skip` does not read it, `check` checks its hash first, and `list` adds it to
// SHA256SUMS. A failure is an outcome and not an exception, because the batch continues with the next file.
import { basename, dirname } from 'node:path';
import type { ChecksumFiles } from '../checksums/sums-files.ts';
import { hashFile } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';
import type { Progress } from '../terminal/progress.ts';
import {
  type DiskTarget,
  type FetchContext,
  fetchToStream,
  planDownload,
  type StreamTarget,
  saveToDisk,
  skipNeedsNoWork,
} from '../transfer/download.ts';
import type { FilePlan } from '../transfer/file-plan.ts';
import type { Watcher } from '../transfer/job.ts';
import { describeRetry, type Outcome, outcomeWithoutRequest } from '../transfer/outcome.ts';
import type { FileItem } from './item.ts';
import type { Limits, Throttle } from './limits.ts';
import type { Counts } from './report.ts';

/** With `--limit-rate`, how many bytes the progress bar advances at once. */
const THROTTLE_STEP = 16_384;

/** What all files of a batch share. */
export interface FileDeps {
  readonly findTarget: (file: FileItem) => DiskTarget;
  /** Returns the error for a download that would replace a file that the run itself uses, such as its report. */
  readonly findRunFileError: (path: string, displayPath: string) => FilingsError | undefined;
  /** Set if the single file of the run is written to stdout, to a device or to a pipe. */
  readonly stream: StreamTarget | undefined;
  readonly fetching: FetchContext;
  /** For `--checksums`. */
  readonly checksums: ChecksumFiles | undefined;
  readonly limits: Limits;
  /** For `--limit-rate`. */
  readonly throttle: Throttle | undefined;
  readonly progress: Progress;
  readonly counts: Counts;
  readonly isDryRun: boolean;
}

export interface PlannedFile {
  readonly item: FileItem;
  readonly target: DiskTarget;
  readonly plan: FilePlan;
}

export function planFile(item: FileItem, { findTarget, stream, findRunFileError }: FileDeps): PlannedFile {
  const target = findTarget(item);
  // A stream has no existing file to keep, and its `target` is not used.
  if (stream) return { item, target, plan: { kind: 'fetch' } };
  const error = findRunFileError(target.path, target.displayPath);
  return { item, target, plan: error ? { kind: 'fail', error } : planDownload(target) };
}

/** Returns the outcome if the plan needs no work. Otherwise returns undefined, and `carryOut` must be called. */
export function outcomeWithoutWork({ item, target, plan }: PlannedFile, deps: FileDeps): Outcome | undefined {
  const { stream, isDryRun, fetching } = deps;
  const path = stream ? null : target.displayPath;
  if (plan.kind === 'fail') return outcomeWithoutRequest('failed', path, 0, plan.error);
  if (isDryRun && plan.kind === 'fetch') return outcomeWithoutRequest('planned', path, item.size ?? 0);
  // Even a skip may have work: to flush the directory, and to remove the partial file that an earlier run has kept. A
  // dry run does neither.
  const isSkipped = plan.kind === 'skip' && (isDryRun || skipNeedsNoWork(target, fetching));
  return isSkipped ? outcomeWithoutRequest('skipped', path, plan.bytes) : undefined;
}

/**
 * Carries out a plan that needs work and returns the outcome. If it fetches the file, it calls `onFetched` with the
 * size of the file when all bytes have arrived, before they are flushed to disk. Throws only if this program has a bug.
 */
export async function carryOut(
  { item, target, plan }: PlannedFile,
  { stream, fetching, checksums, limits, throttle, progress, counts }: FileDeps,
  signal: AbortSignal,
  onFetched?: (bytes: number) => void,
): Promise<Outcome> {
  const bar = progress.addFile(item.fileName);
  const watcher: Watcher = {
    onAttempt: bar.beginResponse,
    async onReceived(bytes) {
      limits.bytes += bytes;
      // The transfer waits for the returned promise before it reads more. With a limited rate, up to 1 MiB may arrive
      // at once, so the bar shows the bytes as they become due.
      for (let left = bytes; throttle && left > 0; left -= THROTTLE_STEP) {
        const step = Math.min(left, THROTTLE_STEP);
        await throttle.delay(step, signal);
        bar.advance(step);
      }
      if (!throttle) bar.advance(bytes);
    },
    async onComplete(bytes, sha256) {
      onFetched?.(bytes);
      // Only `overwrite` replaces a file. Its line in SHA256SUMS has the hash of the old bytes, so the line becomes a
      // comment before the file is replaced. With `--checksums`, `sha256` is always known here.
      if (stream || target.ifExists !== 'overwrite' || sha256 === undefined) return;
      await checksums?.commentOutStaleLines(dirname(target.path), basename(target.path), sha256);
    },
    onRetry(event) {
      counts.retries += 1;
      bar.noteWait(describeRetry(event));
    },
  };
  const fetched = stream
    ? await fetchToStream(item, stream, fetching, signal, watcher)
    : await saveToDisk(item, target, plan, fetching, signal, watcher);
  if (fetched.bytes === 0 && fetched.result === 'downloaded')
    progress.warnAboutFile(`${fetched.path ?? item.fileName}: the file is empty`);
  const outcome = checksums && !stream ? await addChecksum(fetched, target, checksums, signal) : fetched;
  bar.finish();
  // Only a file that was selected from a listing (the service's list of a filing's files) has a `filing`.
  return item.filing ? withListingHint(outcome) : outcome;
}

/** Replaces the usual hint for a file that is not found, which is to check its name: a listed name cannot be wrong. */
function withListingHint(outcome: Outcome): Outcome {
  if (outcome.error?.code !== 'not_found') return outcome;
  const hint = 'the file is in the listing, but the service does not have it: run it again later';
  return { ...outcome, error: outcome.error.with({ hint }) };
}

/**
 * Adds a file to SHA256SUMS. A skipped file that is not in there yet is hashed first. If it is in there, its line stays
 * as it is, and the file is not read.
 */
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
    const sha256 = outcome.sha256 ?? (await hashFile(path, displayPath, signal));
    await sums.add(directory, name, sha256);
    return { ...outcome, sha256 };
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    // The file itself is on disk. But it has no line yet, so it is a failed file, and the next run tries again. Like
    // every failed file it has 0 bytes in the report.
    return { ...outcome, result: 'failed', bytes: 0, verifiedLength: false, error };
  }
}
