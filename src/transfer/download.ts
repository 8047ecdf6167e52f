import { basename } from 'node:path';
import { withDiskFailure } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { ServiceClient } from '../service/client.ts';
import type { ByteWriter } from '../stdio/byte-writer.ts';
import type { Directories, Where } from './directories.ts';
import { checkExisting, existingAt } from './existing.ts';
import { type Existing, type FileRequest, isFetch, isListedSize, planFile } from './file-plan.ts';
import type { Job, Watcher } from './job.ts';
import type { Outcome, Wanted } from './outcome.ts';
import { PartFile } from './part/part-file.ts';
import { Pipe } from './pipe.ts';
import { Spool, type SpoolOptions } from './spool.ts';
import { type Fetched, fetchInto } from './transfer.ts';

export interface Fetching {
  readonly client: ServiceClient;
  readonly directories: Directories;
  /** Some services list the filing's size with each file: once that is seen, the sizes of listings are ignored. */
  readonly listedSizes: { ignored: boolean };
  readonly monotonic: () => number;
}

export interface DiskTarget extends FileRequest {
  /** Absolute. */
  readonly path: string;
  readonly where: Where;
}

type Done = Partial<Outcome> & Pick<Outcome, 'result' | 'bytes'>;

/** A failure is an outcome, not an exception; the part then stays only if it can be resumed. */
export function fetchToDisk(
  wanted: Wanted,
  target: DiskTarget,
  fetching: Fetching,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  const job = { client: fetching.client, wanted, signal, watcher, attempts: 0 };
  // If the part was deleted meanwhile, try once more; the file may exist by then.
  const once = () => saveOnce(job, target, fetching);
  return outcomeOf(job, target.displayPath, fetching, async () => {
    const done = await once();
    if (done) return done;
    await watcher.fetchAgain?.();
    const doneAgain = await once();
    if (doneAgain) return doneAgain;
    throw new FilingsError('local_io', 'its part was removed, twice', {
      subject: { path: target.path },
      hint: 'see what removes files in that directory',
    });
  });
}

/** Returns undefined if the part or its directory was removed during the download. */
async function saveOnce(job: Job, target: DiskTarget, fetching: Fetching): Promise<Done | undefined> {
  const { client, wanted, signal, watcher } = job;
  const { path, displayPath, listedSize } = target;
  const final = basename(path);
  const { directory, leftovers } = await fetching.directories.at(target.where);
  const facts = () => ({ areSizesIgnored: fetching.listedSizes.ignored });
  const existing = await withDiskFailure(path, () => existingAt(directory, final));
  const plan = planFile(existing, target, facts());
  if (plan.kind === 'fail') throw plan.error;
  if (plan.kind === 'planned') return { result: 'planned', bytes: listedSize ?? 0 };
  if (existing.kind === 'file' && !isFetch(plan)) {
    const sha256 = plan.kind === 'check' ? await checkExisting(path, displayPath, plan.sha256, signal) : undefined;
    if (!target.isDryRun) await leftovers.sweep(final);
    await directory.settle(existing.stats.ctimeMs);
    return { result: 'skipped', bytes: existing.stats.size, sha256 };
  }
  const request = `${client.options.baseUrl.href} ${wanted.accession} ${wanted.fileName}`;
  const planAgain = (now: Existing, fetchedBytes: number) => planFile(now, target, { ...facts(), fetchedBytes });
  const part = { directory, leftovers, final, displayPath, request, plan, planAgain, signal };
  const hashing = { expected: target.sha256, isHashed: target.sha256 !== undefined || target.hasChecksums };
  const { placement, ...fetched } = await fetchInto(job, await PartFile.open(part), hashing);
  if (placement === 'partMissing') {
    fetching.directories.forget();
    return undefined;
  }
  if (!isListedSize(fetched.bytes, target, facts())) {
    const why = `${final}: the listing says ${listedSize} bytes, the file has ${fetched.bytes}`;
    fetching.listedSizes.ignored = placement === 'same';
    const ignored = `${why}, as the one that exists: the sizes of listings are now ignored`;
    watcher.warn?.(placement === 'same' ? ignored : why);
  }
  if (placement === 'committed') return toCompletedOutcome(fetched);
  const stats = await directory.disk.lstat(path);
  // The other run may have been killed before it flushed the directory.
  await directory.settle(stats?.ctimeMs ?? Number.POSITIVE_INFINITY);
  // Hash and ETag are those of what was fetched, which need not be the existing file's.
  const own = placement === 'same' ? fetched : { resumedBytes: fetched.resumedBytes };
  return { ...own, result: 'skipped', bytes: stats?.size ?? fetched.bytes };
}

/** A place that takes bytes for good: a pipe, a device, standard output. */
export interface StreamTarget {
  readonly open: (signal: AbortSignal) => Promise<ByteWriter>;
  readonly sha256?: string | undefined;
  /** For a temporary file: all is fetched and checked before the first byte is written. */
  readonly spoolIn?: Pick<SpoolOptions, 'folder' | 'platform'> | undefined;
}

export function fetchToStream(
  wanted: Wanted,
  { open, sha256: expected, spoolIn }: StreamTarget,
  fetching: Fetching,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  const job = { client: fetching.client, wanted, signal, watcher, attempts: 0 };
  return outcomeOf(job, null, fetching, async () => {
    const sink =
      spoolIn === undefined
        ? new Pipe(await open(signal), signal)
        : await Spool.open({ ...spoolIn, openWriter: open, signal });
    const { placement: _, ...fetched } = await fetchInto(job, sink, { expected, isHashed: expected !== undefined });
    return toCompletedOutcome(fetched);
  });
}

function toCompletedOutcome(fetched: Omit<Fetched, 'placement'>): Done {
  return { ...fetched, result: fetched.resumedBytes > 0 ? 'resumed' : 'downloaded' };
}

async function outcomeOf(
  job: Job,
  path: string | null,
  { monotonic }: Fetching,
  work: () => Promise<Done>,
): Promise<Outcome> {
  const started = monotonic();
  const base = { path, resumedBytes: 0, verifiedLength: true };
  try {
    const done = await work();
    return { ...base, ...done, attempts: job.attempts, ms: monotonic() - started };
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    const failed = { result: 'failed', bytes: 0, verifiedLength: false, error } as const;
    return { ...base, ...failed, attempts: job.attempts, ms: monotonic() - started };
  }
}
