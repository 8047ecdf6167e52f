import { errorAbout } from '../../errors.ts';
import { DEEPEST, isDeeper, parseJson } from '../../json.ts';
import type { AccessionNumber } from '../accession.ts';
import { type Found, findFiles } from './search.ts';
import { describeAnswer } from './seen.ts';

/** A file of a filing: its number, its name, and whatever else the service said of it. */
export interface ListedFile {
  readonly accession_no: string;
  readonly file_name: string;
  readonly [member: string]: unknown;
}

/**
 * Reads an answer of `GET /v1/filings` tolerantly: the contract does not show its shape
 * (part 4, "Other endpoints"). Records of another accession number are dropped, documents
 * without a name too; a name comes once. An empty list is no match. Throws `integrity`
 * for what can't be read as a listing, saying what it saw.
 */
export function readListing(body: Buffer, accession: AccessionNumber): readonly ListedFile[] {
  const text = new TextDecoder().decode(body);
  const json = parseJson(text);
  const tooDeep = isDeeper(json);
  const found = tooDeep ? undefined : findFiles(json, accession);
  if (found === undefined) {
    const seen = tooDeep ? `JSON that is nested more than ${DEEPEST} levels deep` : describeAnswer(text, json);
    throw errorAbout({ accession }, 'integrity', `cannot be read: it is ${seen}`, {
      hint: 'is the base URL the right one? See: filings config list',
      ...(json === undefined && { fault: 'foreign' as const }),
    });
  }
  const files = new Map<string, ListedFile>();
  for (const file of found) if (!files.has(file.name)) files.set(file.name, listedFile(accession, file));
  return [...files.values()];
}

/** The service's other members follow ours. */
function listedFile(accession: AccessionNumber, { name, record }: Found): ListedFile {
  const { accession_no: _, file_name: __, ...others } = record;
  return { accession_no: accession, file_name: name, ...others };
}

/** Members in which services say how large a file is. */
const SIZES = ['size', 'file_size', 'fileSize', 'size_bytes', 'bytes', 'length', 'content_length'];

/** A file's size in bytes, where its record says one that can be one. */
export function listedSize(file: ListedFile): number | undefined {
  for (const member of SIZES) {
    const value = Object.hasOwn(file, member) ? file[member] : undefined;
    const size = typeof value === 'string' && /^[0-9]{1,16}$/.test(value) ? Number(value) : value;
    if (typeof size === 'number' && size >= 0 && Number.isSafeInteger(size)) return size;
  }
  return undefined;
}
