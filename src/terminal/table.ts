import { write } from '../stdio/output.ts';
import type { World } from '../world.ts';
import { createPalette, type Presentation } from './messages.ts';
import { clipToColumns, displayWidth } from './width.ts';

const GAP = '  ';

interface TableOptions {
  /** In columns. Without it, no cell is cut. */
  readonly width?: number | undefined;
  /** -1 for none. The last cell of a row is never aligned or padded. */
  readonly rightAlignedIndex?: number;
}

/** Writes a table with headings to stdout. */
export async function printTable(
  rows: readonly (readonly string[])[],
  { color, ...options }: TableOptions & Pick<Presentation, 'color'>,
  { stdout, env, interrupt }: Pick<World, 'stdout' | 'env' | 'interrupt'>,
): Promise<void> {
  const [head = '', ...lines] = formatTable(rows, options);
  const { faint } = createPalette(color, stdout, env);
  await write(stdout, [faint(head), ...lines, ''].join('\n'), interrupt);
}

/** Only the last cell of a row is cut. The others may hold the names of files, which could not be copied and pasted. */
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
    // If the other cells already fill the terminal, the row is wider.
    return (line + clipToColumns(row[last] ?? '', Math.max(1, width - displayWidth(line)))).trimEnd();
  });
}
