import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';

/** The accession number of a filing, known to be 10-2-6 ASCII digits (contract part 2). */
export type AccessionNumber = string & { readonly [brand]: true };
declare const brand: unique symbol;

const PATTERN = /^[0-9]{10}-[0-9]{2}-[0-9]{6}$/;
const EXAMPLE = '0001234567-24-000001';
/** Longer text is cut in the message: it may be a whole file, given by mistake. */
const SHOWN = 60;

/** Reads an accession number: 10, 2 and 6 ASCII digits with hyphens between, or the 18 digits alone. Throws `usage` that says what is wrong. */
export function parseAccession(text: string): AccessionNumber {
  const accession = accessionIn(text);
  if (accession !== undefined) return accession;
  const { reason, meant } = faultOf(text);
  throw new FilingsError('usage', `accession number '${shortened(text, SHOWN)}': ${reason}`, {
    hint: meant === undefined ? `it is 10 digits, 2 and 6, such as ${EXAMPLE}` : `did you mean ${meant}?`,
  });
}

/** The accession numbers that stand in a text, with dashes or without. */
export function accessionsIn(text: string): readonly AccessionNumber[] {
  const found = text.match(/(?<!\d)(\d{18}|\d{10}-\d{2}-\d{6})(?!\d)/g) ?? [];
  return found.map((one) => dashed(one.replaceAll('-', '')) as AccessionNumber);
}

/** The accession number that a text is, in either form. */
export function accessionIn(text: string): AccessionNumber | undefined {
  if (isAccession(text)) return text;
  return /^[0-9]{18}$/.test(text) ? (dashed(text) as AccessionNumber) : undefined;
}

export function isAccession(text: string): text is AccessionNumber {
  return PATTERN.test(text);
}

interface Fault {
  readonly reason: string;
  /** A well-formed number that the text may have been meant for. */
  readonly meant?: string;
}

function faultOf(text: string): Fault {
  if (text === '') return { reason: 'it is empty' };
  const meant = nearest(text);
  const reason = reasonOf(text);
  return meant === undefined ? { reason } : { reason, meant };
}

function reasonOf(text: string): string {
  if (/\s/.test(text)) return 'it has white space in it';
  if (/[\p{Pd}\u2212]/u.test(text.replaceAll('-', ''))) return 'it has dashes that are not the ASCII one (-)';
  if (/[^\P{Nd}0-9]/u.test(text)) return 'it has digits that are not 0 to 9';
  if (/\p{L}/u.test(text)) return 'it has letters in it';
  if (/[^0-9-]/.test(text)) return 'it has characters that are neither digits nor dashes';
  return `it has ${text.split('-').map(lengthOf).join(', ')} digits where 10, 2 and 6 are wanted`;
}

function lengthOf(part: string): number {
  return part.length;
}

/** What is left when width, dashes, white space and a file extension are put right. */
function nearest(text: string): string | undefined {
  const digits = text
    .slice(0, 100)
    .normalize('NFKC')
    .replace(/\.[a-z]+$/i, '')
    .replace(/[\s\p{Pd}\u2212]/gu, '');
  return /^[0-9]{18}$/.test(digits) ? dashed(digits) : undefined;
}

function dashed(digits: string): string {
  return `${digits.slice(0, 10)}-${digits.slice(10, 12)}-${digits.slice(12)}`;
}
