import { grouped, humanBytes, span } from '../text.ts';
import { clipped, displayWidth, elided } from './width.ts';

export interface Wait {
  /** Printable, without the file's name. */
  readonly reason: string;
  readonly ms: number;
  /** What comes when so many milliseconds are over: `retry 1 of 5 in 2 s`. */
  readonly next: (ms: number) => string;
}

export interface RunningFile {
  readonly name: string;
  /** Bytes, as listed. */
  readonly size?: number | undefined;
  /** Bytes there are, those of an earlier run among them; undefined before an answer has come. */
  bytes?: number | undefined;
  total?: number | undefined;
  /** How many there were when it began, and when that or the wait was, in milliseconds of a clock that never steps. */
  from: number;
  since: number;
  waiting?: Wait | undefined;
  /** All bytes are there, and another file has taken its place. */
  isCompleting?: boolean;
}

/** How far a run of several files is. */
export interface BatchProgress {
  /** Files that have ended, and all files; undefined while these are not known. */
  readonly files: number;
  readonly of: number | undefined;
  readonly skipped: number;
  readonly failed: number;
  /** Bytes of the files that have ended: as listed, otherwise as they are. */
  readonly endedBytes: number;
  /** Bytes of all files whose size is listed or that have ended, and how many others there are; undefined like `of`. */
  readonly sizes: { readonly bytes: number; readonly unsized: number } | undefined;
}

export interface Running {
  readonly files: Set<RunningFile>;
  /** Bytes of this run, and when it began. */
  bytes: number;
  readonly since: number;
  /** Undefined, or giving undefined: it is no run of several files. */
  reach: (() => BatchProgress | undefined) | undefined;
}

const GAP = '  ';
/** Columns of the fields, also while they are empty: nothing moves aside when one is known. */
const [PERCENT, AMOUNT, SPEED, LEFT] = [4, 16, 8, 12];
const FIRST_DROPPED = ['amount', 'bar', 'left', 'speed', 'percent'] as const;
const [MIN_NAME, MAX_NAME] = [11, 40];
/** Before that it is too early to tell a speed. */
const FIRST_MS = 250;

/** Returns the line of one file for a bar, narrower than `width` columns, with the fields that there is room for. */
export function fileLine(file: RunningFile, name: string, now: number, width: number): string {
  const room = Math.max(1, width - 1);
  const { bytes, total, waiting } = file;
  if (waiting) {
    const next = waiting.next(waiting.ms - (now - file.since));
    const short = elided(name, Math.max(MIN_NAME, Math.floor(room / 3)));
    return clipped(`${short}${GAP}${next}: ${waiting.reason}`, room);
  }
  if (bytes === undefined) return `${elided(name, Math.max(1, room - 3))}${GAP}…`.slice(0, room);
  const rate = rateOf(bytes - file.from, file.since, now);
  if (total === undefined) return lineOf(name, [humanBytes(bytes).padStart(6), speedOf(rate)], room);
  // Never 100 before the last byte.
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
  if (waiting) return `${name}: ${waiting.next(waiting.ms - (now - file.since))}: ${waiting.reason}`;
  if (bytes === undefined) return `${name}: no response yet`;
  const rate = rateOf(bytes - file.from, file.since, now);
  const amount = total === undefined ? humanBytes(bytes) : `${humanBytes(bytes)} of ${humanBytes(total)}`;
  const left = total === undefined ? '' : timeLeft(total - bytes, rate);
  return `${name}: ${[amount, speedOf(rate).trim(), left].filter(Boolean).join(', ')}`;
}

function widthOf(fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + GAP.length + field.length, 0);
}

function lineOf(name: string, fields: readonly string[], room: number): string {
  const columns = Math.max(1, Math.min(MAX_NAME, room - widthOf(fields)));
  const shown = elided(name, columns);
  const blanks = ' '.repeat(Math.max(0, columns - displayWidth(shown)));
  return [shown + blanks, ...fields].join(GAP).trimEnd();
}

/** Bytes a second. */
function rateOf(bytes: number, since: number, now: number): number | undefined {
  return now - since < FIRST_MS ? undefined : (bytes * 1000) / (now - since);
}

function speedOf(rate: number | undefined): string {
  return (rate === undefined ? '' : `${humanBytes(rate)}/s`).padStart(SPEED);
}

function timeLeft(bytes: number, rate: number | undefined): string {
  return rate === undefined || rate < 1 ? '' : `${span(Math.max(0, bytes) / rate, Math.ceil)} left`;
}

/** Returns the line of a whole run, narrower than `width` columns: the speed is dropped first, then the time left. */
export function overallLine(running: Running, reach: BatchProgress, now: number, width: number): string {
  const { amount, speed, left } = overallFields(running, reach, now);
  const room = Math.max(1, width - 1);
  const files = clipped(filesText({ ...reach, skipped: 0 }), room);
  const fields = new Map([
    ['amount', amount],
    ['speed', speed],
    ['left', left],
  ]);
  for (const field of ['speed', 'left', 'amount']) {
    const wanted = [...fields.values()].filter(Boolean);
    if (displayWidth(files) + widthOf(wanted) > room) fields.delete(field);
  }
  return [files, ...fields.values()].join(GAP).trimEnd();
}

/** Returns what {@link overallLine} shows as a line of text, without a limit of its width. */
export function overallText(running: Running, reach: BatchProgress, now: number): string {
  const { amount, speed, left } = overallFields(running, reach, now);
  return [filesText(reach), amount, speed, left]
    .map((text) => text.trim())
    .filter(Boolean)
    .join(', ');
}

function filesText({ files, of, skipped, failed }: BatchProgress): string {
  const soFar = `${grouped(files)} ${files === 1 ? 'file' : 'files'} so far`;
  const all = of === undefined ? soFar : `${grouped(files)} of ${grouped(of)} files`;
  const ended = [skipped > 0 && `${grouped(skipped)} skipped`, failed > 0 && `${grouped(failed)} failed`];
  return [all, ...ended].filter(Boolean).join(', ');
}

/** The bytes are those of all files where their sizes are known, otherwise those that this run has received. */
function overallFields(running: Running, reach: BatchProgress, now: number) {
  const rate = rateOf(running.bytes, running.since, now);
  const speed = speedOf(rate);
  const all = allBytes(running, reach);
  if (all === undefined) return { amount: humanBytes(running.bytes).padStart(6), speed, left: '' };
  const partial = Array.from(running.files, (file) => file.bytes ?? 0).reduce((sum, one) => sum + one, 0);
  const reached = Math.min(reach.endedBytes + partial, all);
  return {
    amount: `${humanBytes(reached).padStart(6)} of ${humanBytes(all)}`,
    speed,
    left: timeLeft(all - reached, rate),
  };
}

/** Returns the bytes of all files; the response tells the size of a running file that no listing has. */
function allBytes({ files }: Running, { sizes }: BatchProgress): number | undefined {
  const totals = Array.from(files).flatMap(({ size, total }) => (size === undefined ? [total] : []));
  if (!sizes || totals.length !== sizes.unsized) return undefined;
  return totals.reduce(
    (sum, total) => (sum === undefined || total === undefined ? undefined : sum + total),
    sizes.bytes,
  );
}
