// Downloads one file to the disk or to a stream, as its plan says. A failure is returned as an outcome instead of
// thrown, because the batch continues with the other files.
import { existsSync, lstatSync } from 'node:fs';
import type { Directories, DirectoryLocation } from '../disk/directory.ts';
import { FilingsError } from '../errors.ts';
import type { ServiceClient } from '../service/client.ts';
import type { ByteWriter } from '../stdio/byte-writer.ts';
import { type FilePlan, type FileRequest, planFile } from './file-plan.ts';
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

/** A file of the service and its path on the disk. */
export interface DiskTarget extends FileRequest {
  /** An absolute path. */
  readonly path: string;
  readonly location: DirectoryLocation;
}

/** An outcome to which `runToOutcome` adds what it knows itself. */
type PartialOutcome = Partial<Outcome> & Pick<Outcome, 'result' | 'bytes'>;

/** Returns the plan for a file. */
export function planFor(target: DiskTarget): FilePlan {
  try {
    return planFile(lstatSync(target.path, { throwIfNoEntry: false }), target);
  } catch {
    // For example, this user may not search the directory. Writing the file will report the error.
    return { kind: 'fetch' };
  }
}

/** Carries out the plan for a file on the disk and returns its outcome. Throws only defects. */
export function saveToDisk(
  remoteFile: RemoteFile,
  target: DiskTarget,
  plan: FilePlan,
  context: FetchContext,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  const { sha256: expected, writesChecksums, displayPath } = target;
  const needsHash = expected !== undefined || writesChecksums;
  const job = { client: context.client, remoteFile, signal, watcher, expected, needsHash, attempts: 0 };
  return runToOutcome(job, displayPath, context, async () => {
    if (plan.kind === 'fail') throw plan.error;
    return plan.kind === 'fetch' ? fetchToDisk(job, target, context) : skipExisting(target, plan, context, signal);
  });
}

/** Fetches a file, and returns `skipped` if an existing file kept the name. */
async function fetchToDisk(job: Job, target: DiskTarget, { directories }: FetchContext): Promise<PartialOutcome> {
  const part = new Part(job, target, directories);
  await part.claim();
  const { commitResult, ...fetched } = await fetchInto(job, part);
  if (commitResult === 'committed') return fetched;
  // The existing file may have appeared during this run, so that an earlier flush does not cover its entry.
  await directories.prepare(target.location).flush();
  const skipped = { result: 'skipped', bytes: lstatSync(target.path).size } as const;
  // Without a comparison, the hash and the ETag of the fetched bytes may not be those of the existing file.
  return commitResult === 'same' ? { ...fetched, ...skipped, isSame: true } : skipped;
}

/** Returns whether `skipExisting` would have nothing to do for a plan to skip. */
export function needsNoWork(target: DiskTarget, { directories }: FetchContext): boolean {
  const directory = directories.getRemembered(target.location);
  return directory?.areExistingEntriesFlushed === true && !existsSync(keptPath(target));
}

/** Skips an existing file: makes its entry durable, and removes a kept part that nobody will resume any more. */
async function skipExisting(
  target: DiskTarget,
  { kind, bytes }: Extract<FilePlan, { bytes: number }>,
  { directories }: FetchContext,
  signal: AbortSignal,
): Promise<PartialOutcome> {
  const { path, displayPath, location, sha256, isDryRun } = target;
  const hash = kind === 'check' ? await checkExisting(path, displayPath, sha256, signal) : undefined;
  if (isDryRun) return { result: 'skipped', bytes, sha256: hash };
  // A part that stays behind does no harm, so a failure is ignored.
  if (existsSync(keptPath(target))) await directories.nameCalls.remove(keptPath(target)).catch(() => {});
  await directories.prepare(location).flushExistingEntries();
  return { result: 'skipped', bytes, sha256: hash };
}

/** A pipe, a device or standard output. */
export interface StreamTarget {
  readonly open: (signal: AbortSignal) => Promise<ByteWriter>;
  readonly sha256?: string | undefined;
}

/** Downloads a file to a stream and returns its outcome. Throws only defects. */
export function fetchToStream(
  remoteFile: RemoteFile,
  { open, sha256: expected }: StreamTarget,
  context: FetchContext,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  const needsHash = expected !== undefined;
  const job = { client: context.client, remoteFile, signal, watcher, expected, needsHash, attempts: 0 };
  return runToOutcome(job, null, context, async () => fetchInto(job, new Pipe(await open(signal), signal)));
}

/** Returns the outcome of `work`. A `FilingsError` becomes the outcome `failed`; any other error is a defect. */
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
  const { attempts } = job;
  // By default `verifiedLength` is true, because no length of a skipped file is in doubt.
  return { path, resumedBytes: 0, verifiedLength: true, ...outcome, attempts, ms: monotonic() - startMs };
}
