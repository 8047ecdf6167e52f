import { grouped, humanBytes, span } from '../text.ts';
import { clipped, displayWidth, elided } from './width.ts';

// Words the progress of a file and of a run, as a line of a certain width for bars and as text for plain output. All
// functions are pure. Times are in milliseconds of the monotonic clock.

/** A wait before the next attempt. */
export interface Wait {
  /** Printable text without the file's name. */
  readonly reason: string;
  readonly ms: number;
  /** Returns the announcement of the next attempt, which follows in `ms`: `retry 1 of 5 in 2 s`. */
  readonly next: (ms: number) => string;
}

/** A file that is being downloaded. */
export interface RunningFile {
  readonly name: string;
  /** The listed size in bytes. */
  readonly size?: number | undefined;
  /** The bytes on disk, including those of an earlier run. Undefined before the first response. */
  bytes?: number | undefined;
  total?: number | undefined;
  /** The bytes on disk at the beginning of the attempt. */
  initialBytes: number;
  /** The beginning of the attempt or of the wait. */
  startedAt: number;
  waiting?: Wait | undefined;
  /** All bytes are on disk, and another file uses the job. */
  isCompleting?: boolean;
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
  /** The bytes of all files whose size is listed or that have ended, and the number of other files. */
  readonly sizes: { readonly bytes: number; readonly unsized: number } | undefined;
}

/** The state of a run that its bars show. */
export interface Running {
  readonly files: Set<RunningFile>;
  /** The bytes that this run has received, and its beginning. */
  bytes: number;
  readonly startedAt: number;
  /** Undefined, or returns undefined, unless the run has several files. */
  batch: (() => BatchProgress | undefined) | undefined;
}

const GAP = '  ';
/** The widths of the fields, which are kept while a field is empty, so that the others do not move. */
const [PERCENT, AMOUNT, SPEED, LEFT] = [4, 16, 8, 12];
const FIRST_DROPPED = ['amount', 'bar', 'left', 'speed', 'percent'] as const;
const [MIN_NAME, MAX_NAME] = [11, 40];
/** The time after which a speed is shown. */
const FIRST_MS = 250;

/** Returns the line of one file for a bar, narrower than `width` columns, with the fields that fit. */
export function fileLine(file: RunningFile, name: string, now: number, width: number): string {
  const room = Math.max(1, width - 1);
  const { bytes, total, waiting } = file;
  if (waiting) {
    const next = waiting.next(waiting.ms - (now - file.startedAt));
    const short = elided(name, Math.max(MIN_NAME, Math.floor(room / 3)));
    return clipped(`${short}${GAP}${next}: ${waiting.reason}`, room);
  }
  if (bytes === undefined) return `${elided(name, Math.max(1, room - 3))}${GAP}…`.slice(0, room);
  const rate = rateOf(bytes - file.initialBytes, file.startedAt, now);
  if (total === undefined) return lineOf(name, [humanBytes(bytes).padStart(6), speedOf(rate)], room);
  // Rounded down, so that 100 appears with the last byte.
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((bytes * 100) / total));
  const fields = new Map([
    ['bar', `[${'='.repeat(Math.floor(percent / 10)).padEnd(10)}]`],
    ['percent', `${percent}%`.padStart(PERCENT)],
    ['amount', `${humanBytes(bytes)} of ${humanBytes(total)}`.padStart(AMOUNT)],
    ['speed', speedOf(rate)],
    ['left', timeLeft(total - bytes, rate).padEnd(LEFT)],
  ]);
  for (const field of FIRST_DROPPED) {
    if (MIN_NAME + widthOf([...fields.values()]) > room) fields.delete(field);
  }
  return lineOf(name, [...fields.values()], room);
}

/** Returns what {@link fileLine} shows as a line of text, without a limit of its width. */
export function fileText(file: RunningFile, now: number): string {
  const { name, bytes, total, waiting } = file;
  if (waiting) return `${name}: ${waiting.next(waiting.ms - (now - file.startedAt))}: ${waiting.reason}`;
  if (bytes === undefined) return `${name}: no response yet`;
  const rate = rateOf(bytes - file.initialBytes, file.startedAt, now);
  const amount = total === undefined ? humanBytes(bytes) : `${humanBytes(bytes)} of ${humanBytes(total)}`;
  const left = total === undefined ? '' : timeLeft(total - bytes, rate);
  return `${name}: ${[amount, speedOf(rate).trim(), left].filter(Boolean).join(', ')}`;
}

