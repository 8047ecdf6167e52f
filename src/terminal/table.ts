import { takeTurn } from '../abort.ts';
import { clipped, displayWidth, measurable } from './width.ts';

export interface Column {
  readonly heading: string;
  /** Numbers are set to the right. */
  readonly right?: boolean;
  /** It may be cut down to so many columns of the terminal; left out, it is whole or not there. */
  readonly least?: number;
  /** What a row is known by: it gives way last, and never altogether. */
  readonly name?: boolean;
}

export interface TableOptions {
  /** Columns of the terminal. Undefined: nothing is cut. */
  readonly width?: number | undefined;
  readonly headings: boolean;
  readonly paintHeading: (text: string) => string;
}

const GAP = '  ';

/** Measuring so many takes some milliseconds, were each as costly as a service can make it. */
const ROWS_A_TURN = 20;

interface Cell {
  readonly text: string;
  /** Columns of the terminal. */
  readonly width: number;
}

/**
 * Rows of cells, already printable, as aligned lines without trailing blanks, none wider than the terminal.
 * Signals have their turn meanwhile. Throws the signal's reason.
 */
export async function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, headings, paintHeading }: TableOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const measured = (cells: readonly string[]) =>
    columns.map((_, index) => ({
      text: cells[index] ?? '',
      width: displayWidth(measurable(cells[index] ?? '', width)),
    }));
  const head = measured(columns.map((column) => column.heading));
  const cells = await inTurns(rows, measured, signal);
  const wanted = columns.map((_, index) =>
    (headings ? [head, ...cells] : cells).reduce((most, row) => Math.max(most, row[index]?.width ?? 0), 0),
  );
  const widths = fitted(columns, wanted, width);
  const line = (row: readonly Cell[]) =>
    row
      .flatMap((cell, index) => (widths[index] ? padded(cell, widths[index], columns[index]?.right === true) : []))
      .join(GAP)
      .trimEnd();
  return [...(headings ? [paintHeading(line(head))] : []), ...(await inTurns(cells, line, signal))];
}

async function inTurns<From, To>(all: readonly From[], make: (one: From) => To, signal: AbortSignal): Promise<To[]> {
  const made: To[] = [];
  for (const [index, one] of all.entries()) {
    made.push(make(one));
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await takeTurn(signal);
  }
  return made;
}

/**
 * Pure: how wide each column gets; 0 for one that is not shown. From the last to the first, a column shrinks, then goes;
 * what a row is known by gives way when nothing else is left to.
 */
export function fitted(columns: readonly Column[], wanted: readonly number[], width: number): readonly number[] {
  const widths = [...wanted];
  const over = () => {
    const there = widths.filter((one) => one > 0);
    return there.reduce((sum, one) => sum + one, GAP.length * Math.max(0, there.length - 1)) - width;
  };
  const shrink = (index: number, least: number) => {
    const before = widths[index] ?? 0;
    widths[index] = Math.max(Math.min(before, least), before - Math.max(0, over()));
  };
  const places = columns.map((column, index) => ({ ...column, index })).reverse();
  for (const { index, least, name } of places) {
    if (name || over() <= 0) continue;
    if (least !== undefined) shrink(index, least);
    if (over() > 0) widths[index] = 0;
  }
  const names = places.filter(({ name }) => name);
  for (const { index, least } of names) if (least !== undefined) shrink(index, least);
  // A name that is whole or nothing gives way to one that can be cut.
  for (const { index, least } of names) if (least === undefined && names.length > 1 && over() > 0) widths[index] = 0;
  for (const { index } of names) if (widths[index]) shrink(index, 1);
  return widths;
}

function padded({ text, width: own }: Cell, width: number, right: boolean): string {
  const shown = own > width ? clipped(text, width) : text;
  const blanks = ' '.repeat(Math.max(0, width - (shown === text ? own : displayWidth(shown))));
  return right ? blanks + shown : shown + blanks;
}
