import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';

/** The accession number of a filing, known to be 10, 2 and 6 ASCII digits with hyphens between (service.md, section 2). */
export type AccessionNumber = string & { readonly [brand]: true };
declare const brand: unique symbol;

const DIGITS = /^([0-9]{10})(-?)([0-9]{2})\2([0-9]{6})$/;
/** Longer text is cut in the message: it may be a whole file, given by mistake. */
const SHOWN = 60;

/** Reads an accession number, with hyphens or as its 18 digits alone. Throws `usage`. */
export function parseAccession(text: string): AccessionNumber {
  const accession = accessionIn(text);
  if (accession !== undefined) return accession;
  const meant = accessionIn(text.replace(/\D/g, ''));
  throw new FilingsError('usage', `'${shortened(text, SHOWN)}' is not an accession number`, {
    hint: meant === undefined ? 'it is 10, 2 and 6 digits, such as 0001234567-24-000001' : `did you mean ${meant}?`,
  });
}

/** The accession number that a text is, in either form. */
export function accessionIn(text: string): AccessionNumber | undefined {
  const found = DIGITS.exec(text);
  // Joined: a piece of a line would hold the line, and there may be a million.
  return found ? ([found[1], found[3], found[4]].join('-') as AccessionNumber) : undefined;
}

/** The accession numbers in a text, with hyphens or without. */
export function accessionsIn(text: string): readonly AccessionNumber[] {
  const found = text.match(/(?<!\d)(\d{18}|\d{10}-\d{2}-\d{6})(?!\d)/g) ?? [];
  return found.map(parseAccession);
}

/** What was written in the place of an accession number. */
interface Pasted {
  readonly accession: AccessionNumber;
  /** The file's own name, where it names one; a filing's index is none. */
  readonly fileName?: string;
}

/** What a URL or `ACCESSION/FILE` names, when nothing else could be meant. */
export function pasted(text: string): Pasted | undefined {
  const [number = '', ...path] = text.split('/');
  const accession = accessionIn(number);
  const fileName = path.join('/');
  if (accession !== undefined && path.length > 0) return { accession, ...(fileName && { fileName }) };
  return URL.canParse(text) ? pastedUrl(new URL(text)) : undefined;
}

function pastedUrl({ pathname, search, searchParams }: URL): Pasted | undefined {
  const [accession, ...others] = new Set(accessionsIn(`${pathname}${search}`));
  if (accession === undefined || others.length > 0) return undefined;
  const name = decoded(pathname.split('/').at(-1) ?? '');
  const isFile = name.includes('.') && !/-index(-headers)?\.htm/i.test(name);
  const fileName = searchParams.get('file_name') ?? (isFile ? name : undefined);
  return { accession, ...(fileName && { fileName }) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
