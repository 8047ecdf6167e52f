// Finds where a text was truncated. Before the ellipsis there may be half a secret, or half an escape of one.

/** The remains of an escape that truncation cut. */
const PARTIAL_ESCAPE = '(?:%[\\da-f]?|\\\\(?:[ux][\\da-f]{0,3})?|&[#\\w]{0,6})?';
const ENDS_PARTLY = new RegExp(`${PARTIAL_ESCAPE}$`, 'i');
const IS_CUT = new RegExp(`^${PARTIAL_ESCAPE}…`, 'i');
/** The most characters of a cut escape before an ellipsis. */
const MAX_DISTANCE = 8;

/** Returns whether the text was truncated at this index. */
export function isCutAt(text: string, at: number): boolean {
  return IS_CUT.test(text.slice(at, at + MAX_DISTANCE));
}

/** Returns the indexes at which the text was truncated, before an ellipsis and a partial escape, the last one first. */
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
