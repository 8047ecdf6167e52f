import { takeTurn } from '../abort.ts';
import { clipped, displayWidth, elided, measurable } from './width.ts';

export interface Column {
  readonly heading: string;
  /** Numbers are set to the right. */
  readonly right?: boolean;
  /** It may be cut down to so many columns of the terminal; left out, it is whole or not there. */
  readonly least?: number;
  /** What a row is known by: it gives way last, and never altogether. Names are cut in the middle, as they share beginnings. */
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
  const wanted = columns.map(() => 0);
  const measure = (cells: readonly string[]) => {
    for (const [index, cell] of cells.entries()) {
      wanted[index] = Math.max(wanted[index] ?? 0, displayWidth(measurable(cell, width)));
    }
  };
  const all = [...(headings ? [columns.map(({ heading }) => heading)] : []), ...rows];
  await inTurns(all, measure, signal);
  const widths = fitted(columns, wanted, width);
  const line = (cells: readonly string[]) => {
    const shown = columns.flatMap((column, index) =>
      widths[index] ? padded(cells[index] ?? '', widths[index], column) : [],
    );
    return clipped(shown.join(GAP).trimEnd(), width);
  };
  const lines = await inTurns(all, line, signal);
  return headings ? [paintHeading(lines[0] ?? ''), ...lines.slice(1)] : lines;
}

async function inTurns<From, To>(all: readonly From[], make: (one: From) => To, signal: AbortSignal): Promise<To[]> {
  const made: To[] = [];
  for (const [index, one] of all.entries()) {
    made.push(make(one));
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await takeTurn(signal);
  }
  return made;
}

/** How wide each column gets; 0 for one that is not shown. From the last to the first, names last, a column shrinks, then goes. */
export function fitted(columns: readonly Column[], wanted: readonly number[], width: number): readonly number[] {
  const widths = [...wanted];
  const places = columns.map((column, index) => ({ ...column, index })).reverse();
  for (const { index, name, least = name ? 0 : Number.POSITIVE_INFINITY } of [
    ...places.filter((place) => !place.name),
    ...places.filter((place) => place.name),
  ]) {
    const shown = widths.filter((one) => one > 0);
    const over = shown.reduce((sum, one) => sum + one + GAP.length, -GAP.length) - width;
    const [before = 0] = widths.slice(index);
    if (over <= 0 || before === 0) continue;
    const lowest = Math.min(least, before);
    if (name) widths[index] = Math.max(before - over, lowest, 1);
    else widths[index] = before - over < lowest ? 0 : before - over;
  }
  return widths;
}

function padded(text: string, width: number, { right, name }: Column): string {
  const shown = (name ? elided : clipped)(text, width);
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(shown)));
  return right ? blanks + shown : shown + blanks;
}
