// Describes the progress of a run in words and numbers. All functions are pure: others keep the counts up to date, and
// draw the line. Times are in milliseconds of the monotonic clock.
import { counted, grouped, humanBytes, roughDuration } from '../text.ts';

/** A file, or a listing that is retried. */
export interface RunningFile {
  /** The file name, the accession number of the listing, or `verified` for the one entry of `filings verify`. */
  readonly name: string;
  /** The file exists, and is downloaded only to be compared. */
  readonly isCompared?: boolean;
  /** The bytes of an earlier run are included. Undefined before the first response. */
  bytes?: number | undefined;
  /** The length of the whole file, if the response states it. */
  totalBytes?: number | undefined;
}

export interface BatchProgress {
  /** Skipped and failed files are included. */
  readonly endedFiles: number;
  /** Undefined until the input and all listings have been read. */
  readonly allFiles: number | undefined;
  /** The filings of which all files have ended. Undefined if the input has only names of files so far. */
  readonly endedFilings: number | undefined;
  /** Undefined until the input has been read. */
  readonly allFilings: number | undefined;
  readonly skipped: number;
  readonly failed: number;
  /** The size of a file that has ended is the one in the listing, otherwise the actual one (0 after a failure). */
  readonly endedBytes: number;
  /** The sum of the sizes in the listings. Undefined while `allFiles` is, and if any size is missing. */
  readonly allBytes: number | undefined;
}

export interface RunState {
  readonly runningFiles: Set<RunningFile>;
  /** The bytes that this run has received, or hashed to verify them. */
  bytesThisRun: number;
  readonly startedAt: number;
  /** Undefined if the run has only one file. */
  readBatch: () => BatchProgress | undefined;
}

/** The amount is in bytes, otherwise in files, or in filings while some listings have not arrived. */
interface Work {
  readonly done: number;
  readonly total: number;
  /** `done` without what was resumed or skipped. The time left is estimated from it. */
  readonly doneThisRun: number;
}

/** `a.htm  66%  2.0 MB of 3.0 MB  1.1 MB/s  1 s left`. */
export interface ProgressLine {
  /** The name of the only file, or the number of files. */
  readonly label: string;
  /** Between 0 and 1. */
  readonly share?: number | undefined;
  /** Percent, bytes, speed and time left, as far as they are known. */
  readonly facts: readonly string[];
}

/** Returns undefined if there is nothing to show. */
export function describeProgress(run: RunState, now: number): ProgressLine | undefined {
  const batch = run.readBatch();
  const [file] = run.runningFiles;
  if (!batch && !file) return undefined;
  const compared = [...run.runningFiles].filter(({ isCompared }) => isCompared).length;
  const label = batch ? describeFiles(batch, compared) : `${compared > 0 ? 'comparing ' : ''}${file?.name}`;
  if (!batch && file?.bytes === undefined) return { label, facts: ['no response yet'] };
  const byteWork = measureInBytes(run, batch);
  // Without a total, this shows what the run has received, even bytes that a restart of the file has dropped.
  const amount = byteWork
    ? `${humanBytes(byteWork.done)} of ${humanBytes(byteWork.total)}`
    : humanBytes(run.bytesThisRun);
  const seconds = Math.max(1, now - run.startedAt) / 1000;
  const work = byteWork ?? (batch && measureInUnits(batch));
  // The total may be 0.
  const share = work && work.done / Math.max(1, work.total);
  // Infinite or NaN until this run has done some of the work.
  const secondsLeft = work ? ((work.total - work.done) / work.doneThisRun) * seconds : Number.NaN;
  const left = Number.isFinite(secondsLeft) ? `${roughDuration(secondsLeft, Math.ceil)} left` : '';
  const percent = share === undefined ? '' : `${Math.floor(share * 100)}%`;
  const facts = [percent, amount, `${humanBytes(run.bytesThisRun / seconds)}/s`, left];
  return { label, share, facts: facts.filter(Boolean) };
}

function measureInBytes({ runningFiles, bytesThisRun }: RunState, batch: BatchProgress | undefined): Work | undefined {
  const files = [...runningFiles];
  const total = batch ? batch.allBytes : files[0]?.totalBytes;
  if (total === undefined) return undefined;
  const done = files.reduce((sum, { bytes = 0 }) => sum + bytes, batch?.endedBytes ?? 0);
  // The sizes in a listing may be wrong, so more bytes than the total may arrive.
  return { done: Math.min(total, done), total, doneThisRun: bytesThisRun };
}

function measureInUnits(batch: BatchProgress): Work | undefined {
  const { endedFiles, allFiles, skipped, endedFilings, allFilings } = batch;
  if (allFiles !== undefined) return { done: endedFiles, total: allFiles, doneThisRun: endedFiles - skipped };
  if (endedFilings === undefined || allFilings === undefined) return undefined;
  return { done: endedFilings, total: allFilings, doneThisRun: endedFilings };
}

function describeFiles(batch: BatchProgress, compared: number): string {
  const { endedFiles, allFiles, skipped, failed, endedFilings, allFilings } = batch;
  const showsFilings = allFiles === undefined && endedFilings !== undefined;
  return [
    describeShare('file', endedFiles, allFiles),
    ...(showsFilings ? [describeShare('filing', endedFilings, allFilings)] : []),
    ...(failed > 0 ? [`${grouped(failed)} failed`] : []),
    ...(skipped > 0 ? [`${grouped(skipped)} skipped`] : []),
    ...(compared > 0 ? [`comparing ${grouped(compared)}`] : []),
  ].join(', ');
}

function describeShare(noun: string, done: number, total: number | undefined): string {
  return total === undefined ? counted(done, noun) : `${grouped(done)} of ${grouped(total)} ${noun}s`;
}
