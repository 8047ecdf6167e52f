import { yieldToEventLoop } from '../abort.ts';
import { clipped, displayWidth, elided, measurable } from './width.ts';

// Aligns rows of text in columns that fit the terminal. Shortens or omits columns if there is no room.

/** A column of a table. Widths are in columns of the terminal. */
export interface Column {
  readonly heading: string;
  /** Numbers are aligned to the right. */
  readonly isRightAligned?: boolean;
  /** The column may be cut to this width. Without it, the column is either whole or omitted. */
  readonly minWidth?: number;
  /** A name identifies the row. It is shortened in the middle, because names have the same beginnings. */
  readonly isName?: boolean;
  /** The width that names before this column leave for it, if they keep a readable width. */
  readonly reservedWidth?: number;
}

interface TableOptions {
  /** Without a width nothing is cut. */
  readonly width?: number | undefined;
  readonly paintHeading: (text: string) => string;
}

const GAP = '  ';
const MAX_ALIGNED = 30;
/** A name is shortened to this width, in columns of the terminal, before a reserved column is omitted. */
const READABLE_NAME = 24;

/** Measuring these rows takes a few milliseconds, even if a service has made each as costly as possible. */
const ROWS_PER_SLICE = 20;

/**
 * Returns printable cells as aligned lines without trailing blanks, none wider than the terminal. Yields to the event
 * loop, and throws the signal's reason.
 */
export async function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, paintHeading }: TableOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const neededWidths = columns.map(() => 0);
  const measure = (cells: readonly string[]) => {
    for (const [index, cell] of cells.entries()) {
      neededWidths[index] = Math.max(neededWidths[index] ?? 0, displayWidth(measurable(cell, width)));
    }
  };
  const all = [columns.map(({ heading }) => heading), ...rows];
  await mapInSlices(all, measure, signal);
  const widths = fitted(columns, neededWidths, width);
  const line = (cells: readonly string[]) =>
    columns
      .flatMap((column, index) => (widths[index] ? padded(cells[index] ?? '', widths[index], column) : []))
      .join(GAP)
      .trimEnd();
  const [head = '', ...lines] = await mapInSlices(all, line, signal);
  return [paintHeading(head), ...lines];
}

/** Returns aligned lines in which nothing is cut. A cell that is longer than its column moves the cells after it. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const wide = (cells: readonly string[], index: number) =>
    cells.slice(index + 1).some(Boolean) ? displayWidth(cells[index] ?? '') : 0;
  const widths = rows[0]?.map((_, index) => Math.min(MAX_ALIGNED, Math.max(...rows.map((row) => wide(row, index)))));
  const line = (cells: readonly string[]) =>
    cells.map((cell, index) => cell + ' '.repeat(Math.max(0, (widths?.[index] ?? 0) - displayWidth(cell)))).join(GAP);
  return rows.map((cells) => line(cells).trimEnd());
}

async function mapInSlices<From, To>(
  all: readonly From[],
  make: (one: From) => To,
  signal: AbortSignal,
): Promise<To[]> {
  const results: To[] = [];
  for (const [index, one] of all.entries()) {
    results.push(make(one));
    if (index % ROWS_PER_SLICE === ROWS_PER_SLICE - 1) await yieldToEventLoop(signal);
  }
  return results;
}

/** Returns the width of each column, 0 for an omitted one. */
function fitted(columns: readonly Column[], neededWidths: readonly number[], width: number): readonly number[] {
  const reserved = reservedWidths(columns, neededWidths, width);
  let room = width;
  return columns.map(({ isName, minWidth = Number.POSITIVE_INFINITY }, index) => {
    const whole = neededWidths[index] ?? 0;
    const free = room - gapped(reserved.slice(index + 1));
    const cut = isName || free >= minWidth ? Math.max(free, 0) : 0;
    const columnWidth = whole <= free ? whole : cut;
    if (columnWidth > 0) room -= columnWidth + GAP.length;
    return columnWidth;
  });
}

/** Returns the reserved width of each name and, if there is room besides the names, of each other column. */
function reservedWidths(columns: readonly Column[], neededWidths: readonly number[], width: number): readonly number[] {
  const reserved = columns.map(({ isName }, index) => (isName ? Math.min(neededWidths[index] ?? 0, READABLE_NAME) : 0));
  if (gapped(reserved) > width + GAP.length) return columns.map(() => 0);
  for (const [index, { reservedWidth = 0 }] of columns.entries()) {
    const needed = Math.min(neededWidths[index] ?? 0, reservedWidth);
    if (gapped([...reserved, needed]) <= width + GAP.length) reserved[index] ||= needed;
  }
  return reserved;
}

/** Returns the sum of widths, with a gap after each. */
function gapped(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + (one > 0 ? one + GAP.length : 0), 0);
}

function padded(text: string, width: number, { isRightAligned, isName }: Column): string {
  const displayText = (isName ? elided : clipped)(text, width);
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(displayText)));
  return isRightAligned ? blanks + displayText : displayText + blanks;
}
