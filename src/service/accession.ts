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
  const within = /(?<!\d)\d{10}-?\d\d-?\d{6}(?!\d)/.exec(text)?.[0].replaceAll('-', '');
  // Spreadsheets drop leading zeros, but not so many that only the year and the sequence are left.
  const padded = text.length > 10 ? text.padStart(text.includes('-') ? 20 : 18, '0') : '';
  const suggestion = accessionIn(within ?? padded);
  const hint = suggestion ? `did you mean ${suggestion}?` : 'it is 10, 2 and 6 digits, such as 0001234567-24-000001';
  throw new FilingsError('usage', `'${foreign(text)}' is not an accession number`, { hint });
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
