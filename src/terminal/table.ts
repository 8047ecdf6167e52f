import { clipped, displayWidth } from './columns.ts';

export interface Column {
  readonly heading: string;
  /** Numbers are set to the right. */
  readonly right?: boolean;
}

export interface TableOptions {
  /** Columns of the terminal: a longer line loses the end of its last cell. Undefined: nothing is cut. */
  readonly width?: number | undefined;
  readonly headings: boolean;
  readonly paintHeading: (text: string) => string;
}

const GAP = '  ';

/** Rows of cells, already printable, as aligned lines without trailing blanks. */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width, headings, paintHeading }: TableOptions,
): string[] {
  const head = columns.map((column) => column.heading);
  const widths = columns.map((_, index) =>
    Math.max(...[...(headings ? [head] : []), ...rows].map((row) => displayWidth(row[index] ?? ''))),
  );
  const line = (cells: readonly string[]) => {
    const text = columns
      .map((column, index) => padded(cells[index] ?? '', widths[index] ?? 0, column.right === true))
      .join(GAP)
      .trimEnd();
    if (width === undefined) return text;
    // Names stay whole, whatever the terminal's width.
    const least = displayWidth(text) - displayWidth(cells.at(-1) ?? '');
    return clipped(text, Math.max(width, least));
  };
  return [...(headings ? [paintHeading(line(head))] : []), ...rows.map(line)];
}

function padded(text: string, width: number, right: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return right ? blanks + text : text + blanks;
}
