import { yieldToEventLoop } from '../abort.ts';
import { clipped, displayWidth, elided, measurable } from './width.ts';

export interface Column {
  readonly heading: string;
  /** Numbers are set to the right. */
  readonly right?: boolean;
  /** It may be cut down to so many columns of the terminal; otherwise it is whole or not there. */
  readonly least?: number;
  /** Identifies the row: shortened in the middle as far as necessary, because names share beginnings. */
  readonly name?: boolean;
  /** As many columns of the terminal are left to it by the names before it, if these keep a readable width. */
  readonly kept?: number;
}

interface TableOptions {
  /** Undefined: nothing is cut. */
  readonly width?: number | undefined;
  readonly paintHeading: (text: string) => string;
}

const GAP = '  ';
const MAX_ALIGNED = 30;
/** A name is shortened to this width, in columns of the terminal, before a kept column is dropped. */
const READABLE_NAME = 24;

/** Measuring so many takes some milliseconds, were each as costly as a service can make it. */
const ROWS_A_TURN = 20;

/**
 * Aligned lines of printable cells, without trailing blanks, none wider than the terminal. Signals have their turn
 * meanwhile.
 */
export async function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, paintHeading }: TableOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const wanted = columns.map(() => 0);
  const measure = (cells: readonly string[]) => {
    for (const [index, cell] of cells.entries()) {
      wanted[index] = Math.max(wanted[index] ?? 0, displayWidth(measurable(cell, width)));
    }
  };
  const all = [columns.map(({ heading }) => heading), ...rows];
  await inTurns(all, measure, signal);
  const widths = fitted(columns, wanted, width);
  const line = (cells: readonly string[]) =>
    columns
      .flatMap((column, index) => (widths[index] ? padded(cells[index] ?? '', widths[index], column) : []))
      .join(GAP)
      .trimEnd();
  const [head = '', ...lines] = await inTurns(all, line, signal);
  return [paintHeading(head), ...lines];
}

/** Nothing is cut: a cell that is longer than its column moves those behind it. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const wide = (cells: readonly string[], index: number) =>
    cells.slice(index + 1).some(Boolean) ? displayWidth(cells[index] ?? '') : 0;
  const widths = rows[0]?.map((_, index) => Math.min(MAX_ALIGNED, Math.max(...rows.map((row) => wide(row, index)))));
  const line = (cells: readonly string[]) =>
    cells.map((cell, index) => cell + ' '.repeat(Math.max(0, (widths?.[index] ?? 0) - displayWidth(cell)))).join(GAP);
  return rows.map((cells) => line(cells).trimEnd());
}

async function inTurns<From, To>(all: readonly From[], make: (one: From) => To, signal: AbortSignal): Promise<To[]> {
  const made: To[] = [];
  for (const [index, one] of all.entries()) {
    made.push(make(one));
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await yieldToEventLoop(signal);
  }
  return made;
}

/** Returns the width of each column; 0 for one that is not shown. */
function fitted(columns: readonly Column[], wanted: readonly number[], width: number): readonly number[] {
  const reserved = reservedWidths(columns, wanted, width);
  let room = width;
  return columns.map(({ name, least = Number.POSITIVE_INFINITY }, index) => {
    const whole = wanted[index] ?? 0;
    const free = room - gapped(reserved.slice(index + 1));
    const cut = name || free >= least ? Math.max(free, 0) : 0;
    const shown = whole <= free ? whole : cut;
    if (shown > 0) room -= shown + GAP.length;
    return shown;
  });
}

/** Returns the least width of each name and, as far as there is room beside the names, of each kept column. */
function reservedWidths(columns: readonly Column[], wanted: readonly number[], width: number): readonly number[] {
  const reserved = columns.map(({ name }, index) => (name ? Math.min(wanted[index] ?? 0, READABLE_NAME) : 0));
  if (gapped(reserved) > width + GAP.length) return columns.map(() => 0);
  for (const [index, { kept = 0 }] of columns.entries()) {
    const needed = Math.min(wanted[index] ?? 0, kept);
    if (gapped([...reserved, needed]) <= width + GAP.length) reserved[index] ||= needed;
  }
  return reserved;
}

/** Returns the sum of widths, each with a gap behind it. */
function gapped(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + (one > 0 ? one + GAP.length : 0), 0);
}

function padded(text: string, width: number, { right, name }: Column): string {
  const shown = (name ? elided : clipped)(text, width);
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(shown)));
  return right ? blanks + shown : shown + blanks;
}
