import type { IBufferCell, Terminal } from '@xterm/headless';

/** Adjacent cells of a row with the same style. */
export interface Run {
  /** Column of the first cell, from 0. */
  readonly column: number;
  readonly text: string;
  /** Names of styles, such as `red` and `bold`. */
  readonly styles: readonly string[];
}

/** The content of a terminal at one moment. */
export interface Shot {
  readonly rows: readonly (readonly Run[])[];
  /** Position of the cursor, or undefined while a program draws there. */
  readonly cursor: { readonly row: number; readonly column: number } | undefined;
}

const COLORS: Readonly<Record<number, string>> = { 1: 'red', 2: 'green', 6: 'cyan' };

export function shotOf({ buffer: { active }, rows: count }: Terminal): Shot {
  const rows = Array.from({ length: count }, (_, row) => runsOf(active, active.baseY + row));
  const last = rows[active.cursorY]?.at(-1);
  const isFree = active.cursorX > (last ? last.column + last.text.length : 0);
  return { rows, cursor: isFree ? { row: active.cursorY, column: active.cursorX } : undefined };
}

function runsOf(buffer: Terminal['buffer']['active'], y: number): readonly Run[] {
  const line = buffer.getLine(y);
  const runs: { column: number; text: string; styles: readonly string[] }[] = [];
  for (let column = 0; column < (line?.length ?? 0); column += 1) {
    const cell = line?.getCell(column);
    if (cell === undefined) continue;
    const styles = stylesOf(cell);
    const text = cell.getChars() || ' ';
    const last = runs.at(-1);
    if (last?.styles.join() === styles.join()) last.text += text;
    else runs.push({ column, text, styles });
  }
  return runs.map((run) => ({ ...run, text: run.text.trimEnd() })).filter(({ text }) => text !== '');
}

/** Returns the names of a cell's styles. Throws for a style without a name, which the picture would lack. */
function stylesOf(cell: IBufferCell): readonly string[] {
  const color = cell.isFgDefault() ? undefined : COLORS[cell.getFgColor()];
  if (!cell.isFgDefault() && color === undefined) throw new Error(`colour ${cell.getFgColor()} has no name in COLORS`);
  return [color, cell.isBold() ? 'bold' : undefined, cell.isDim() ? 'faint' : undefined].filter(
    (style) => style !== undefined,
  );
}
