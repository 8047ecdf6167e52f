// People, archives and services write an accession number in two ways: with hyphens, and as 18 digits alone. The
// program uses only the form with hyphens.
import { FilingsError } from '../errors.ts';
import { markForRedaction } from '../secrets.ts';

/** 10, 2 and 6 ASCII digits with hyphens in between (service.md, section 2). */
export type AccessionNumber = string & { readonly [brand]: true };
declare const brand: unique symbol;

const DIGITS = /^([0-9]{10})(-?)([0-9]{2})\2([0-9]{6})$/;

/** Accepts either form. Throws `usage` for any other string, and suggests a number if it can. */
export function parseAccession(text: string): AccessionNumber {
  const accession = asAccession(text);
  if (accession !== undefined) return accession;
  // People also paste URLs. The number in one may have only one of its hyphens, so keep just the digits.
  const digits = /(?<!\d)\d{10}-?\d\d-?\d{6}(?!\d)/.exec(text)?.[0].replaceAll('-', '');
  // Spreadsheets drop leading zeros, so put them back. Only a text of more than ten characters is padded. A number with
  // hyphens has more even without its leading zeros: at least one digit of the filer's number, which is never 0, and
  // ten characters such as `-24-000001`. Ten digits without hyphens may be any number, such as that of a filer.
  const padded = text.length > 10 ? text.padStart(text.includes('-') ? 20 : 18, '0') : '';
  const suggestion = asAccession(digits ?? padded);
  const hint = suggestion
    ? `did you mean ${suggestion}?`
    : 'an accession number has 10, 2 and 6 digits, such as 0001234567-24-000001';
  // The text may be a URL that contains a key.
  throw new FilingsError('usage', `'${markForRedaction(text)}' is not an accession number`, { hint });
}

/** Accepts either form, and nothing around it. */
export function asAccession(text: string): AccessionNumber | undefined {
  const match = DIGITS.exec(text);
  // `join` makes a new string. A slice would keep the whole input line in memory, and there may be a million lines.
  return match ? ([match[1], match[3], match[4]].join('-') as AccessionNumber) : undefined;
}
