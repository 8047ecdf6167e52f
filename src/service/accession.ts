import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';

/** The accession number of a filing, known to be 10, 2 and 6 ASCII digits with hyphens between (contract part 2). */
export type AccessionNumber = string & { readonly [brand]: true };
declare const brand: unique symbol;

const PATTERN = /^[0-9]{10}-[0-9]{2}-[0-9]{6}$/;
const DIGITS = /^([0-9]{10})(-?)([0-9]{2})\2([0-9]{6})$/;
/** Longer text is cut in the message: it may be a whole file, given by mistake. */
const SHOWN = 60;

/** Reads an accession number, with hyphens or as its 18 digits alone. Throws `usage`. */
export function parseAccession(text: string): AccessionNumber {
  const accession = accessionIn(text);
  if (accession !== undefined) return accession;
  const meant = nearest(text);
  throw new FilingsError('usage', `'${shortened(text, SHOWN)}' is not an accession number`, {
    hint: meant === undefined ? 'it is 10, 2 and 6 digits, such as 0001234567-24-000001' : `did you mean ${meant}?`,
  });
}

/** The accession number that a text is, in either form. */
export function accessionIn(text: string): AccessionNumber | undefined {
  const [, filer, , year, sequence] = DIGITS.exec(text) ?? [];
  // Joined: a piece of a line would hold the line, and there may be a million.
  return filer === undefined ? undefined : ([filer, year, sequence].join('-') as AccessionNumber);
}

/** Whether a text is an accession number as it is written everywhere: with hyphens. */
export function isAccession(text: string): text is AccessionNumber {
  return PATTERN.test(text);
}

/** The accession numbers in a text, with hyphens or without. */
export function accessionsIn(text: string): readonly AccessionNumber[] {
  const found = text.match(/(?<!\d)(\d{18}|\d{10}-\d{2}-\d{6})(?!\d)/g) ?? [];
  return found.map(parseAccession);
}

/** What is left when width, dashes, white space and a file extension are put right. */
function nearest(text: string): AccessionNumber | undefined {
  const digits = text
    .slice(0, 100)
    .normalize('NFKC')
    .replace(/\.[a-z]+$/i, '')
    .replace(/[\s\p{Pd}\u2212]/gu, '');
  return accessionIn(digits);
}
