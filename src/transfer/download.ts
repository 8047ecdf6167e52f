// Downloads one file to the disk or to a stream. For the disk, a plan says whether to fetch the file, skip an existing
// one, or fail. A part is a download's temporary file, which a later run may resume. A failure is returned as an
// outcome instead of thrown, because the batch continues with the other files.
import { existsSync, lstatSync } from 'node:fs';
import type { Directories, DirectoryLocation } from '../disk/directory.ts';
import { FilingsError } from '../errors.ts';
import type { ServiceClient } from '../service/client.ts';
import type { ByteWriter } from '../stdio/byte-writer.ts';
import { choosePlan, type FilePlan, type PlanOptions, type SkipPlan } from './file-plan.ts';
import { checkExisting } from './hashes.ts';
import type { Job, Watcher } from './job.ts';
import type { Outcome, RemoteFile } from './outcome.ts';
import { keptPath, Part } from './part.ts';
import { Pipe } from './pipe.ts';
import { fetchInto } from './transfer.ts';

/** What all downloads of a run share. */
export interface FetchContext {
  readonly client: ServiceClient;
  readonly directories: Directories;
  readonly monotonic: () => number;
}

/** Where a file is saved, and what happens if a file already exists there. */
export interface DiskTarget extends PlanOptions {
  /** The absolute path of the file. */
  readonly path: string;
  /** The directory of the file, and which segments of its path may be created or be symbolic links. */
  readonly location: DirectoryLocation;
}

/** An outcome to which `runToOutcome` adds what it knows itself. */
type PartialOutcome = Partial<Outcome> & Pick<Outcome, 'result' | 'bytes'>;

/** Chooses the plan for a file, depending on what exists at its final path now. */
export function planDownload(target: DiskTarget): FilePlan {
  try {
    return choosePlan(lstatSync(target.path, { throwIfNoEntry: false }), target);
  } catch {
    // For example, this user may not enter the directory (EACCES). Writing the file will report the error.
    return { kind: 'fetch' };
  }
}

/** Carries out the plan for a file on the disk. Failures are outcomes, so it throws only if this program has a bug. */
export function saveToDisk(
  remoteFile: RemoteFile,
  target: DiskTarget,
  plan: FilePlan,
  context: FetchContext,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  const { sha256: expectedSha256, writesChecksums, displayPath } = target;
  const needsHash = expectedSha256 !== undefined || writesChecksums;
  const job = { client: context.client, remoteFile, signal, watcher, expectedSha256, needsHash, requestCount: 0 };
  return runToOutcome(job, displayPath, context, async () => {
    if (plan.kind === 'fail') throw plan.error;
    return plan.kind === 'fetch' ? fetchToDisk(job, target, context) : skipExisting(target, plan, context, signal);
  });
}

/**
 * Fetches a file. If a file has the final name when the fetch is complete, `--if-exists` decides: that file is
 * replaced, or it stays and the result is `skipped`, or the fetch fails (with `compare`, if the two have different
 * bytes).
 */
async function fetchToDisk(job: Job, target: DiskTarget, { directories }: FetchContext): Promise<PartialOutcome> {
  const part = new Part(job, target, directories);
  await part.claim();
  const { commitResult, ...fetched } = await fetchInto(job, part);
  if (commitResult === 'committed') return fetched;
  // Another run may have created the existing file and died before it flushed the directory. An earlier flush by this
  // run may not cover that file, so the directory is flushed again.
  await directories.prepare(target.location).flush();
  const skipped = { result: 'skipped', bytes: lstatSync(target.path).size } as const;
  // If the existing file was not compared, the hash and ETag of the fetched bytes say nothing about it.
  return commitResult === 'same' ? { ...fetched, ...skipped, isSame: true } : skipped;
}

/**
 * For a file whose plan is `skip`: returns whether the batch can save itself the call of `saveToDisk`, because the
 * file's directory entry is flushed and there is no kept part (an earlier run's unfinished download) to remove. Not for
 * the plans `check` and `list`, whose files must still be hashed.
 */
export function skipNeedsNoWork(target: DiskTarget, { directories }: FetchContext): boolean {
  const directory = directories.getRemembered(target.location);
  return directory?.areExistingEntriesFlushed === true && !existsSync(keptPath(target));
}

/**
 * Skips an existing file. If the plan is `check`, checks its hash first. If the plan is `list`, the batch hashes it
 * later, when it adds the file to SHA256SUMS. A dry run does no more. Any other run removes the kept part (nobody
 * resumes the download of a complete file) and flushes the file's directory entry (the run that created the file may
 * have died before its own flush).
 */
async function skipExisting(
  target: DiskTarget,
  { kind, bytes }: SkipPlan,
  { directories }: FetchContext,
  signal: AbortSignal,
): Promise<PartialOutcome> {
  const { path, displayPath, location, sha256, isDryRun } = target;
  const hash = kind === 'check' ? await checkExisting(path, displayPath, sha256, signal) : undefined;
  if (isDryRun) return { result: 'skipped', bytes, sha256: hash };
  // A part that stays behind does no harm, so a failure is ignored.
  if (existsSync(keptPath(target))) await directories.nameOperations.remove(keptPath(target)).catch(() => {});
  await directories.prepare(location).flushExistingEntries();
  return { result: 'skipped', bytes, sha256: hash };
}

/** A pipe, a device or standard output. */
export interface StreamTarget {
  /** Opens the stream. It may wait until a FIFO has a reader. */
  readonly open: (signal: AbortSignal) => Promise<ByteWriter>;
  /** The hash of `--sha256`. */
  readonly sha256?: string | undefined;
}

/** Downloads a file to a stream. Failures are outcomes, so it throws only if this program has a bug. */
export function fetchToStream(
  remoteFile: RemoteFile,
  { open, sha256: expectedSha256 }: StreamTarget,
  context: FetchContext,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  const needsHash = expectedSha256 !== undefined;
  const job = { client: context.client, remoteFile, signal, watcher, expectedSha256, needsHash, requestCount: 0 };
  return runToOutcome(job, null, context, async () => fetchInto(job, new Pipe(await open(signal), signal)));
}

/**
 * Returns the outcome of `work`. A `FilingsError` becomes the outcome `failed`. Any other error is a bug, and is
 * thrown. `path` is null for a stream.
 */
async function runToOutcome(
  job: Job,
  path: string | null,
  { monotonic }: FetchContext,
  work: () => Promise<PartialOutcome>,
): Promise<Outcome> {
  const startMs = monotonic();
  const outcome = await work().catch((error: unknown) => {
    if (!(error instanceof FilingsError)) throw error;
    return { result: 'failed', bytes: 0, verifiedLength: false, error } as const;
  });
  // Read only now, because the transfer has counted its requests in the job.
  const attempts = job.requestCount;
  // A skipped file sets no `verifiedLength`. Its length is not in doubt, so the default is true.
  return { path, resumedBytes: 0, verifiedLength: true, ...outcome, attempts, ms: monotonic() - startMs };
}
