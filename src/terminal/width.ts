import stringWidth from 'string-width';

/** Columns that a printable text takes on a terminal: joined emoji and flags are one sign, marks take none (UAX 11, 29, UTS 51). */
export const displayWidth = (text: string): number => stringWidth(text, { countAnsiEscapeCodes: true });

/** More than this for each column no sign takes but those made to cost time. UTF-16 units. */
const UNITS_A_COLUMN = 16;
const signs = new Intl.Segmenter();

/** As much of a text as can matter to so many columns: measuring takes time, and a text from outside can be long. */
export function measurable(text: string, columns: number): string {
  return text.slice(0, UNITS_A_COLUMN * (columns + 1));
}

/** The text, or as much of its beginning as fits into so many columns with an ellipsis; no sign is cut in the middle. */
export function clipped(text: string, columns: number): string {
  const beginning = measurable(text, columns);
  if (beginning === text && displayWidth(text) <= columns) return text;
  let shown = '';
  let used = 1;
  for (const { segment } of signs.segment(beginning)) {
    used += displayWidth(segment);
    if (used > columns) break;
    shown += segment;
  }
  return `${shown.trimEnd()}…`;
}

/** The text, or its beginning and its end with an ellipsis between, in so many columns; no sign is cut in the middle. */
export function elided(text: string, columns: number): string {
  if (measurable(text, columns) === text && displayWidth(text) <= columns) return text;
  const most = UNITS_A_COLUMN * columns;
  const segments = (part: string) => Array.from(signs.segment(part), ({ segment }) => segment);
  const room = Math.max(0, columns - 1);
  const end = fitting(segments(text.slice(-most)).reverse(), Math.floor(room / 2))
    .reverse()
    .join('');
  const beginning = fitting(segments(text.slice(0, most)), room - displayWidth(end)).join('');
  return `${beginning}…${end}`;
}

function fitting(segments: readonly string[], columns: number): string[] {
  let used = 0;
  const over = segments.findIndex((segment) => {
    used += displayWidth(segment);
    return used > columns;
  });
  return segments.slice(0, over < 0 ? segments.length : over);
}
