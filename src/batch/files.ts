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
  isAsListed,
  type StreamTarget,
} from '../transfer/download.ts';
import type { Watcher } from '../transfer/job.ts';
import { type Outcome, outcomeLine, retryWait } from '../transfer/outcome.ts';
import { requirePlace } from '../transfer/present.ts';
import { requireHash } from '../transfer/transfer.ts';
import type { FileItem } from './item.ts';
import type { Limits, Throttle } from './limits.ts';
import type { Counts } from './report.ts';

interface FilesOptions {
  readonly targetOf: (file: FileItem) => DiskTarget;
  /** Which of the run's own files has a name. */
  readonly runFiles: { at(path: string, stats: Stats | undefined): string | undefined };
  /** For the one file that is written to no disk. */
  readonly stream: StreamTarget | undefined;
  readonly fetching: Fetching;
  readonly checksums: ChecksumFiles | undefined;
  readonly limits: Limits;
  readonly throttle: Throttle | undefined;
  readonly progress: Progress;
  readonly counts: Counts;
  /** The disk is one of this machine. */
  readonly isLocal: boolean;
  readonly dryRun: boolean;
}

/**
 * What is to be done about a file, or how it has ended. The download that `compare` and `skip` ask for may find the
 * same bytes, or all in order.
 */
export type Look = Outcome | 'missing' | 'compare' | 'skip';

export class Files {
  readonly #options: FilesOptions;

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  /** Without a promise on a local disk, since a network disk may hold whoever asks. */
  look(file: FileItem, signal: AbortSignal): Look | Promise<Look> {
    const { targetOf, stream, dryRun, isLocal } = this.#options;
    if (stream) return dryRun ? planned(file, null) : 'missing';
    const target = targetOf(file);
    if (isLocal) return this.#judged(file, target, statsAt(target.path), signal);
    const looking = lstat(target.path).catch(() => undefined);
    return looking.then((stats) => this.#judged(file, target, stats, signal));
  }

  async download(file: FileItem, signal: AbortSignal): Promise<Outcome> {
    const { targetOf, stream, fetching, checksums, limits, throttle, progress, counts } = this.#options;
    const shown = progress.start(file.fileName, file.size);
    const watcher: Watcher = {
      total: shown.total,
      received(bytes) {
        limits.bytes += bytes;
        shown.advance(bytes);
        return throttle?.received(bytes, signal);
      },
      warn: progress.note,
      retry(event) {
        counts.retries += 1;
        shown.wait(retryWait(event));
      },
      resumable(bytes) {
        counts.resumableBytes += bytes;
      },
    };
    const target = stream ? undefined : targetOf(file);
    const fetched = target
      ? await fetchToDisk(file, target, fetching, signal, watcher)
      : await fetchToStream(file, stream as StreamTarget, fetching, signal, watcher);
    const outcome = target && checksums ? await listed(fetched, target, checksums, signal) : fetched;
    const came = outcome.result === 'downloaded' || outcome.result === 'resumed';
    // In the place of its bar.
    shown.finish(came ? outcomeLine(file.fileName, outcome) : undefined);
    return outcome;
  }

  #judged(file: FileItem, target: DiskTarget, stats: Stats | undefined, signal: AbortSignal): Look | Promise<Look> {
    const { runFiles, fetching, dryRun, checksums } = this.#options;
    const { shown, ifExists, sha256 } = target;
    const would = planned(file, shown);
    const own = runFiles.at(target.path, stats);
    if (own !== undefined) {
      const hint = 'choose another directory with --directory';
      return failed(would, new FilingsError('integrity', `${shown}: would replace the file of ${own}`, { hint }));
    }
    if (!stats) return dryRun ? would : 'missing';
    try {
      requirePlace(stats, ifExists, shown);
      if (ifExists === 'overwrite') return dryRun ? would : 'missing';
      const skipped: Outcome = { ...would, result: 'skipped', bytes: stats.size };
      if (sha256 !== undefined) return dryRun ? proved(skipped, target, signal) : 'skip';
      if (ifExists === 'compare' || !isAsListed(target, fetching, stats.size)) return dryRun ? would : 'compare';
      if (dryRun || (!checksums && this.#isSettled(target, stats))) return skipped;
      // In turn, so that what is learned of its directory does for the next files.
      return checksums ? 'skip' : this.download(file, signal);
    } catch (error) {
      return failed(would, error);
    }
  }

  /** Known to be on disk, with nothing to be removed beside it. */
  #isSettled(target: DiskTarget, { ctimeMs }: Stats): boolean {
    const name = basename(target.path);
    const place = this.#options.fetching.directories.opened(target.where);
    return place?.directory.tellsCase === true && place.leftovers.hasNone(name) && place.directory.isSettled(ctimeMs);
  }
}

/** Where that can't be told, there is nothing yet: whoever writes there hears why. */
export function statsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** A file that was there is hashed when it is not listed. */
async function listed(
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
    return failed(outcome, error);
  }
}

async function proved(skipped: Outcome, { path, shown, sha256 }: DiskTarget, signal: AbortSignal): Promise<Outcome> {
  try {
    requireHash(await sha256OfFile(path, shown, signal), sha256, shown);
    return skipped;
  } catch (error) {
    return failed(skipped, error);
  }
}

function planned({ size = 0 }: FileItem, path: string | null): Outcome {
  return { result: 'planned', path, bytes: size, resumedBytes: 0, verifiedLength: true, attempts: 0, ms: 0 };
}

function failed(outcome: Outcome, error: unknown): Outcome {
  if (!(error instanceof FilingsError)) throw error;
  return { ...outcome, result: 'failed', bytes: 0, verifiedLength: false, error };
}
