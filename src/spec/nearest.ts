// Commander suggests only commands and options, but settings and profiles are misspelled as well. So its suggestions
// are turned off, and these are used everywhere.

const MAX_EDITS = 3;

/** Allows one edit for every three letters of the longer word, and never more than `MAX_EDITS`. */
export function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.min(MAX_EDITS, Math.max(word.length, candidate.length) / 3))
    .sort((a, b) => a.edits - b.edits);
  return best && `did you mean ${best.candidate}?`;
}

/** The optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbors. */
function editDistance(a: string, b: string): number {
  // `row[j]` is the distance between the letters of `a` so far and the first `j` of `b`.
  let rowBefore: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const substituted = (row[j] ?? 0) + (letter === other ? 0 : 1);
      const isSwapped = letter === b[j - 1] && a[i - 1] === other;
      const swapped = isSwapped ? (rowBefore[j - 1] ?? 0) + 1 : substituted;
      next.push(Math.min(substituted, swapped, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    [rowBefore, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
