// Finds the word that a misspelt word was probably meant to be. Commander suggests only its own commands and options;
// this also serves the keys of the config file and environment variables.

const MAX_EDITS = 3;

/** Returns the candidate that differs least from the word, or undefined if more than a third of the letters differ. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= Math.min(MAX_EDITS, Math.max(word.length, candidate.length) / 3))
    .sort((a, b) => a.edits - b.edits);
  return best?.candidate;
}

/** Returns a hint that names the nearest candidate, or undefined. */
export function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  const candidate = nearest(word, candidates);
  return candidate === undefined ? undefined : `did you mean ${candidate}?`;
}

/** Returns the optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const substituted = (row[j] ?? 0) + (letter === other ? 0 : 1);
      const isSwapped = letter === b[j - 1] && a[i - 1] === other;
      const swapped = isSwapped ? (before[j - 1] ?? 0) + 1 : substituted;
      next.push(Math.min(substituted, swapped, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
