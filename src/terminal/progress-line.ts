// Describes the progress of a run, which has one file or many, in words and numbers. All functions are pure. Times are
// in milliseconds of the monotonic clock.
import { grouped, humanBytes, roughDuration } from '../text.ts';

export interface RunningFile {
  readonly name: string;
  /** The bytes so far, including those of an earlier run. Undefined before the first response. */
  bytes?: number | undefined;
  total?: number | undefined;
}

/** The progress of a run of several files. */
export interface BatchProgress {
  /** The number of files that have ended. It includes skipped and failed files. */
  readonly files: number;
  /** The number of all files. Undefined until the input and all listings have been read. */
  readonly total: number | undefined;
  readonly skipped: number;
  readonly failed: number;
  /** The sum of the sizes of the files that have ended: the size in the listing, otherwise the actual size. */
  readonly endedBytes: number;
  /** The sum of the sizes in the listings. Undefined until then, and if any size is missing. */
  readonly allBytes: number | undefined;
}

export interface Running {
  readonly files: Set<RunningFile>;
  /** The bytes that this run has received. */
  bytes: number;
  readonly startedAt: number;
  /** Undefined, or returns undefined, if the run has only one file. */
  batch: (() => BatchProgress | undefined) | undefined;
}

/** In bytes, or in files if the number of bytes is unknown. */
interface Work {
  readonly done: number;
  readonly total: number;
  /** What this run has done, without what it resumed or skipped. The time left is estimated from it. */
  readonly doneNow: number;
}

/** The progress of a run: `a.htm  66%  2.0 MB of 3.0 MB  1.1 MB/s  1 s left`. */
export interface ProgressLine {
  /** The name of the only file, or the number of files. */
  readonly label: string;
  /** Whether the label is a file name, which may be cut on a narrow terminal. */
  readonly isName: boolean;
  /** How much of the work is done, from 0 to 1, if it is known. */
  readonly share?: number | undefined;
  /** Percent, bytes, speed and time left, as far as they are known. */
  readonly facts: readonly string[];
}

/** Returns undefined before the first file. */
export function progressLine(running: Running, now: number): ProgressLine | undefined {
  const batch = running.batch?.();
  const [file] = running.files;
  if (!batch && !file) return undefined;
  const bytes = batch ? batchBytes(running, batch) : fileBytes(file, running);
  const label = batch ? describeFiles(batch) : (file?.name ?? '');
  if (!batch && file?.bytes === undefined) return { label, isName: true, facts: ['no response yet'] };
  const amount = bytes ? `${humanBytes(bytes.done)} of ${humanBytes(bytes.total)}` : humanBytes(running.bytes);
  const ms = Math.max(1, now - running.startedAt);
  const work = bytes ?? (batch && batchFiles(batch));
  const share = work && Math.min(1, work.done / Math.max(1, work.total));
  const left =
    work && work.doneNow > 0
      ? `${roughDuration((work.total - work.done) / work.doneNow / (1000 / ms), Math.ceil)} left`
      : '';
  const percent = share === undefined ? '' : `${Math.floor(share * 100)}%`;
  const facts = [percent, amount, `${humanBytes((running.bytes * 1000) / ms)}/s`, left];
  return { label, isName: !batch, share, facts: facts.filter(Boolean) };
}

function fileBytes(file: RunningFile | undefined, { bytes }: Running): Work | undefined {
  return file?.total === undefined ? undefined : { done: file.bytes ?? 0, total: file.total, doneNow: bytes };
}

function batchBytes({ files, bytes }: Running, { allBytes: total, endedBytes }: BatchProgress): Work | undefined {
  if (total === undefined) return undefined;
  const done = [...files].reduce((sum, file) => sum + (file.bytes ?? 0), endedBytes);
  // The sizes in a listing may be wrong, so more bytes than the total may arrive.
  return { done: Math.min(total, done), total, doneNow: bytes };
}

function batchFiles({ files, total, skipped }: BatchProgress): Work | undefined {
  return total === undefined ? undefined : { done: files, total, doneNow: files - skipped };
}

function describeFiles({ files, total, skipped, failed }: BatchProgress): string {
  const all = total === undefined ? `${grouped(files)} files so far` : `${grouped(files)} of ${grouped(total)} files`;
  return `${all}${failed > 0 ? `, ${grouped(failed)} failed` : ''}${skipped > 0 ? `, ${grouped(skipped)} skipped` : ''}`;
}
