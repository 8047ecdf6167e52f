import { grouped, humanBytes, span } from '../../text.ts';
import { clipped, displayWidth, elided } from '../width.ts';

/** Why nothing moves just now. */
export interface Wait {
  readonly reason: string;
  /** What comes next. */
  readonly next: string;
}

/** A transfer as its line shows it. */
export interface FileState {
  /** Printable. */
  readonly name: string;
  /** Bytes there are, those of an earlier run among them; undefined before anything is known. */
  readonly bytes: number | undefined;
  readonly total: number | undefined;
  /** Bytes a second; undefined when it is too early to say. */
  readonly rate: number | undefined;
  /** Printable. */
  readonly waiting: Wait | undefined;
}

/** A run of several files as the line above them shows it. */
export interface Overall {
  /** Files that have ended, and how many there are in all. */
  readonly files: number;
  readonly of: number | undefined;
  readonly failed: number;
  /** Bytes of this run, and those that are still to come, where all are known. */
  readonly bytes: number;
  readonly due: number | undefined;
  /** Bytes a second. */
  readonly rate: number | undefined;
  /** Since it began. Milliseconds. */
  readonly ms: number;
}

const GAP = '  ';
/** Columns of the fields, also while they are empty: nothing moves aside when one is known. In the order of their use. */
const COLUMNS = { percent: 4, speed: 8, left: 12, bar: 12, amount: 16 };
type Field = keyof typeof COLUMNS;
const [LEAST_NAME, LONGEST_NAME] = [11, 40];

/** The line of a running transfer, narrower than `width` columns: the fields that there is room for, each whole. */
export function fileLine({ name, bytes, total, rate, waiting }: FileState, width: number): string {
  const room = Math.max(1, width - 1);
  if (waiting) return waitLine(name, waiting, room);
  if (bytes === undefined) return clipped(`${elided(name, Math.max(1, room - GAP.length - 1))}${GAP}…`, room);
  if (total !== undefined) return knownLine(name, { bytes, total, rate }, room);
  const fields = [humanBytes(bytes).padStart(6), speed(rate)];
  while (widthOf(fields) > room - LEAST_NAME && fields.length > 0) fields.pop();
  return named(name, Math.min(LONGEST_NAME, room - widthOf(fields)), fields, room);
}

/** The reason first: whatever else there is gives way to it. */
function waitLine(name: string, { reason, next }: Wait, room: number): string {
  const short = elided(name, Math.max(6, Math.floor(room / 4)));
  for (const line of [`${name}${GAP}${reason}; ${next}`, `${short}${GAP}${reason}; ${next}`])
    if (displayWidth(line) <= room) return line;
  return clipped(`${short}${GAP}${reason}`, room);
}

function knownLine(
  name: string,
  { bytes, total, rate }: Record<'bytes' | 'total', number> & Pick<FileState, 'rate'>,
  room: number,
) {
  const { fields: has, rest } = fitting(room);
  const columns = has.includes('bar') ? Math.min(LONGEST_NAME, Math.max(LEAST_NAME, Math.floor(rest / 2))) : rest;
  // Never 100 before the last byte.
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((bytes * 100) / total));
  const full = Math.floor((percent * (rest - columns - GAP.length - 2)) / 100);
  const shown: Readonly<Record<Field, string>> = {
    bar: `[${'='.repeat(Math.max(0, full)).padEnd(rest - columns - GAP.length - 2)}]`,
    percent: `${percent}%`.padStart(COLUMNS.percent),
    amount: `${humanBytes(bytes)} of ${humanBytes(total)}`.padStart(COLUMNS.amount),
    speed: speed(rate),
    left: rate === undefined || rate < 1 ? '' : `${span(Math.max(0, total - bytes) / rate, Math.ceil)} left`,
  };
  const order: readonly Field[] = ['bar', 'percent', 'amount', 'speed', 'left'];
  return named(
    name,
    columns,
    order.filter((field) => has.includes(field)).map((field) => shown[field]),
    room,
  );
}

/** The fields that fit beside the shortest name, and the columns that are left for name and bar. */
function fitting(room: number): { readonly fields: readonly Field[]; readonly rest: number } {
  const fields: Field[] = [];
  let used = 0;
  for (const field of Object.keys(COLUMNS) as Field[]) {
    const columns = COLUMNS[field] + GAP.length;
    if (fields.length > 0 && used + columns > room - LEAST_NAME) break;
    used += columns;
    fields.push(field);
  }
  return { fields, rest: room - used + (fields.includes('bar') ? COLUMNS.bar + GAP.length : 0) };
}

function named(name: string, columns: number, fields: readonly string[], room: number): string {
  const shown = elided(name, Math.max(1, columns));
  const blanks = ' '.repeat(Math.max(0, columns - displayWidth(shown)));
  return clipped([shown + blanks, ...fields].join(GAP).trimEnd(), room);
}

function widthOf(fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + field.length + GAP.length, 0);
}

/** Bytes a second, in columns of their own also where they are not known yet. */
function speed(rate: number | undefined): string {
  return (rate === undefined ? '' : `${humanBytes(rate)}/s`).padStart(COLUMNS.speed);
}

/** The line above those of the running files, narrower than `width` columns: the later fields are dropped first. */
export function overallLine(run: Overall, width: number): string {
  const { files, of, failed, bytes, due, rate } = run;
  const all =
    of === undefined
      ? `${grouped(files)} ${files === 1 ? 'file' : 'files'} so far`
      : `${grouped(files)} of ${grouped(of)} files`;
  const amount = due === undefined ? humanBytes(bytes) : `${humanBytes(bytes)} of ${humanBytes(bytes + due)}`;
  const fields = [amount.padStart(COLUMNS.amount), speed(rate), timeLeft(run)];
  let line = clipped(failed > 0 ? `${all}, ${grouped(failed)} failed` : all, width - 1);
  for (const field of fields) {
    if (line.length + GAP.length + field.length >= width) break;
    line += GAP + field;
  }
  return line.trimEnd();
}

/** By bytes where all are known, else by the share of the files that has ended. */
function timeLeft({ files, of, due, rate, ms }: Overall): string {
  if (due !== undefined) return rate === undefined || rate < 1 ? '' : `${span(due / rate, Math.ceil)} left`;
  if (!of || files === 0 || files >= of) return '';
  return `about ${span((ms * (of - files)) / files / 1000, Math.round)} left`;
}
