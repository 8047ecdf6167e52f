// Downloads one file to the disk or to a stream. Takes the file of the service and its target; gives an outcome, also
// for a failure, so that one failed file does not end the others.
import { lstatSync } from 'node:fs';
import { basename } from 'node:path';
import type { Directories, DirectoryLocation } from '../disk/directory.ts';
import { keptName } from '../disk/part-name.ts';
import { FilingsError } from '../errors.ts';
import type { ServiceClient } from '../service/client.ts';
import type { ByteWriter } from '../stdio/byte-writer.ts';
import { type FilePlan, type FileRequest, planFile } from './file-plan.ts';
import { checkExisting } from './hashes.ts';
import type { Job, Watcher } from './job.ts';
import type { Outcome, RemoteFile } from './outcome.ts';
import { Part } from './part.ts';
import { Pipe } from './pipe.ts';
import { type FetchResult, fetchInto } from './transfer.ts';

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
  const job = { client: context.client, remoteFile, signal, watcher, attempts: 0 };
  return toOutcome(job, target.displayPath, context, async () => {
    if (plan.kind === 'fail') throw plan.error;
    return plan.kind === 'fetch' ? fetchToDisk(job, target, context) : keep(target, plan, context, signal);
  });
}

async function fetchToDisk(job: Job, target: DiskTarget, { directories }: FetchContext): Promise<CompletedOutcome> {
  const { client, remoteFile, signal } = job;
  const { path, location } = target;
  const { baseUrl, secrets } = client.options;
  const part = await Part.open({
    ...{ directories, location, secrets, signal },
    finalName: basename(path),
    request: { baseUrl: baseUrl.href, ...remoteFile },
    file: target,
  });
  const hashing = { expected: target.sha256, isHashed: target.sha256 !== undefined || target.hasChecksums };
  const { placement, ...fetched } = await fetchInto(job, part, hashing);
  if (placement === 'committed') return toCompletedOutcome(fetched);
  await (await directories.open(location)).flush();
  // An existing file that was not compared may have another hash and another ETag than the fetched bytes.
  const details = placement === 'same' ? fetched : { resumedBytes: fetched.resumedBytes };
  return { ...details, result: 'skipped', bytes: lstatSync(path).size, isSame: placement === 'same' };
}

/** Returns whether nothing is left to do for an existing file that is kept. */
export function isKeptAlready({ path, location }: DiskTarget, { directories }: FetchContext): boolean {
  const directory = directories.getIfOpen(location);
  return directory?.isSettled === true && !directory.hasKept(basename(path));
}

/** Makes the entry of an existing file durable, and removes the part of it that an earlier run kept. */
async function keep(
  { path, displayPath, location, sha256, isDryRun }: DiskTarget,
  { kind, bytes }: Extract<FilePlan, { bytes: number }>,
  { directories }: FetchContext,
  signal: AbortSignal,
): Promise<CompletedOutcome> {
  const isChecked = kind === 'check' && sha256 !== undefined;
  const hash = isChecked ? await checkExisting(path, displayPath, sha256, signal) : undefined;
  if (isDryRun) return { result: 'skipped', bytes, sha256: hash };
  const [directory, finalName] = [await directories.open(location), basename(path)];
  // The kept part is only in the way, so a failure does not matter.
  if (directory.takeKept(finalName))
    await directories.names.remove(directory.pathFor(keptName(finalName))).catch(() => {});
  await directory.settle();
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
  const job = { client: context.client, remoteFile, signal, watcher, attempts: 0 };
  return toOutcome(job, null, context, async () => {
    const sink = new Pipe(await open(signal), signal);
    const { placement: _, ...fetched } = await fetchInto(job, sink, { expected, isHashed: expected !== undefined });
    return toCompletedOutcome(fetched);
  });
}

function toCompletedOutcome(fetched: Omit<FetchResult, 'placement'>): CompletedOutcome {
  return { ...fetched, result: fetched.resumedBytes > 0 ? 'resumed' : 'downloaded' };
}

async function toOutcome(
  job: Job,
  path: string | null,
  { monotonic }: FetchContext,
  work: () => Promise<CompletedOutcome>,
): Promise<Outcome> {
  const startMs = monotonic();
  const base = { path, resumedBytes: 0, verifiedLength: true };
  try {
    const completed = await work();
    return { ...base, ...completed, attempts: job.attempts, ms: monotonic() - startMs };
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    const failed = { result: 'failed', bytes: 0, verifiedLength: false, error } as const;
    return { ...base, ...failed, attempts: job.attempts, ms: monotonic() - startMs };
  }
}
