// Measures and cuts printable text in terminal columns, which are not characters: an emoji takes two, an accent none.
import stringWidth from 'string-width';

const ASCII = /^[ -~]*$/;
const segmenter = new Intl.Segmenter();

export function displayWidth(text: string): number {
  // The text has no escape sequences, because it is printable, so there is no need to search for them.
  return ASCII.test(text) ? text.length : stringWidth(text, { countAnsiEscapeCodes: true });
}

/** Cuts a text that is too wide, between graphemes, and ends it with an ellipsis. */
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
