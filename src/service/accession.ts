// The accession number of a filing, as people and services write it.
import { FilingsError } from '../errors.ts';
import { foreign } from '../secrets.ts';

/** The accession number of a filing: 10, 2 and 6 ASCII digits with hyphens between (service.md, section 2). */
export type AccessionNumber = string & { readonly [brand]: true };
declare const brand: unique symbol;

const DIGITS = /^([0-9]{10})(-?)([0-9]{2})\2([0-9]{6})$/;

/**
 * Returns the accession number that a text is, with hyphens or as 18 digits alone. Throws `usage` for any other text.
 */
export function parseAccession(text: string): AccessionNumber {
  const accession = accessionIn(text);
  if (accession !== undefined) return accession;
  throw new FilingsError('usage', `'${foreign(text)}' is not an accession number`, {
    hint: suggestAccession(text),
  });
}

function suggestAccession(text: string): string {
  const [, filer = '', ...rest] = /(?<!\d)([1-9]\d{0,8}|\d{10})-?(\d\d)-?(\d{6})(?!\d)/.exec(text) ?? [];
  const suggestion = accessionIn([filer.padStart(10, '0'), ...rest].join('-')) ?? accessionIn(text.replace(/\D/g, ''));
  if (suggestion === undefined) return 'it is 10, 2 and 6 digits, such as 0001234567-24-000001';
  const isPadded = filer !== '' && filer.length < 10;
  return `did you mean ${suggestion}?${isPadded ? ' (spreadsheets drop leading zeros)' : ''}`;
}

/** The last accession number that was found. Many lines of an input name the same filing. */
let lastFound: AccessionNumber | undefined;

/** Returns the accession number that a text is, with hyphens or without, or undefined. */
export function accessionIn(text: string): AccessionNumber | undefined {
  if (text === lastFound) return lastFound;
  const match = DIGITS.exec(text);
  if (!match) return undefined;
  // Joining makes a new string. A slice would keep its whole line in memory, and there may be a million lines.
  lastFound = [match[1], match[3], match[4]].join('-') as AccessionNumber;
  return lastFound;
}
