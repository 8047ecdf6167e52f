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

/** The text, or as much of its beginning as fits into so many columns with an ellipsis. */
export function clipped(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let shown = '';
  let used = 1;
  for (const character of text) {
    used += displayWidth(character);
    if (used > columns) break;
    shown += character;
  }
  return `${shown.trimEnd()}…`;
}
