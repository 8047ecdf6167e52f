import { span } from '../../text.ts';
import { clipped } from '../clipped.ts';
import { humanBytes } from '../units.ts';
import { displayWidth } from '../width.ts';

/** Why nothing moves just now. */
export interface Wait {
  readonly reason: string;
  /** What comes next. */
  readonly next: string;
}

/** A transfer as its line shows it. */
export interface BarState {
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

interface Amount {
  readonly name: string;
  readonly bytes: number;
  readonly total: number;
  readonly rate: number | undefined;
}

const GAP = '  ';
/** Columns of the fields, also while they are empty: nothing moves aside when one is known. */
const PERCENT = 4;
const SPEED = 8;
const LEFT = 12;
const AMOUNT = 16;
const [LEAST_NAME, LONGEST_NAME] = [11, 40];
const LEAST_BAR = 10;

/** The line of a running transfer, narrower than `width` columns: what is known, and what there is room for. */
export function barLine(state: BarState, width: number): string {
  const room = Math.max(1, width - 1);
  if (state.waiting) return waitLine(state.name, state.waiting, room);
  const { name, bytes, total, rate } = state;
  if (bytes === undefined) return clipped(`${clipped(name, Math.max(1, room - 1 - GAP.length))}${GAP}…`, room);
  return total === undefined ? openLine({ name, bytes, rate }, room) : knownLine({ name, bytes, total, rate }, room);
}

/** The reason first: whatever else there is gives way to it. */
function waitLine(name: string, { reason, next }: Wait, room: number): string {
  const full = `${name}${GAP}${reason}; ${next}`;
  if (displayWidth(full) <= room) return full;
  const short = clipped(name, Math.max(6, Math.floor(room / 4)));
  const told = `${short}${GAP}${reason}; ${next}`;
  return displayWidth(told) <= room ? told : clipped(`${short}${GAP}${reason}`, room);
}

/** Of a file whose length nobody has told. */
function openLine({ name, bytes, rate }: Omit<Amount, 'total'>, room: number): string {
  const facts = [humanBytes(bytes).padStart(6), speed(rate)];
  const shown = fitting(facts, room - LEAST_NAME);
  return named(name, Math.min(LONGEST_NAME, room - widthOf(shown)), shown, room);
}

function knownLine({ name, bytes, total, rate }: Amount, room: number): string {
  const has = fieldsIn(room);
  const rest = room - has.columns;
  const columns = has.bar ? Math.min(LONGEST_NAME, Math.max(LEAST_NAME, Math.floor(rest / 2))) : rest;
  const done = percent(bytes, total);
  const fields = [
    has.bar ? drawn(done, rest - columns - GAP.length - 2) : [],
    `${done}%`.padStart(PERCENT),
    has.amount ? `${humanBytes(bytes)} of ${humanBytes(total)}`.padStart(AMOUNT) : [],
    has.speed ? speed(rate) : [],
    has.left ? left(total - bytes, rate) : [],
  ].flat();
  return named(name, columns, fields, room);
}

/** Which fields there is room for: in the order of their use, each whole or not at all. */
function fieldsIn(room: number) {
  let columns = PERCENT + GAP.length;
  const take = (field: number, least: number) => {
    const fits = room - columns - field - GAP.length >= least;
    if (fits) columns += field + GAP.length;
    return fits;
  };
  const forBar = LEAST_NAME + LEAST_BAR + 2 + GAP.length;
  const hasSpeed = take(SPEED, LEAST_NAME);
  const hasLeft = hasSpeed && take(LEFT, LEAST_NAME);
  const bar = room - columns >= forBar;
  const amount = bar && take(AMOUNT, forBar);
  return { speed: hasSpeed, left: hasLeft, bar, amount, columns };
}

function named(name: string, columns: number, fields: readonly string[], room: number): string {
  const shown = clipped(name, Math.max(1, columns));
  const blanks = ' '.repeat(Math.max(0, columns - displayWidth(shown)));
  return clipped([shown + blanks, ...fields].join(GAP).trimEnd(), room);
}

function fitting(fields: readonly string[], room: number): string[] {
  const shown = [...fields];
  while (shown.length > 0 && widthOf(shown) > room) shown.pop();
  return shown;
}

function widthOf(fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + field.length + GAP.length, 0);
}

function drawn(done: number, columns: number): string {
  const full = Math.floor((done * columns) / 100);
  return `[${'='.repeat(full)}${' '.repeat(columns - full)}]`;
}

/** Bytes a second, in columns of their own also where they are not known yet. */
export function speed(rate: number | undefined): string {
  return (rate === undefined ? '' : `${humanBytes(rate)}/s`).padStart(SPEED);
}

/** How long so many bytes take. */
function left(bytes: number, rate: number | undefined): string {
  if (rate === undefined || rate < 1) return '';
  return `${span(Math.max(0, bytes) / rate, Math.ceil)} left`;
}

/** Never 100 before the last byte. */
function percent(bytes: number, total: number): number {
  return total === 0 ? 100 : Math.min(100, Math.max(0, Math.floor((bytes * 100) / total)));
}
