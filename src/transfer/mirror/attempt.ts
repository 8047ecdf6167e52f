import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import type { ChecksumFiles } from '../../checksums/append.ts';
import { sha256OfFile } from '../../disk/sha256.ts';
import { FilingsError } from '../../errors.ts';
import { type Fetching, fetchToDisk, type Target } from '../fetch-file.ts';
import type { Limits } from '../limits/limits.ts';
import { countedWatcher, type Throttle } from '../limits/throttle.ts';
import type { Ending } from '../many/run-many.ts';
import type { Outcome } from '../outcome.ts';
import { judge } from '../present.ts';
import { Proof } from '../proof.ts';
import type { Expanded, ExpandedFile } from '../selection/expanded.ts';
import type { Watcher } from '../transfer.ts';
import { keepChecksum } from './keep-checksum.ts';

/** How one of a selection's things ended; a file has an outcome. */
export interface Attempted extends Ending {
  readonly outcome?: Outcome | undefined;
}

/** What files of a batch are fetched with, and within which limits. */
export interface Attempting {
  readonly fetching: Fetching;
  /** Where a file goes, by its path below the directory. */
  readonly targetOf: (path: string) => Target;
  readonly limits: Limits;
  readonly throttle: Throttle | undefined;
  /** Nothing is fetched or written. */
  readonly dryRun: boolean;
  /** Shows a file while it is fetched. */
  readonly watch: (file: ExpandedFile) => Watcher & { finish(outcome: Outcome): void };
  /** Tells what would be done. */
  readonly onPlanned: (outcome: Outcome) => void;
  readonly checksums: ChecksumFiles | undefined;
}

/** What one of a run's things is dealt with in. */
export interface Within {
  readonly signal: AbortSignal;
  /** Told when only the disk has still to do. */
  readonly arrived: () => void;
}

/** Deals with one thing of a selection: a file is fetched within the limits, anything else has ended already. */
export async function attempt(item: Expanded, attempting: Attempting, within: Within): Promise<Attempted> {
  switch (item.kind) {
    case 'file':
      return attempting.dryRun ? plan(item, attempting, within.signal) : fetchWithin(item, attempting, within);
    case 'bad':
    case 'refused':
      return { error: item.error, asked: false };
    case 'unlisted':
      return item.error.code === 'limit' ? { limit: item.error } : { error: item.error };
    default:
      return { asked: false };
  }
}

async function fetchWithin(
  file: ExpandedFile,
  attempting: Attempting,
  { signal, arrived }: Within,
): Promise<Attempted> {
  const { limits, throttle, fetching, targetOf, checksums } = attempting;
  const target = targetOf(file.path);
  if (!(await isKept(target))) {
    const limit = limits.reached();
    if (limit) return { limit };
    limits.started();
  }
  const shown = attempting.watch(file);
  const watcher = countedWatcher({ ...shown, arrived }, limits, throttle, signal);
  const fetched = await fetchToDisk(file, target, fetching, signal, watcher);
  const outcome = checksums ? await keepChecksum(fetched, target, checksums, signal) : fetched;
  shown.finish(outcome);
  if (outcome.error && wasKeptAway(outcome)) return { limit: outcome.error };
  return { outcome, error: outcome.error, asked: outcome.attempts > 0 };
}

/** Whether what has the final name will be kept, so that nothing is downloaded. */
async function isKept({ path, ifExists }: Target): Promise<boolean> {
  return ifExists === 'skip' && (await lstat(path).catch(() => undefined))?.isFile() === true;
}

/** Not begun, since another was told to stay away for longer than is waited for. */
function wasKeptAway({ error, attempts }: Outcome): boolean {
  return attempts === 0 && error?.retryAt !== undefined && error.stopsRun;
}

/** What would become of a file. */
async function plan(file: ExpandedFile, { targetOf, onPlanned }: Attempting, signal: AbortSignal): Promise<Attempted> {
  const target = targetOf(file.path);
  const { accession, fileName, size = 0 } = file;
  const { there, error } = await standingAt(target, signal);
  const outcome: Outcome = {
    wanted: { accession, fileName },
    result: error ? 'failed' : there ? 'skipped' : 'planned',
    path: target.shown,
    bytes: error ? 0 : (there?.size ?? size),
    saved: 0,
    moved: 0,
    verifiedLength: error === undefined,
    attempts: 0,
    ms: 0,
    error,
  };
  if (!error) onPlanned(outcome);
  return { outcome, error, asked: false };
}

/** What has the final name and would be skipped, or why it would fail the file. Neither: it would be downloaded. */
async function standingAt(
  { path, ifExists, sha256 }: Target,
  signal: AbortSignal,
): Promise<{ readonly there?: Stats; readonly error?: FilingsError }> {
  const there = await lstat(path).catch(() => undefined);
  try {
    if (!there || judge(there, ifExists, path).kind !== 'keep') return {};
    await new Proof(sha256).require(() => sha256OfFile(path, path, signal), path);
    return { there };
  } catch (error) {
    if (error instanceof FilingsError && !signal.aborted) return { error };
    throw error;
  }
}
