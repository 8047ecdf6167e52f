// Truncation may leave half a secret, or half an escape of one, in front of the ellipsis that it writes.

/** What may be left of an escape. */
const PARTIAL_ESCAPE = '(?:%[\\da-f]?|\\\\(?:[ux][\\da-f]{0,3})?|&[#\\w]{0,6})?';
const ENDS_PARTLY = new RegExp(`${PARTIAL_ESCAPE}$`, 'i');
const IS_CUT = new RegExp(`^${PARTIAL_ESCAPE}…`, 'i');
/** An ellipsis has at most so many characters of an escape before it. */
const MAX_DISTANCE = 8;

/** Returns whether truncation has cut a text here. */
export function isCutAt(text: string, at: number): boolean {
  return IS_CUT.test(text.slice(at, at + MAX_DISTANCE));
}

/** Returns where truncation has cut a text, in front of an ellipsis and of a partial escape; the last places first. */
export function lastCuts(text: string, most: number): readonly number[] {
  const cuts: number[] = [];
  for (let end = text.length; end > 0 && cuts.length < most; ) {
    end = text.lastIndexOf('…', end - 1);
    if (end < 0) break;
    const [partial = ''] = ENDS_PARTLY.exec(text.slice(Math.max(0, end - MAX_DISTANCE), end)) ?? [];
    cuts.push(end - partial.length);
  }
  return cuts;
}