function widthOf(fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + GAP.length + field.length, 0);
}

function lineOf(name: string, fields: readonly string[], room: number): string {
  const columns = Math.max(1, Math.min(MAX_NAME, room - widthOf(fields)));
  const displayName = elided(name, columns);
  const blanks = ' '.repeat(Math.max(0, columns - displayWidth(displayName)));
  return [displayName + blanks, ...fields].join(GAP).trimEnd();
}

/** Returns bytes per second, or undefined if it is too early. */
function rateOf(bytes: number, startedAt: number, now: number): number | undefined {
  return now - startedAt < FIRST_MS ? undefined : (bytes * 1000) / (now - startedAt);
}

function speedOf(rate: number | undefined): string {
  return (rate === undefined ? '' : `${humanBytes(rate)}/s`).padStart(SPEED);
}

function timeLeft(bytes: number, rate: number | undefined): string {
  return rate === undefined || rate < 1 ? '' : `${span(Math.max(0, bytes) / rate, Math.ceil)} left`;
}

/** Returns the line of a whole run, narrower than `width` columns: the speed is dropped first, then the time left. */
export function overallLine(running: Running, batch: BatchProgress, now: number, width: number): string {
  const { amount, speed, left } = overallFields(running, batch, now);
  const room = Math.max(1, width - 1);
  const files = clipped(filesText({ ...batch, skipped: 0 }), room);
  const fields = new Map([
    ['amount', amount],
    ['speed', speed],
    ['left', left],
  ]);
  for (const field of ['speed', 'left', 'amount']) {
    const present = [...fields.values()].filter(Boolean);
    if (displayWidth(files) + widthOf(present) > room) fields.delete(field);
  }
  return [files, ...fields.values()].join(GAP).trimEnd();
}

/** Returns what {@link overallLine} shows as a line of text, without a limit of its width. */
export function overallText(running: Running, batch: BatchProgress, now: number): string {
  const { amount, speed, left } = overallFields(running, batch, now);
  return [filesText(batch), amount, speed, left]
    .map((text) => text.trim())
    .filter(Boolean)
    .join(', ');
}

function filesText({ files, total, skipped, failed }: BatchProgress): string {
  const soFar = `${grouped(files)} ${files === 1 ? 'file' : 'files'} so far`;
  const all = total === undefined ? soFar : `${grouped(files)} of ${grouped(total)} files`;
  const outcomes = [skipped > 0 && `${grouped(skipped)} skipped`, failed > 0 && `${grouped(failed)} failed`];
  return [all, ...outcomes].filter(Boolean).join(', ');
}

/**
 * Returns the fields of a run. Without the sizes of all files, its amount has only the bytes that this run received.
 */
function overallFields(running: Running, batch: BatchProgress, now: number) {
  const rate = rateOf(running.bytes, running.startedAt, now);
  const speed = speedOf(rate);
  const all = allBytes(running, batch);
  if (all === undefined) return { amount: humanBytes(running.bytes).padStart(6), speed, left: '' };
  const partial = Array.from(running.files, (file) => file.bytes ?? 0).reduce((sum, one) => sum + one, 0);
  const receivedBytes = Math.min(batch.endedBytes + partial, all);
  return {
    amount: `${humanBytes(receivedBytes).padStart(6)} of ${humanBytes(all)}`,
    speed,
    left: timeLeft(all - receivedBytes, rate),
  };
}

/** Returns the bytes of all files. The response has the size of a running file whose size no listing has. */
function allBytes({ files }: Running, { sizes }: BatchProgress): number | undefined {
  const totals = Array.from(files).flatMap(({ size, total }) => (size === undefined ? [total] : []));
  if (!sizes || totals.length !== sizes.unsized) return undefined;
  return totals.reduce(
    (sum, total) => (sum === undefined || total === undefined ? undefined : sum + total),
    sizes.bytes,
  );
}
