import { grouped, humanBytes, span } from '../../text.ts';
import { clipped, displayWidth, elided } from '../width.ts';

/** Why nothing moves just now. */
export interface Wait {
  readonly reason: string;
  /** What comes next. */
  readonly next: string;
}

/** A transfer under way. */
export interface RunningFile {
  readonly name: string;
  /** Bytes that it has, where a listing says so. */
  readonly listed: number | undefined;
  /** Bytes there are, those of an earlier run among them; undefined before an answer has come. */
  bytes: number | undefined;
  total: number | undefined;
  /** How many there were when it began, and when that was, in milliseconds of a clock that never steps. */
  from: number;
  since: number;
  /** Printable. */
  waiting: Wait | undefined;
}

/** How far a run of several files is, as far as that is known. */
export interface Reach {
  /** Files that have ended. */
  readonly files: number;
  /** How many there are in all. */
  readonly of: number | undefined;
  readonly failed: number;
  /** Bytes of the files that have not begun. */
  readonly waiting: number | undefined;
}

/** All that is running. */
export interface Running {
  readonly files: Set<RunningFile>;
  /** Bytes of this run, and when it began. */
  bytes: number;
  readonly since: number;
  /** Undefined, or giving undefined: it is no run of several files. */
  reach: (() => Reach | undefined) | undefined;
}

const GAP = '  ';
/** Columns of the fields, also while they are empty: nothing moves aside when one is known. In the order of their use. */
const COLUMNS = { percent: 4, speed: 8, left: 12, bar: 12, amount: 16 };
type Field = keyof typeof COLUMNS;
const [LEAST_NAME, LONGEST_NAME] = [11, 40];
/** Too early to tell a speed. */
const FIRST_MS = 250;

/** The line of a running transfer, narrower than `width` columns: the fields that there is room for, each whole. */
export function fileLine(file: RunningFile, name: string, now: number, width: number): string {
  const room = Math.max(1, width - 1);
  const { bytes, total, waiting } = file;
  if (waiting) {
    const short = elided(name, Math.max(LEAST_NAME, Math.floor(room / 3)));
    return clipped(`${short}${GAP}${waiting.reason}; ${waiting.next}`, room);
  }
  if (bytes === undefined) return clipped(`${elided(name, Math.max(1, room - 3))}${GAP}…`, room);
  const rate = rateOf(bytes - file.from, file.since, now);
  if (total === undefined) return lineOf(name, [humanBytes(bytes).padStart(6), speedOf(rate)], room);
  // Never 100 before the last byte.
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((bytes * 100) / total));
  const shown: Readonly<Record<Field, string>> = {
    bar: `[${'='.repeat(Math.floor(percent / 10)).padEnd(10)}]`,
    percent: `${percent}%`.padStart(COLUMNS.percent),
    amount: `${humanBytes(bytes)} of ${humanBytes(total)}`.padStart(COLUMNS.amount),
    speed: speedOf(rate),
    left: timeLeft(total - bytes, rate),
  };
  const has = fieldsIn(room);
  const order: readonly Field[] = ['bar', 'percent', 'amount', 'speed', 'left'];
  return lineOf(
    name,
    order.filter((field) => has.includes(field)).map((field) => shown[field].padEnd(COLUMNS[field])),
    room,
  );
}

/** The fields that fit beside the shortest name. */
function fieldsIn(room: number): readonly Field[] {
  let used = LEAST_NAME;
  return (Object.keys(COLUMNS) as Field[]).filter((field) => {
    used += GAP.length + COLUMNS[field];
    return used <= room;
  });
}

function lineOf(name: string, fields: readonly string[], room: number): string {
  const used = fields.reduce((sum, field) => sum + GAP.length + field.length, 0);
  const columns = Math.max(1, Math.min(LONGEST_NAME, room - used));
  const shown = elided(name, columns);
  const blanks = ' '.repeat(Math.max(0, columns - displayWidth(shown)));
  return clipped([shown + blanks, ...fields].join(GAP).trimEnd(), room);
}

/** Bytes a second; undefined when it is too early to say. */
function rateOf(bytes: number, since: number, now: number): number | undefined {
  return now - since < FIRST_MS ? undefined : (bytes * 1000) / (now - since);
}

function speedOf(rate: number | undefined): string {
  return (rate === undefined ? '' : `${humanBytes(rate)}/s`).padStart(COLUMNS.speed);
}

function timeLeft(bytes: number, rate: number | undefined): string {
  return rate === undefined || rate < 1 ? '' : `${span(Math.max(0, bytes) / rate, Math.ceil)} left`;
}

/** The line above those of the running files, narrower than `width` columns: the later fields are dropped first. */
export function overallLine(running: Running, reach: Reach, now: number, width: number): string {
  const { files, of, failed } = reach;
  const { bytes } = running;
  const rate = rateOf(bytes, running.since, now);
  let due = reach.waiting;
  for (const file of running.files) {
    const total = file.bytes === undefined ? file.listed : file.total;
    due = due === undefined || total === undefined ? undefined : due + total - (file.bytes ?? file.from);
  }
  const all =
    of === undefined
      ? `${grouped(files)} ${files === 1 ? 'file' : 'files'} so far`
      : `${grouped(files)} of ${grouped(of)} files`;
  const amount = due === undefined ? humanBytes(bytes) : `${humanBytes(bytes)} of ${humanBytes(bytes + due)}`;
  const left = due === undefined ? '' : timeLeft(due, rate);
  let line = clipped(failed > 0 ? `${all}, ${grouped(failed)} failed` : all, width - 1);
  for (const field of [amount.padStart(COLUMNS.amount), speedOf(rate), left]) {
    if (line.length + GAP.length + field.length >= width) break;
    line += GAP + field;
  }
  return line.trimEnd();
}
