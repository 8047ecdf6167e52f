// What was probably meant: a word, an accession number or an address. Commander suggests only commands and options, so
// its suggestions are turned off.

const MAX_EDITS = 3;

/** Up to three blanks, dashes of any kind, or other characters that are neither letters nor digits. */
const GAP = '[^\\p{L}\\p{N}]{0,3}';
const ACCESSION = new RegExp(`(?<!\\d)\\d{10}${GAP}\\d\\d${GAP}\\d{6}(?!\\d)`, 'u');
/** A host with a port, `localhost`, or a host whose last label could be a top-level domain. A JWT is none of these. */
const ADDRESS =
  /^(?:[\w.-]+:\d{1,5}|localhost|\[[\da-f:]+\](?::\d{1,5})?|(?:[\w-]{1,63}\.)+[a-z]{2,20})(?:\/[\w./-]*)?$/i;

/** Returns the 18 digits of an accession number that the text contains, or that has lost its leading zeros. */
export function findAccessionDigits(text: string): string {
  const digits = ACCESSION.exec(text)?.[0].replace(/\D/g, '');
  if (digits !== undefined) return digits;
  // Spreadsheets drop leading zeros. Even without them, a number with hyphens has more than ten characters: at least
  // one digit of the filer's number, which is never 0, and ten such as `-24-000001`. Ten digits may be any number.
  const plain = text.trim().replace(/[^\p{L}\p{N}]+/gu, '-');
  return plain.length > 10 ? plain.padStart(plain.includes('-') ? 20 : 18, '0') : '';
}

/** Adds or completes the scheme of an address. */
export function findUrl(text: string): string | undefined {
  const [, typed, address = ''] = /^(?:(https?)(?::\/*|\/\/)|\/\/)?(.*)$/i.exec(text.trim()) ?? [];
  const scheme = typed?.toLowerCase() ?? (/^(?:localhost|127\.|\[::1\])/i.test(address) ? 'http' : 'https');
  const url = `${scheme}://${address}`;
  // A port such as 99999 is no part of a valid URL.
  return ADDRESS.test(address) && URL.canParse(url) ? url : undefined;
}

/**
 * Allows one edit for every three letters of the longer word, and never more than `MAX_EDITS`. The dashes of options
 * are no letters to misspell: `version` was probably meant to be `--version`.
 */
export function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: editDistance(toLetters(word), toLetters(candidate)) }))
    .filter(({ candidate, edits }) => edits <= Math.min(MAX_EDITS, Math.max(word.length, candidate.length) / 3))
    .sort((a, b) => a.edits - b.edits);
  return best && `did you mean ${best.candidate}?`;
}

const toLetters = (word: string) => word.toLowerCase().replace(/^-+/, '');

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
