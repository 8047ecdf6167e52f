// Downloads one file to the disk or to a stream. Takes the file of the service and its target; gives an outcome, also
// for a failure, so that one failed file does not end the others.
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

/** The parts of a run that all its downloads share. */
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

type CompletedOutcome = Partial<Outcome> & Pick<Outcome, 'result' | 'bytes'>;

/** Returns the plan for a file. Errors of the disk are left to the code that follows the plan. */
export function planAt(target: DiskTarget): FilePlan {
  try {
    return planFile(lstatSync(target.path, { throwIfNoEntry: false }), target);
  } catch {
    return { kind: 'fetch' };
  }
}

/**
 * Follows the plan for a file on the disk. Returns its outcome. A `FilingsError` is an outcome too, and the part stays
 * only if a later run can resume it. Throws any other error, which is a defect.
 */
export function saveToDisk(
  remoteFile: RemoteFile,
  target: DiskTarget,
  plan: FilePlan,
  context: FetchContext,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  const { sha256: expected, hasChecksums, displayPath } = target;
  const isHashed = expected !== undefined || hasChecksums;
  const job = { client: context.client, remoteFile, signal, watcher, expected, isHashed, attempts: 0 };
  return toOutcome(job, displayPath, context, async () => {
    if (plan.kind === 'fail') throw plan.error;
    return plan.kind === 'fetch' ? fetchToDisk(job, target, context) : keep(target, plan, context, signal);
  });
}

async function fetchToDisk(job: Job, target: DiskTarget, { directories }: FetchContext): Promise<CompletedOutcome> {
  const part = new Part(job, target, directories);
  await part.claim();
  const { placement, ...fetched } = await fetchInto(job, part);
  if (placement === 'committed') return fetched;
  await directories.open(target.location).flush();
  const skipped = { result: 'skipped', bytes: lstatSync(target.path).size } as const;
  // An existing file that was not compared may have another hash and another ETag than the fetched bytes.
  return placement === 'same' ? { ...fetched, ...skipped, isSame: true } : skipped;
}

/** Returns whether nothing is left to do for an existing file that is kept. */
export function isKeptAlready(target: DiskTarget, { directories }: FetchContext): boolean {
  return directories.getIfOpen(target.location)?.isSettled === true && !existsSync(keptPath(target));
}

/** Makes the entry of an existing file durable, and removes the part of it that an earlier run kept. */
async function keep(
  target: DiskTarget,
  { kind, bytes }: Extract<FilePlan, { bytes: number }>,
  { directories }: FetchContext,
  signal: AbortSignal,
): Promise<CompletedOutcome> {
  const { path, displayPath, location, sha256, isDryRun } = target;
  const hash = kind === 'check' ? await checkExisting(path, displayPath, sha256, signal) : undefined;
  if (isDryRun) return { result: 'skipped', bytes, sha256: hash };
  // The kept part is only in the way, so a failure does not matter.
  if (existsSync(keptPath(target))) await directories.names.remove(keptPath(target)).catch(() => {});
  await directories.open(location).settle();
  return { result: 'skipped', bytes, sha256: hash };
}

/** A pipe, a device or standard output: bytes that were written cannot be replaced. */
export interface StreamTarget {
  readonly open: (signal: AbortSignal) => Promise<ByteWriter>;
  readonly sha256?: string | undefined;
}

/**
 * Downloads a file to a stream. Returns its outcome. A `FilingsError` is an outcome too. Throws any other error, which
 * is a defect.
 */
export function fetchToStream(
  remoteFile: RemoteFile,
  { open, sha256: expected }: StreamTarget,
  context: FetchContext,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  const isHashed = expected !== undefined;
  const job = { client: context.client, remoteFile, signal, watcher, expected, isHashed, attempts: 0 };
  return toOutcome(job, null, context, async () => fetchInto(job, new Pipe(await open(signal), signal)));
}

async function toOutcome(
  job: Job,
  path: string | null,
  { monotonic }: FetchContext,
  work: () => Promise<CompletedOutcome>,
): Promise<Outcome> {
  const startMs = monotonic();
  const completed = await work().catch((error: unknown) => {
    if (!(error instanceof FilingsError)) throw error;
    return { result: 'failed', bytes: 0, verifiedLength: false, error } as const;
  });
  const { attempts } = job;
  return { path, resumedBytes: 0, verifiedLength: true, ...completed, attempts, ms: monotonic() - startMs };
}
