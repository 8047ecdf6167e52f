// Measures and cuts text in terminal columns, which are not characters: an emoji takes two, a combining accent none.
// The text must be printable: `printable` (printable.ts) has replaced its control characters by escapes.
import stringWidth from 'string-width';

const ASCII = /^[ -~]*$/;
/** By default, a Segmenter splits text into graphemes: a letter together with its accents, for example. */
const segmenter = new Intl.Segmenter();

export function displayWidth(text: string): number {
  // The option looks wrong, because escape sequences take no columns. But printable text has none, and with the option
  // string-width does not search for them.
  return ASCII.test(text) ? text.length : stringWidth(text, { countAnsiEscapeCodes: true });
}

/** Cuts a text that is too wide, between graphemes, and ends it with an ellipsis. `columns` must be at least 1. */
export function clipToColumns(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let start = '';
  // The ellipsis takes one column.
  let used = 1;
  for (const { segment } of segmenter.segment(text)) {
    used += displayWidth(segment);
    if (used > columns) break;
    start += segment;
  }
  return `${start}…`;
}
