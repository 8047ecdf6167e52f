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
    return width === undefined ? text : fitted(text, width, displayWidth(text) - displayWidth(cells.at(-1) ?? ''));
  };
  return [...(headings ? [paintHeading(line(head))] : []), ...rows.map(line)];
}

function padded(text: string, width: number, right: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return right ? blanks + text : text + blanks;
}

/** Cuts the end of a line that is too wide, but never before `least` columns: names stay whole. */
function fitted(text: string, width: number, least: number): string {
  if (displayWidth(text) <= width) return text;
  let shown = '';
  let used = 0;
  for (const character of text) {
    used += displayWidth(character);
    if (used > Math.max(width, least) - 1) break;
    shown += character;
  }
  return `${shown.trimEnd()}…`;
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;
const NO_WIDTH = /\p{M}/u;

/** Columns that a printable text takes on a terminal. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}
