import stringWidth from 'string-width';

// Measures and shortens printable text in columns of the terminal, by graphemes: a grapheme may have many characters.

/**
 * Returns the width of a text. An emoji sequence or a flag is one grapheme, a mark has no width (UAX 11, 29, UTS 51).
 */
export const displayWidth = (text: string): number => stringWidth(text, { countAnsiEscapeCodes: true });

/** In UTF-16 units. Only graphemes that were made to cost time are longer. */
const UNITS_PER_COLUMN = 16;
const segmenter = new Intl.Segmenter();

/** Returns the start of a text that can fit into the columns, because measuring a long foreign text takes time. */
export function measurable(text: string, columns: number): string {
  return text.slice(0, UNITS_PER_COLUMN * (columns + 1));
}

/** Returns the text, or its start and an ellipsis that fit into the columns, without a cut grapheme. */
export function clipped(text: string, columns: number): string {
  return shortenedTo(text, columns, 0);
}

/** Returns the text, or its start and its end with an ellipsis between them. */
export function elided(text: string, columns: number): string {
  return shortenedTo(text, columns, Math.floor((columns - 1) / 2));
}

function shortenedTo(text: string, columns: number, columnsOfEnd: number): string {
  if (measurable(text, columns) === text && displayWidth(text) <= columns) return text;
  const maxUnits = UNITS_PER_COLUMN * columns;
  const last = splitGraphemes(text.slice(-maxUnits)).reverse();
  const tail = last.slice(0, countFitting(last, columnsOfEnd)).reverse().join('');
  const first = splitGraphemes(text.slice(0, maxUnits));
  return `${first.slice(0, countFitting(first, columns - 1 - displayWidth(tail))).join('')}…${tail}`;
}

function splitGraphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function countFitting(all: readonly string[], columns: number): number {
  let used = 0;
  const over = all.findIndex((grapheme) => {
    used += displayWidth(grapheme);
    return used > columns;
  });
  return over < 0 ? all.length : over;
}
