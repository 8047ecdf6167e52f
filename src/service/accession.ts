import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';

/** The accession number of a filing: 10, 2 and 6 ASCII digits with hyphens between (service.md, section 2). */
export type AccessionNumber = string & { readonly [brand]: true };
declare const brand: unique symbol;

const DIGITS = /^([0-9]{10})(-?)([0-9]{2})\2([0-9]{6})$/;
/** The longest text in the message, in UTF-16 units. An argument may be a whole file by mistake. */
const MAX_QUOTE = 60;

/**
 * Returns the accession number that a text is, with hyphens or as 18 digits alone. Throws `usage` for any other text.
 */
export function parseAccession(text: string): AccessionNumber {
  const accession = accessionIn(text);
  if (accession !== undefined) return accession;
  const suggestion = accessionIn(text.replace(/\D/g, ''));
  const format = 'it is 10, 2 and 6 digits, such as 0001234567-24-000001';
  throw new FilingsError('usage', `'${shortened(text, MAX_QUOTE)}' is not an accession number`, {
    hint: suggestion === undefined ? format : `did you mean ${suggestion}?`,
  });
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

/** Returns all accession numbers in a text, with hyphens or without. */
export function accessionsIn(text: string): readonly AccessionNumber[] {
  const matches = text.match(/(?<!\d)(\d{18}|\d{10}-\d{2}-\d{6})(?!\d)/g) ?? [];
  return matches.map(parseAccession);
}

/** A filing or a file that the user named in another way than by an accession number. */
interface Reference {
  readonly accession: AccessionNumber;
  /** The name of the file. The index of a filing is not a file. */
  readonly fileName?: string;
}

/**
 * Returns the filing or file that a URL or `ACCESSION/FILE` names, or undefined if the text has another meaning, too.
 */
export function parseReference(text: string): Reference | undefined {
  const [number = '', ...path] = text.split('/');
  const accession = accessionIn(number);
  const fileName = path.join('/');
  if (accession !== undefined && path.length > 0) return { accession, ...(fileName && { fileName }) };
  return URL.canParse(text) ? parseUrl(new URL(text)) : undefined;
}

function parseUrl({ pathname, search, searchParams }: URL): Reference | undefined {
  const [accession, ...others] = new Set(accessionsIn(`${pathname}${search}`));
  if (accession === undefined || others.length > 0) return undefined;
  const name = percentDecoded(pathname.split('/').at(-1) ?? '');
  const isFile = name.includes('.') && !/-index(-headers)?\.htm/i.test(name);
  const fileName = searchParams.get('file_name') ?? (isFile ? name : undefined);
  return { accession, ...(fileName && { fileName }) };
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
