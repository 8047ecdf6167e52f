// Measures text in terminal columns, which are not characters: an emoji takes two, a combining accent none. The text
// must be printable.
import stringWidth from 'string-width';

const ASCII = /^[ -~]*$/;
/** Splits into graphemes: a letter together with its accents, for example. */
const segmenter = new Intl.Segmenter();

export function displayWidth(text: string): number {
  // The option looks wrong, because escape sequences take no columns. But printable text has none, and with it
  // string-width does not search for them.
  return ASCII.test(text) ? text.length : stringWidth(text, { countAnsiEscapeCodes: true });
}

/** `columns` must be at least 1. */
export function clipToColumns(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let start = '';
  let used = 1;
  for (const { segment } of segmenter.segment(text)) {
    used += displayWidth(segment);
    if (used > columns) break;
    start += segment;
  }
  return `${start}…`;
}
