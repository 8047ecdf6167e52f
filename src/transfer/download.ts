import { basename } from 'node:path';
import { withDiskFailure } from '../disk/failure.ts';
import { sha256OfFile } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';
import type { ServiceClient } from '../service/client.ts';
import type { ByteWriter } from '../stdio/byte-writer.ts';
import type { Directories, Where } from './directories.ts';
import type { Job, Watcher } from './job.ts';
import type { Outcome, Wanted } from './outcome.ts';
import { PartFile } from './part/part-file.ts';
import { Pipe } from './pipe.ts';
import { type IfExists, presentAt } from './present.ts';
import { Spool } from './spool.ts';
import { type Fetched, fetchInto, requireHash } from './transfer.ts';

export interface Fetching {
  readonly client: ServiceClient;
  readonly directories: Directories;
  /** Some services list the filing's size with each file: once that is seen, the sizes of listings are ignored. */
  readonly listedSizes: { ignored: boolean };
  readonly monotonic: () => number;
}

export interface DiskTarget {
  /** Absolute. */
  readonly path: string;
  /** As the user would name it. */
  readonly shown: string;
  readonly where: Where;
  readonly ifExists: IfExists;
  /** The size that the listing gave, of a record that names exactly this file. Bytes. */
  readonly listedSize?: number | undefined;
  /** What the file must hash to. */
  readonly sha256?: string | undefined;
  /** Whether the outcome has the SHA-256 of a file that came. */
  readonly hashed?: boolean | undefined;
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
  // What was removed while it came is downloaded again, or exists by now.
  const once = () => saveOnce(job, target, fetching);
  return outcomeOf(job, target.shown, fetching, async () => {
    const done = (await once()) ?? (await once());
    if (done) return done;
    throw new FilingsError('local_io', `${target.path}: its part was removed, twice`, {
      hint: 'see what removes files in that directory',
    });
  });
}

/** Undefined when the part or its directory was taken away meanwhile. */
async function saveOnce(job: Job, target: DiskTarget, fetching: Fetching): Promise<Done | undefined> {
  const { client, wanted, signal, watcher } = job;
  const { path, shown, sha256: expected } = target;
  const final = basename(path);
  const { directory, leftovers } = await fetching.directories.at(target.where);
  const present = await withDiskFailure(path, () => presentAt(directory, final, target.ifExists));
  const isDoubtful = target.ifExists === 'skip' && present && !isAsListed(target, fetching, present.size);
  const ifExists = isDoubtful ? 'compare' : target.ifExists;
  if (present && (ifExists === 'skip' || ifExists === 'compare')) {
    // The right hash proves it as well as a comparison.
    const sha256 = expected === undefined ? undefined : await sha256OfFile(path, shown, signal);
    if (sha256 !== undefined) requireHash(sha256, expected, shown);
    if (ifExists === 'skip' || sha256 !== undefined) {
      await leftovers.sweep(final);
      await directory.settle(present.ctimeMs);
      return { result: 'skipped', bytes: present.size, sha256 };
    }
  }
  const request = `${client.options.baseUrl.href} ${wanted.accession} ${wanted.fileName}`;
  const sink = await PartFile.open({ directory, leftovers, final, request, ifExists, signal });
  const isHashed = expected !== undefined || target.hashed === true;
  const { placed, ...fetched } = await fetchInto(job, sink, { expected, isHashed });
  if (placed === 'lost') {
    fetching.directories.forget();
    return undefined;
  }
  if (!isAsListed(target, fetching, fetched.bytes)) {
    const why = `${final}: the listing says ${target.listedSize} bytes, the file has ${fetched.bytes}`;
    fetching.listedSizes.ignored = placed === 'taken';
    watcher.warn?.(placed === 'placed' ? why : `${why}, as the one that exists: the sizes of listings are now ignored`);
  }
  if (placed === 'placed') return cameBy(fetched);
  const stats = await directory.disk.look(path);
  // Whoever put it there may have been killed before its name was flushed.
  await directory.settle(stats?.ctimeMs ?? Number.POSITIVE_INFINITY);
  return { ...fetched, result: 'skipped', bytes: stats?.size ?? fetched.bytes };
}

/** Whether a file has its listed size, as far as listings are believed. */
export function isAsListed({ listedSize }: DiskTarget, { listedSizes }: Fetching, bytes: number): boolean {
  return listedSize === undefined || listedSizes.ignored || listedSize === bytes;
}

/** A place that takes bytes for good: a pipe, a device, standard output. */
export interface StreamTarget {
  readonly open: (signal: AbortSignal) => Promise<ByteWriter>;
  readonly sha256?: string | undefined;
  /** For a temporary file: all is fetched and checked before the first byte is written. */
  readonly spoolIn?: string | undefined;
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
        : await Spool.open({ folder: spoolIn, openWriter: open, signal });
    const { placed: _, ...fetched } = await fetchInto(job, sink, { expected, isHashed: expected !== undefined });
    return cameBy(fetched);
  });
}

function cameBy(fetched: Omit<Fetched, 'placed'>): Done {
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
