// Turns one response of `GET /v1/filings` into a page with the files that the response lists. The shape is not
// documented (service.md, section 4), so a response is read only if its meaning is certain: a file that is missed once
// would be missed in every later run.
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { errorAbout, type FilingsError } from '../errors.ts';
import { findJsonFault, isJsonObject, MAX_DEPTH, parseJson } from '../json.ts';
import { counted, shortened } from '../text.ts';
import type { AccessionNumber } from './accession.ts';
import { summaryFromJson, summaryFromText } from './error-body.ts';
import { hasNextLink, type ResponseMarkers } from './listing-markers.ts';
import { findRecords, type ListingRecord, type StatedTotal } from './listing-records.ts';

/** A file of a filing: the accession number, the name, and all other members of the file's record. */
export interface ListedFile {
  readonly accession_no: string;
  readonly file_name: string;
  readonly [member: string]: unknown;
}

/** The content of one response, which may be a part of a listing. */
export interface Page {
  /** Each name once, without records of other filings and documents without a name. */
  readonly files: readonly ListedFile[];
  /** The number of records in all lists, also those of other filings and without a name. */
  readonly records: number;
  /** The number of records in each list. */
  readonly listSizes: readonly number[];
  /** Equal for pages with the same records in the same order. */
  readonly key: string;
  /** The name of the member that says that more records follow. */
  readonly more: string | undefined;
  /** The number of pages that the response states, otherwise 0. */
  readonly pageCount: number;
  readonly totals: readonly StatedTotal[];
  /** Whether the only names are those of primary documents: a filing usually has more files. */
  readonly isPrimaryOnly: boolean;
}

/** The parts of a response of the listing endpoint that matter here. */
export interface ListingResponse {
  readonly body: Buffer;
  /** The `Link` field of the head. */
  readonly link?: string | readonly string[] | undefined;
}

/** A user's description of the service's listing in the config file: JMESPath expressions and names of parameters. */
export interface ListingDescription {
  readonly files?: string;
  readonly name?: string;
  readonly total?: string;
  readonly more?: string;
  readonly pageSize?: string;
  readonly pageNumber?: string;
  readonly firstPage?: number;
}

/** The members in which services send the size of a file. */
const SIZES = ['size', 'file_size', 'fileSize', 'size_bytes', 'bytes', 'length', 'content_length'];
const DESCRIBE = 'describe the response with "listing" in the config file: filings help config';
/** The longest text of a response in a message, in UTF-16 units. */
const MAX_QUOTE = 200;

/**
 * Returns the page in a response. Throws `integrity`, with a description of the body, if it is not certainly a listing.
 */
export function readListing(response: ListingResponse, accession: AccessionNumber): Page {
  const json = parseListingJson(response, accession);
  const result = findRecords(json, accession);
  if (result === undefined) throw unreadableError(accession, describeUnexpectedBody(json));
  const { records, markers, doubt } = result;
  const error = errorMember(markers, records.length === 0);
  if (error !== undefined) throw unreadableError(accession, describeUnexpectedBody(json, error));
  if (doubt !== undefined) throw uncertainError(accession, doubt);
  return buildPage({ ...result, more: markers.more ?? signInLink(response) }, markers.pageCount, accession);
}

/** Returns the member that reports an error, or undefined. An explanation beside an empty list is an error. */
export function errorMember({ error, explanation }: ResponseMarkers, isEmpty: boolean): string | undefined {
  return error ?? (isEmpty ? explanation : undefined);
}

/** Returns the sign of more in the header fields, or undefined. */
export function signInLink({ link }: ListingResponse): string | undefined {
  return hasNextLink(link) ? 'Link: rel="next"' : undefined;
}

/**
 * Returns the JSON value of a response. Throws `integrity` if the body is not JSON, or if readers of JSON may differ.
 */
