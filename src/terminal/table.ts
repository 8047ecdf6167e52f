// Aligns rows of text in columns.
import { clipped, displayWidth } from './width.ts';

const GAP = '  ';

interface TableOptions {
  /** The width of the terminal. Without it nothing is cut. */
  readonly width?: number | undefined;
  /** The index of a column of numbers, which are aligned to the right. */
  readonly numbers?: number;
}

/**
 * Returns rows of printable cells as aligned lines. Every column is as wide as its longest cell. Only the last column
 * is cut, where the terminal ends: a name that is cut could not be copied.
 */
export function table(
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, numbers }: TableOptions = {},
): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell));
  }
  return rows.map((row) => {
    const last = row.length - 1;
    const cells = row.slice(0, last).map((cell, index) => {
      const blanks = ' '.repeat((widths[index] ?? 0) - displayWidth(cell));
      return `${index === numbers ? blanks + cell : cell + blanks}${GAP}`;
    });
    const start = cells.join('');
    return (start + clipped(row[last] ?? '', Math.max(1, width - displayWidth(start)))).trimEnd();
  });
}
