// Turns one file of a batch into a plan, and the plan into an outcome. A failure is an outcome, not an exception,
// because the batch continues with the next file.
import { basename, dirname } from 'node:path';
import type { ChecksumFiles } from '../checksums/sums-files.ts';
import { hashFile } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';
import type { Progress } from '../terminal/progress.ts';
import {
  type DiskTarget,
  type FetchContext,
  fetchToStream,
  needsNoWork,
  planFor,
  type StreamTarget,
  saveToDisk,
} from '../transfer/download.ts';
import type { FilePlan } from '../transfer/file-plan.ts';
import type { Watcher } from '../transfer/job.ts';
import { describeRetry, type Outcome, outcomeWithoutRequest } from '../transfer/outcome.ts';
import type { FileItem } from './item.ts';
import type { Limits, Throttle } from './limits.ts';
import type { Counts } from './report.ts';

/** The settings and services that all files of a batch share. */
export interface FileDeps {
  readonly targetOf: (file: FileItem) => DiskTarget;
  /** Refuses a download that would replace one of the run's own files. */
  readonly runFileFault: (path: string, displayPath: string) => FilingsError | undefined;
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

/** A file of a batch, and what will be done about it. */
export interface PlannedFile {
  readonly item: FileItem;
  readonly target: DiskTarget;
  readonly plan: FilePlan;
}

export function planOf(item: FileItem, { targetOf, stream, runFileFault }: FileDeps): PlannedFile {
  const target = targetOf(item);
  if (stream) return { item, target, plan: { kind: 'fetch' } };
  const error = runFileFault(target.path, target.displayPath);
  return { item, target, plan: error ? { kind: 'fail', error } : planFor(target) };
}

/** Returns the outcome of a plan that needs no work, otherwise undefined. */
export function decidedOutcome({ item, target, plan }: PlannedFile, deps: FileDeps): Outcome | undefined {
  const { stream, isDryRun, fetching } = deps;
  const path = stream ? null : target.displayPath;
  if (plan.kind === 'fail') return outcomeWithoutRequest('failed', path, 0, plan.error);
  if (isDryRun && plan.kind === 'fetch') return outcomeWithoutRequest('planned', path, item.size ?? 0);
  const isKept = plan.kind === 'skip' && (isDryRun || needsNoWork(target, fetching));
  return isKept ? outcomeWithoutRequest('skipped', path, plan.bytes) : undefined;
}

/**
 * Returns the outcome of a plan that needs work. `onFetched` is called once the file needs only the disk. Throws only
 * defects and the signal's reason.
 */
export async function save(
  { item, target, plan }: PlannedFile,
  { stream, fetching, checksums, limits, throttle, progress, counts }: FileDeps,
  signal: AbortSignal,
  onFetched?: (bytes: number) => void,
): Promise<Outcome> {
  const bar = progress.start(item.fileName);
  const watcher: Watcher = {
    total: bar.total,
    received(bytes) {
      limits.bytes += bytes;
      bar.advance(bytes);
      return throttle?.delay(bytes, signal);
    },
    async complete(bytes, sha256) {
      onFetched?.(bytes);
      if (stream || target.ifExists !== 'overwrite' || sha256 === undefined) return;
      await checksums?.commentOutStaleLines(dirname(target.path), basename(target.path), sha256);
    },
    retry(event) {
      counts.retries += 1;
      bar.wait(describeRetry(event));
    },
  };
  const fetched = stream
    ? await fetchToStream(item, stream, fetching, signal, watcher)
    : await saveToDisk(item, target, plan, fetching, signal, watcher);
  if (fetched.bytes === 0 && fetched.result === 'downloaded')
    progress.warnAboutFile(`${fetched.path ?? item.fileName}: the file is empty`);
  const outcome = checksums && !stream ? await addChecksum(fetched, target, checksums, signal) : fetched;
  bar.finish();
  return item.filing ? withHintAboutListing(outcome) : outcome;
}

/** Returns the outcome of a listed file. If it was not found, the name in the request cannot be the mistake. */
function withHintAboutListing(outcome: Outcome): Outcome {
  if (outcome.error?.code !== 'not_found') return outcome;
  const hint = 'the listing names this file, but the service does not have it: run it again later';
  return { ...outcome, error: outcome.error.with({ hint }) };
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
    const sha256 = outcome.sha256 ?? (await hashFile(path, displayPath, signal));
    await sums.add(directory, name, sha256);
    return { ...outcome, sha256 };
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return { ...outcome, result: 'failed', bytes: 0, verifiedLength: false, error };
  }
}