export function parseListingJson({ body }: ListingResponse, accession: AccessionNumber): unknown {
  const text = body.toString();
  const json = parseJson(text);
  if (json === undefined) throw unreadableError(accession, describeText(text), 'foreign');
  if (!isUtf8(body)) throw uncertainError(accession, 'it is not valid UTF-8');
  const fault = findJsonFault(text);
  if (fault?.kind === 'too deep') throw unreadableError(accession, `JSON nested more than ${MAX_DEPTH} levels deep`);
  if (fault !== undefined) throw uncertainError(accession, `it has the member '${fault.path.join('.')}' twice`);
  return json;
}

interface PageParts extends Pick<Page, 'listSizes' | 'totals' | 'more'> {
  readonly records: readonly ListingRecord[];
}

/** Returns a page whose files are those of the filing. Records of other filings only count. */
export function buildPage(
  { records, listSizes, totals, more }: PageParts,
  pageCount: number,
  accession: AccessionNumber,
): Page {
  const files = new Map<string, ListedFile>();
  const ours = records.filter((each) => each.accession === undefined || each.accession === accession);
  for (const { name, record } of ours) {
    if (name === undefined || files.has(name)) continue;
    const { accession_no: _, file_name: __, ...others } = record;
    files.set(name, { accession_no: accession, file_name: name, ...others });
  }
  const isPrimaryOnly = ours.every(({ name, isPrimary }) => name === undefined || isPrimary === true);
  const size = listSizes.reduce((sum, each) => sum + each, 0);
  return {
    files: [...files.values()],
    records: size,
    listSizes,
    key: keyOf(records),
    more,
    pageCount,
    totals,
    isPrimaryOnly,
  };
}

/**
 * Returns a hash of accession numbers and names alone, because a record may hold a time or a signed address that
 * changes with each request.
 */
function keyOf(records: readonly ListingRecord[]): string {
  const lines = records.map(({ accession = null, name = null }) => JSON.stringify([accession, name]));
  return hash('sha256', lines.join('\n'));
}

/** Returns the error for a response that may be a listing, but whose meaning is not certain. */
export function uncertainError(accession: AccessionNumber, reason: string): FilingsError {
  return errorAbout({ accession }, 'integrity', `is not certain to be complete: ${shortened(reason, MAX_QUOTE)}`, {
    hint: DESCRIBE,
  });
}

/** Returns the error for a response that is not a listing. */
export function unreadableError(accession: AccessionNumber, body: string, fault?: 'foreign'): FilingsError {
  const hint = fault ? 'check the base URL and the API key' : `check the base URL and the API key, or ${DESCRIBE}`;
  return errorAbout({ accession }, 'integrity', `cannot be read: it is ${body}`, { hint, fault });
}

function describeText(text: string): string {
  if (text.trim() === '') return 'an empty response';
  const isPage = /^\s*<(!doctype html|html|head|body)/i.test(text);
  return `${isPage ? 'an HTML page' : 'not JSON'}: ${shortened(summaryFromText(text) ?? '', MAX_QUOTE)}`;
}

/** Describes JSON that is not a listing. `error` is the member that reports an error. */
export function describeUnexpectedBody(json: unknown, error?: string): string {
  const kind = error === undefined ? 'JSON without a list of file names' : `JSON that reports an error in '${error}'`;
  if (!isJsonObject(json)) {
    return `${kind}: ${shortened(Array.isArray(json) ? counted(json.length, 'item') : String(json), MAX_QUOTE)}`;
  }
  const summary = summaryFromJson(json) ?? `its members are ${Object.keys(json).join(', ') || '(none)'}`;
  return `${kind}: ${shortened(summary, MAX_QUOTE)}`;
}

/** Returns a file's size in bytes, or undefined if its record has none. */
export function listedSize(file: ListedFile): number | undefined {
  for (const member of SIZES) {
    const value = Object.hasOwn(file, member) ? file[member] : undefined;
    const size = typeof value === 'string' && /^[0-9]{1,16}$/.test(value) ? Number(value) : value;
    if (typeof size === 'number' && size >= 0 && Number.isSafeInteger(size)) return size;
  }
  return undefined;
}
