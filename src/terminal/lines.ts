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
  /** Bytes there are, those of an earlier run among them; undefined before an answer has come. */
  bytes?: number | undefined;
  total?: number | undefined;
  /** How many there were when it began, and when that or the wait was, in milliseconds of a clock that never steps. */
  from: number;
  since: number;
  waiting?: Wait | undefined;
}

/** How far a run of several files is: those that have ended, of how many where that is known. */
export interface Reach {
  readonly files: number;
  readonly of: number | undefined;
  readonly failed: number;
}

export interface Running {
  readonly files: Set<RunningFile>;
  /** Bytes of this run, and when it began. */
  bytes: number;
  readonly since: number;
  /** Undefined, or giving undefined: it is no run of several files. */
  reach: (() => Reach | undefined) | undefined;
}

const GAP = '  ';
/** Columns of the fields, also while they are empty: nothing moves aside when one is known. */
const [PERCENT, AMOUNT, SPEED, LEFT] = [4, 16, 8, 12];
const FIRST_DROPPED = ['amount', 'bar', 'left', 'speed', 'percent'] as const;
const [LEAST_NAME, LONGEST_NAME] = [11, 40];
/** Before that it is too early to tell a speed. */
const FIRST_MS = 250;

/** Narrower than `width` columns: the fields that there is room for, each whole. */
export function fileLine(file: RunningFile, name: string, now: number, width: number): string {
  const room = Math.max(1, width - 1);
  const { bytes, total, waiting } = file;
  if (waiting) {
    const next = waiting.next(waiting.ms - (now - file.since));
    const short = elided(name, Math.max(LEAST_NAME, Math.floor(room / 3)));
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
    if (LEAST_NAME + widthOf([...fields.values()]) > room) fields.delete(field);
  }
  return lineOf(name, [...fields.values()], room);
}

function widthOf(fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + GAP.length + field.length, 0);
}

function lineOf(name: string, fields: readonly string[], room: number): string {
  const columns = Math.max(1, Math.min(LONGEST_NAME, room - widthOf(fields)));
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

/** Narrower than `width` columns: the speed is dropped first. */
export function overallLine(running: Running, reach: Reach, now: number, width: number): string {
  const { files, of, failed } = reach;
  const { bytes } = running;
  const rate = rateOf(bytes, running.since, now);
  const all =
    of === undefined
      ? `${grouped(files)} ${files === 1 ? 'file' : 'files'} so far`
      : `${grouped(files)} of ${grouped(of)} files`;
  let line = clipped(failed > 0 ? `${all}, ${grouped(failed)} failed` : all, width - 1);
  for (const field of [humanBytes(bytes).padStart(6), speedOf(rate)]) {
    if (line.length + GAP.length + field.length >= width) break;
    line += GAP + field;
  }
  return line.trimEnd();
}
