// Measures and cuts printable text in columns of the terminal.
import stringWidth from 'string-width';

const ASCII = /^[ -~]*$/;
const segmenter = new Intl.Segmenter();

/** Returns the width of a text. A grapheme such as an emoji or a letter with its marks is measured as a whole. */
export function displayWidth(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text, { countAnsiEscapeCodes: true });
}

/** Returns the text, or its start and an ellipsis that fit into the columns, without a cut grapheme. */
export function clipped(text: string, columns: number): string {
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
