// Turns one response of `GET /v1/filings` into the files that it lists. Its shape is not documented (service.md, section
// 4), so it is read only if its meaning is certain: a file that is missed once would be missed for ever.
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { errorAbout, type FilingsError } from '../errors.ts';
import { findJsonFault, isJsonObject, MAX_DEPTH, parseJson } from '../json.ts';
import { counted, shortened } from '../text.ts';
import type { AccessionNumber } from './accession.ts';
import { summaryFromJson, summaryFromText } from './error-body.ts';
import { hasNextLink, type ResponseMarkers } from './listing-markers.ts';
import { findRecords, type ListingRecord, type StatedTotal } from './listing-records.ts';

/** A file of a filing: its number, its name, and all other members that the service sent for it. */
export interface ListedFile {
  readonly accession_no: string;
  readonly file_name: string;
  readonly [member: string]: unknown;
}

/** One response, which may be a part of a listing. */
export interface Page {
  /** Each name once, without records of other filings and documents without a name. */
  readonly files: readonly ListedFile[];
  /** The number of records in all lists, also those of other filings and without a name. */
  readonly records: number;
  /** The number of records in each list. */
  readonly listSizes: readonly number[];
  /** Equal for pages with the same records in the same order. */
  readonly key: string;
  /** What says that there is more, as the response writes it. */
  readonly more: string | undefined;
  /** The number of pages, as far as the response says; otherwise 0. */
  readonly pageCount: number;
  readonly totals: readonly StatedTotal[];
  /** Whether the only names are those of primary documents: a filing usually has more files. */
  readonly isPrimaryOnly: boolean;
}

/** The parts of a response of the listing endpoint that matter here. */
export interface ListingResponse {
  readonly body: Buffer;
  /** Its `Link` field. */
  readonly link?: string | readonly string[] | undefined;
}

/** How a user describes the service's listing in the config file: JMESPath expressions and names of parameters. */
export interface ListingDescription {
  readonly files?: string;
  readonly name?: string;
  readonly total?: string;
  readonly more?: string;
  readonly pageSize?: string;
  readonly pageNumber?: string;
  readonly firstPage?: number;
}

/** Members in which services send the size of a file. */
const SIZES = ['size', 'file_size', 'fileSize', 'size_bytes', 'bytes', 'length', 'content_length'];
const DESCRIBE = 'describe the response with "listing" in the config file: filings help config';
const MAX_SEEN = 200;

/** Reads a response. Throws `integrity` if it is not certain to be a listing, with what was seen. */
export function readListing(response: ListingResponse, accession: AccessionNumber): Page {
  const json = jsonOf(response, accession);
  const found = findRecords(json, accession);
  const error = found && errorIn(found.markers, found.records.length === 0);
  if (found === undefined || error !== undefined) throw unreadable(accession, seenIn(json, error));
  if (found.doubt !== undefined) throw uncertain(accession, found.doubt);
  return pageOf({ ...found, more: found.markers.more ?? linkOf(response) }, found.markers.pageCount, accession);
}

/** The member that makes a response an error. An empty list is one beside anything that explains it. */
export function errorIn({ error, explanation }: ResponseMarkers, isEmpty: boolean): string | undefined {
  return error ?? (isEmpty ? explanation : undefined);
}

/** The sign of more that is in the header fields. */
export function linkOf({ link }: ListingResponse): string | undefined {
  return hasNextLink(link) ? 'Link: rel="next"' : undefined;
}

/** The JSON of a response. Throws `integrity` for anything else, and where readers of JSON differ. */
export function jsonOf({ body }: ListingResponse, accession: AccessionNumber): unknown {
  const text = body.toString();
  const json = parseJson(text);
  if (json === undefined) throw unreadable(accession, seenInText(text), 'foreign');
  if (!isUtf8(body)) throw uncertain(accession, 'it is not valid UTF-8');
  const fault = findJsonFault(text);
  if (fault?.kind === 'too deep') throw unreadable(accession, `JSON nested more than ${MAX_DEPTH} levels deep`);
  if (fault !== undefined) throw uncertain(accession, `it has the member '${fault.path.join('.')}' twice`);
  return json;
}

interface PageParts extends Pick<Page, 'listSizes' | 'totals' | 'more'> {
  readonly records: readonly ListingRecord[];
}

/** Puts a page together, without the records of other filings. */
export function pageOf(
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

/** By accession number and name alone: a record may hold a time or a signed address that changes with each request. */
function keyOf(records: readonly ListingRecord[]): string {
  const sum = records.map(({ accession = null, name = null }) => JSON.stringify([accession, name]));
  return hash('sha256', sum.join('\n'));
}

/** An error about a response that may be a listing, but not one whose meaning is certain. */
export function uncertain(accession: AccessionNumber, why: string): FilingsError {
  return errorAbout({ accession }, 'integrity', `is not certain to be complete: ${shortened(why, MAX_SEEN)}`, {
    hint: DESCRIBE,
  });
}

/** An error about a response that is no listing. */
export function unreadable(accession: AccessionNumber, seen: string, fault?: 'foreign'): FilingsError {
  const hint = fault ? 'check the base URL and the API key' : `check the base URL and the API key, or ${DESCRIBE}`;
  return errorAbout({ accession }, 'integrity', `cannot be read: it is ${seen}`, { hint, fault });
}

function seenInText(text: string): string {
  if (text.trim() === '') return 'an empty response';
  const isPage = /^\s*<(!doctype html|html|head|body)/i.test(text);
  return `${isPage ? 'an HTML page' : 'not JSON'}: ${shortened(summaryFromText(text) ?? '', MAX_SEEN)}`;
}

/** Describes JSON that is no listing. `error` is the member that says so. */
export function seenIn(json: unknown, error?: string): string {
  const kind = error === undefined ? 'JSON without a list of file names' : `JSON that reports an error in '${error}'`;
  if (!isJsonObject(json)) {
    return `${kind}: ${shortened(Array.isArray(json) ? counted(json.length, 'item') : String(json), MAX_SEEN)}`;
  }
  const summary = summaryFromJson(json) ?? `its members are ${Object.keys(json).join(', ') || '(none)'}`;
  return `${kind}: ${shortened(summary, MAX_SEEN)}`;
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
