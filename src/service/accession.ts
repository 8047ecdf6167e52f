import { FilingsError } from '../errors.ts';
import { markForRedaction } from '../secrets.ts';
import { findAccessionDigits } from '../spec/nearest.ts';
import { shellWord } from '../text.ts';

/** 10, 2 and 6 ASCII digits with hyphens in between (docs/service.md, section 2). */
export type AccessionNumber = string & { readonly [brand]: true };
declare const brand: unique symbol;

const DIGITS = /^([0-9]{10})(-?)([0-9]{2})\2([0-9]{6})$/;

/** `following` are the words after it. */
export function parseAccession(text: string, following: readonly string[] = []): AccessionNumber {
  const accession = asAccession(text);
  if (accession !== undefined) return accession;
  throw accessionError(text, following);
}

export function accessionError(text: string, following: readonly string[]): FilingsError {
  const later = following.find(asAccession);
  const others = [text, ...following.filter((word) => word !== later)].map(shellWord).join(' ');
  // Without quotes, a number with blanks is several words.
  const suggestion = [text, [text, ...following].join(' ')].map(findAccessionDigits).map(asAccession).find(Boolean);
  const hint = later
    ? `the accession number comes first: ${asAccession(later)} ${markForRedaction(others)}`
    : suggestion
      ? `did you mean ${suggestion}?`
      : 'an accession number has 10, 2 and 6 digits, such as 0001234567-24-000001';
  // The text may be a URL that contains a key.
  return new FilingsError('usage', `'${markForRedaction(text)}' is not an accession number`, { hint });
}

export function asAccession(text: string): AccessionNumber | undefined {
  const match = DIGITS.exec(text);
  // `join` makes a new string. A slice would keep the whole input line in memory, and there may be a million lines.
  return match ? ([match[1], match[3], match[4]].join('-') as AccessionNumber) : undefined;
}
