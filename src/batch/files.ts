import { lstatSync, type Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { ChecksumFiles } from '../checksums/append.ts';
import { sha256OfFile } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';
import type { Progress } from '../terminal/progress.ts';
import {
  type DiskTarget,
  type Fetching,
  fetchToDisk,
  fetchToStream,
  type StreamTarget,
  whereOf,
} from '../transfer/download.ts';
import { type Outcome, outcomeLine, retryWait } from '../transfer/outcome.ts';
import { requirePlace } from '../transfer/present.ts';
import { requireHash, type Watcher } from '../transfer/transfer.ts';
import type { Look } from './batch.ts';
import type { Counts } from './counts.ts';
import type { FileItem } from './item.ts';
import type { Limits, Throttle } from './limits.ts';

/** What the files of a run are downloaded with, and where they go. */
export interface Downloading {
  readonly targetOf: (file: FileItem) => DiskTarget;
  /** What must not be replaced; gives which of the run's own files has a name. */
  readonly runFiles: { at(path: string, stats: Stats | undefined): string | undefined };
  /** Where the one file goes that is written to no disk. */
  readonly stream: StreamTarget | undefined;
  readonly fetching: Fetching;
  readonly checksums: ChecksumFiles | undefined;
  readonly limits: Limits;
  readonly throttle: Throttle | undefined;
  readonly progress: Progress;
  readonly counts: Counts;
  /** Whether the disk is one of this machine. */
  readonly isLocal: boolean;
  /** Nothing is downloaded or written. */
  readonly dryRun: boolean;
  /** Whether it is said of each file that it is skipped, or kept in part: otherwise they are counted. */
  readonly tellsAll: boolean;
}

/** Of such a name a directory that tells case has no other spelling. */
const ASCII = /^[\0-\x7f]*$/;

/** What has a path. Where that can't be told, there is nothing yet: whoever writes there hears why. */
function statsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Looks at what has a file's final name: without a promise on a local disk, since a network disk may hold whoever asks. */
export function lookAt(file: FileItem, downloading: Downloading): Look | Promise<Look> {
  const { targetOf, stream, dryRun, isLocal } = downloading;
  if (stream) return dryRun ? planned(file, null) : 'missing';
  const target = targetOf(file);
  if (isLocal) return judgeFile(file, target, statsAt(target.path), downloading);
  const looking = lstat(target.path).catch(() => undefined);
  return looking.then((stat) => judgeFile(file, target, stat, downloading));
}

/** By what has its final name: how a file has ended, or what is to be done. */
function judgeFile(
  file: FileItem,
  target: DiskTarget,
  stat: Stats | undefined,
  { dryRun, fetching, checksums, runFiles }: Downloading,
): Look {
  const own = runFiles.at(target.path, stat);
  if (own !== undefined) return failed(planned(file, target.shown), ownFile(target.shown, own));
  if (!dryRun) {
    const look = stat?.isFile() ? whatExists(stat, target, fetching.listedSizes.ignored) : 'missing';
    if (look !== 'skip' || checksums !== undefined || target.sha256 !== undefined) return look;
    return skipNow(file, stat as Stats, target, fetching);
  }
  return stat && target.sha256 !== undefined ? 'skip' : plan(file, target, stat);
}

/** Skips a file that is known to be on disk, with nothing to be removed beside it. */
function skipNow(file: FileItem, stat: Stats, target: DiskTarget, { directories }: Fetching): Look {
  const where = whereOf(target);
  const place = directories.opened(where);
  const name = basename(target.path);
  if (place?.directory.tellsCase && ASCII.test(name) && place.leftovers.hasNone(name)) {
    const isSettled = place.directory.isSettled(stat.ctimeMs);
    if (isSettled) return { ...planned(file, target.shown), result: 'skipped', bytes: stat.size };
  }
  const above = directories.opened({ ...where, below: '' });
  return above?.directory.disk.isLocal ? 'quick-skip' : 'skip';
}

/** What is to be done about a file that exists. */
function whatExists(
  { size }: Stats,
  { ifExists, listedSize }: DiskTarget,
  sizesIgnored: boolean,
): Exclude<Look, Outcome> {
  if (ifExists !== 'skip') return ifExists === 'compare' ? 'compare' : 'missing';
  return listedSize === undefined || sizesIgnored || listedSize === size ? 'skip' : 'compare';
}

/** Brings a file to where it goes. A failure is an outcome, not an exception. */
export async function download(
  file: FileItem,
  downloading: Downloading,
  signal: AbortSignal,
  arrived: () => void,
): Promise<Outcome> {
  const { targetOf, stream, fetching, checksums, limits, throttle, dryRun, progress, counts, tellsAll } = downloading;
  if (dryRun) return prove(file, targetOf(file), signal);
  const shown = progress.start(file.fileName);
  const watcher: Watcher = {
    total: (bytes, offset) => shown.total(bytes, offset),
    received(bytes) {
      limits.came(bytes);
      shown.advance(bytes);
      return throttle?.moved(bytes, signal);
    },
    warn: (text) => progress.note(text),
    retry(event) {
      counts.retry();
      shown.wait(retryWait(event));
    },
    resumable(bytes) {
      counts.resumableBytes += bytes;
    },
    arrived,
  };
  const target = stream ? undefined : targetOf(file);
  const fetched = target
    ? await fetchToDisk(file, target, fetching, signal, watcher)
    : await fetchToStream(file, stream as StreamTarget, fetching, signal, watcher);
  const outcome = checksums && target ? await keepChecksum(fetched, target, checksums, signal) : fetched;
  // What did not need a request is told by whoever tells of what already exists.
  const isTold = !outcome.error && outcome.attempts > 0 && (outcome.result !== 'skipped' || tellsAll);
  shown.finish(isTold ? outcomeLine(outcome) : undefined);
  return outcome;
}

/**
 * Lists a file that stands in its directory's SHA256SUMS; one that was there already is hashed when it is not listed. A file
 * that can't be listed has failed.
 */
async function keepChecksum(
  outcome: Outcome,
  { path, shown }: DiskTarget,
  sums: ChecksumFiles,
  signal: AbortSignal,
): Promise<Outcome> {
  if (outcome.error) return outcome;
  const [directory, name] = [dirname(path), basename(path)];
  try {
    if (outcome.result === 'skipped' && (await sums.isListed(directory, name))) return outcome;
    const sha256 = outcome.sha256 ?? (await sha256OfFile(path, shown, signal));
    await sums.add(directory, name, sha256);
    return { ...outcome, sha256 };
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return failed(outcome, error);
  }
}

/** What would become of a file, by what has its final name. */
function plan(file: FileItem, target: DiskTarget, stat: Stats | undefined): Outcome {
  const would = planned(file, target.shown);
  try {
    if (stat) requirePlace(stat, target.ifExists, target.shown);
    return stat && target.ifExists === 'skip' ? { ...would, result: 'skipped', bytes: stat.size } : would;
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return failed(would, error);
  }
}

/** As `plan`, for a file that is there and must have one hash. */
async function prove(file: FileItem, target: DiskTarget, signal: AbortSignal): Promise<Outcome> {
  // What has the right hash is skipped, whether it would be compared or not.
  const ifExists = target.ifExists === 'compare' ? 'skip' : target.ifExists;
  const outcome = plan(file, { ...target, ifExists }, statsAt(target.path));
  if (outcome.result !== 'skipped') return outcome;
  try {
    const found = await sha256OfFile(target.path, target.shown, signal);
    requireHash(found, target.sha256, target.shown);
    return outcome;
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return failed(outcome, error);
  }
}

function planned({ accession, fileName, size = 0 }: FileItem, path: string | null): Outcome {
  const nothing = { resumedBytes: 0, verifiedLength: true, attempts: 0, ms: 0 };
  return { wanted: { accession, fileName }, result: 'planned', path, bytes: size, ...nothing };
}

function failed(outcome: Outcome, error: FilingsError): Outcome {
  return { ...outcome, result: 'failed', bytes: 0, verifiedLength: false, error };
}

function ownFile(path: string, own: string): FilingsError {
  return new FilingsError('integrity', `${path}: would replace the file of ${own}`, {
    hint: 'choose another directory with --directory',
  });
}
