import stringWidth from 'string-width';

/** Of a printable text in columns: joined emoji and flags are one sign, marks take none (UAX 11, 29, UTS 51). */
export const displayWidth = (text: string): number => stringWidth(text, { countAnsiEscapeCodes: true });

/** More than this for each column no sign takes but those made to cost time. UTF-16 units. */
const UNITS_A_COLUMN = 16;
const signs = new Intl.Segmenter();

/** As much of a text as can matter to so many columns: measuring takes time, and a text from outside can be long. */
export function measurable(text: string, columns: number): string {
  return text.slice(0, UNITS_A_COLUMN * (columns + 1));
}

/** As much of its beginning as fits into so many columns with an ellipsis; no sign is cut in the middle. */
export function clipped(text: string, columns: number): string {
  return fitted(text, columns, 0);
}

/** Its beginning and its end, with an ellipsis between. */
export function elided(text: string, columns: number): string {
  return fitted(text, columns, Math.floor((columns - 1) / 2));
}

function fitted(text: string, columns: number, columnsOfEnd: number): string {
  if (measurable(text, columns) === text && displayWidth(text) <= columns) return text;
  const most = UNITS_A_COLUMN * columns;
  const last = signsIn(text.slice(-most)).reverse();
  const tail = last.slice(0, fitting(last, columnsOfEnd)).reverse().join('');
  const first = signsIn(text.slice(0, most));
  return `${first.slice(0, fitting(first, columns - 1 - displayWidth(tail))).join('')}…${tail}`;
}

function signsIn(text: string): string[] {
  return Array.from(signs.segment(text), ({ segment }) => segment);
}

function fitting(all: readonly string[], columns: number): number {
  let used = 0;
  const over = all.findIndex((sign) => {
    used += displayWidth(sign);
    return used > columns;
  });
  return over < 0 ? all.length : over;
}
