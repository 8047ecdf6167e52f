// Words the progress of a run: of its only file, or of all its files. All functions are pure. Times are in milliseconds
// of the monotonic clock.
import { grouped, humanBytes, span } from '../text.ts';

/** A file that is being downloaded. */
export interface RunningFile {
  readonly name: string;
  /** The bytes on disk, including those of an earlier run. Undefined before the first response. */
  bytes?: number | undefined;
  total?: number | undefined;
}

/** The progress of a run of several files. */
export interface BatchProgress {
  /** The number of files that have ended, and of all files. The total is undefined while unknown. */
  readonly files: number;
  readonly total: number | undefined;
  readonly skipped: number;
  readonly failed: number;
  /** The bytes of the files that have ended: the listed size, otherwise the real one. */
  readonly endedBytes: number;
  /** The sum of the listed sizes. Undefined unless the size of every file is listed. */
  readonly allBytes: number | undefined;
}

export interface Running {
  readonly files: Set<RunningFile>;
  /** The bytes that this run has received, and its beginning. */
  bytes: number;
  readonly startedAt: number;
  /** Undefined, or returns undefined, unless the run has several files. */
  batch: (() => BatchProgress | undefined) | undefined;
}

/** An amount of work: bytes, or files if the bytes are unknown. */
interface Work {
  readonly done: number;
  readonly all: number;
  /** The part that this run has done. It gives the speed. */
  readonly now: number;
}

/** The progress of a run: `a.htm  66%  2.0 MB of 3.0 MB  1.1 MB/s  1 s left`. */
export interface ProgressLine {
  /** The name of the only file, or the number of files. */
  readonly label: string;
  /** Whether the label is a name, of which the beginning is enough. */
  readonly isName: boolean;
  /** The part of the work that is done, from 0 to 1, if it is known. */
  readonly share?: number | undefined;
  /** Percent, bytes of all bytes, speed and time left, as far as they are known. */
  readonly facts: readonly string[];
}

/** Returns the progress of a run, or undefined before its first file. */
export function progressLine(running: Running, now: number): ProgressLine | undefined {
  const batch = running.batch?.();
  const [file] = running.files;
  if (!batch && !file) return undefined;
  const bytes = batch ? bytesOf(running, batch) : bytesOfFile(file, running);
  const label = batch ? filesText(batch) : (file?.name ?? '');
  if (!batch && file?.bytes === undefined) return { label, isName: true, facts: ['no response yet'] };
  const amount = bytes ? `${humanBytes(bytes.done)} of ${humanBytes(bytes.all)}` : humanBytes(running.bytes);
  const ms = Math.max(1, now - running.startedAt);
  const work = bytes ?? (batch && filesOf(batch));
  const share = work && Math.min(1, work.done / Math.max(1, work.all));
  const left = work && work.now > 0 ? `${span((work.all - work.done) / work.now / (1000 / ms), Math.ceil)} left` : '';
  const percent = share === undefined ? '' : `${Math.floor(share * 100)}%`;
  const facts = [percent, amount, `${humanBytes((running.bytes * 1000) / ms)}/s`, left];
  return { label, isName: !batch, share, facts: facts.filter(Boolean) };
}

function bytesOfFile(file: RunningFile | undefined, { bytes }: Running): Work | undefined {
  return file?.total === undefined ? undefined : { done: file.bytes ?? 0, all: file.total, now: bytes };
}

function bytesOf({ files, bytes }: Running, { allBytes: all, endedBytes }: BatchProgress): Work | undefined {
  if (all === undefined) return undefined;
  const done = [...files].reduce((sum, file) => sum + (file.bytes ?? 0), endedBytes);
  return { done: Math.min(all, done), all, now: bytes };
}

function filesOf({ files, total, skipped }: BatchProgress): Work | undefined {
  return total === undefined ? undefined : { done: files, all: total, now: files - skipped };
}

function filesText({ files, total, skipped, failed }: BatchProgress): string {
  const all = total === undefined ? `${grouped(files)} files so far` : `${grouped(files)} of ${grouped(total)} files`;
  return `${all}${failed > 0 ? `, ${grouped(failed)} failed` : ''}${skipped > 0 ? `, ${grouped(skipped)} skipped` : ''}`;
}
