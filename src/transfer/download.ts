// Downloads one file to the disk or to a stream. Takes the file of the service and its target; gives an outcome, also
// for a failure, so that one failed file does not end the others.
import { basename } from 'node:path';
import { withDiskError } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { ServiceClient } from '../service/client.ts';
import type { ByteWriter } from '../stdio/byte-writer.ts';
import type { Directories, DirectoryLocation } from './directories.ts';
import { checkExisting, findExisting } from './existing.ts';
import { type Existing, type FileRequest, isFetch, isListedSize, planFile } from './file-plan.ts';
import type { Job, Watcher } from './job.ts';
import type { Outcome, RemoteFile } from './outcome.ts';
import { PartFile } from './part/part-file.ts';
import { Pipe } from './pipe.ts';
import { Spool, type SpoolOptions } from './spool.ts';
import { type FetchResult, fetchInto } from './transfer.ts';

/** The parts of a run that all its downloads share. */
export interface FetchContext {
  readonly client: ServiceClient;
  readonly directories: Directories;
  /**
   * Some services list the size of the filing with each file. The sizes of all listings are ignored once one of them
   * contradicts an existing file whose bytes are the same as the service's.
   */
  readonly listedSizes: { ignored: boolean };
  readonly monotonic: () => number;
}

/** A file of the service and its path on the disk. */
export interface DiskTarget extends FileRequest {
  /** An absolute path. */
  readonly path: string;
  readonly location: DirectoryLocation;
}

type CompletedOutcome = Partial<Outcome> & Pick<Outcome, 'result' | 'bytes'>;

/**
 * Downloads a file to the disk. Returns its outcome. A `FilingsError` is an outcome too, and the part stays only if a
 * later run can resume it. Throws any other error, which is a defect.
 */
export function fetchToDisk(
  remoteFile: RemoteFile,
  target: DiskTarget,
  context: FetchContext,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  const job = { client: context.client, remoteFile, signal, watcher, attempts: 0 };
  return toOutcome(job, target.displayPath, context, async () => {
    const first = await tryToSave(job, target, context);
    if (first) return first;
    // If the part was deleted meanwhile, try once more; the file may exist by then.
    await watcher.beforeRefetch?.();
    const second = await tryToSave(job, target, context);
    if (second) return second;
    throw new FilingsError('local_io', 'its part was removed, twice', {
      subject: { path: target.path },
      hint: 'see what removes files in that directory',
    });
  });
}

/** Returns undefined if the part or its directory was removed during the download. */
async function tryToSave(job: Job, target: DiskTarget, context: FetchContext): Promise<CompletedOutcome | undefined> {
  const { client, remoteFile, signal, watcher } = job;
  const { path, displayPath, listedSize } = target;
  const finalName = basename(path);
  const { directory, leftovers } = await context.directories.open(target.location);
  const facts = () => ({ areSizesIgnored: context.listedSizes.ignored });
  const existing = await withDiskError(path, () => findExisting(directory, finalName));
  const plan = planFile(existing, target, facts());
  if (plan.kind === 'fail') throw plan.error;
  if (plan.kind === 'planned') return { result: 'planned', bytes: listedSize ?? 0 };
  if (existing.kind === 'file' && !isFetch(plan)) {
    const sha256 = plan.kind === 'check' ? await checkExisting(path, displayPath, plan.sha256, signal) : undefined;
    if (!target.isDryRun) await leftovers.sweep(finalName);
    await directory.settle(existing.stats.ctimeMs);
    return { result: 'skipped', bytes: existing.stats.size, sha256 };
  }
  const request = `${client.options.baseUrl.href} ${remoteFile.accession} ${remoteFile.fileName}`;
  const planAgain = (now: Existing, fetchedBytes: number) => planFile(now, target, { ...facts(), fetchedBytes });
  const part = { directory, leftovers, finalName, displayPath, request, plan, planAgain, signal };
  const hashing = { expected: target.sha256, isHashed: target.sha256 !== undefined || target.hasChecksums };
  const { placement, ...fetched } = await fetchInto(job, await PartFile.open(part), hashing);
  if (placement === 'partMissing') {
    context.directories.clear();
    return undefined;
  }
  if (!isListedSize(fetched.bytes, target, facts())) {
    const reason = `${finalName}: the listing says ${listedSize} bytes, the file has ${fetched.bytes}`;
    context.listedSizes.ignored = placement === 'same';
    const ignored = `${reason}, as the one that exists: the sizes of listings are now ignored`;
    watcher.warn?.(placement === 'same' ? ignored : reason);
  }
  if (placement === 'committed') return toCompletedOutcome(fetched);
  const stats = await directory.disk.lstat(path);
  // The other run may have been killed before it flushed the directory.
  await directory.settle(stats?.ctimeMs ?? Number.POSITIVE_INFINITY);
  // An existing file that was not compared may have another hash and another ETag than the fetched bytes.
  const details = placement === 'same' ? fetched : { resumedBytes: fetched.resumedBytes };
  return { ...details, result: 'skipped', bytes: stats?.size ?? fetched.bytes };
}

/** A pipe, a device or standard output: bytes that were written cannot be replaced. */
export interface StreamTarget {
  readonly open: (signal: AbortSignal) => Promise<ByteWriter>;
  readonly sha256?: string | undefined;
  /** Set if the whole file goes to a temporary file and is checked before the first byte is written. */
  readonly spoolIn?: Pick<SpoolOptions, 'directory' | 'platform'> | undefined;
}

/**
 * Downloads a file to a stream. Returns its outcome. A `FilingsError` is an outcome too. Throws any other error, which
 * is a defect.
 */
export function fetchToStream(
  remoteFile: RemoteFile,
  { open, sha256: expected, spoolIn }: StreamTarget,
  context: FetchContext,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  const job = { client: context.client, remoteFile, signal, watcher, attempts: 0 };
  return toOutcome(job, null, context, async () => {
    const sink =
      spoolIn === undefined
        ? new Pipe(await open(signal), signal)
        : await Spool.open({ ...spoolIn, openWriter: open, signal });
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
