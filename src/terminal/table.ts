// Aligns rows of cells in columns, for the tables that commands print.
import { clipToColumns, displayWidth } from './width.ts';

const GAP = '  ';

interface TableOptions {
  /** The width of the terminal in columns. If it is undefined, no cell is cut. */
  readonly width?: number | undefined;
  /** The index of a column to align to the right, or -1 for none. The last cell of a row is never aligned or padded. */
  readonly rightAlignedIndex?: number;
}

/**
 * Returns one line per row. The cells must be printable (printable.ts). Rows may have different numbers of them. Each
 * column is as wide as its widest cell. Only the last cell of a row is cut to fit the terminal. The others may hold the
 * names of files, which could not be copied and pasted if they were cut.
 */
export function formatTable(
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, rightAlignedIndex }: TableOptions = {},
): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell));
  }
  return rows.map((row) => {
    const last = row.length - 1;
    const cells = row.slice(0, last).map((cell, index) => {
      const blanks = ' '.repeat((widths[index] ?? 0) - displayWidth(cell));
      return `${index === rightAlignedIndex ? blanks + cell : cell + blanks}${GAP}`;
    });
    const line = cells.join('');
    // `clipToColumns` needs at least one column. So if the other cells already fill the terminal, the row is wider.
    return (line + clipToColumns(row[last] ?? '', Math.max(1, width - displayWidth(line)))).trimEnd();
  });
}
