// Reads a response of `GET /v1/filings` that nobody has described. Its shape is not documented (service.md, section 4),
// and a file that is missed once would be missed in every later run. So a response is read only if there is nothing in
// it but the list. `described-listing.ts` reads all other responses.
import { isUtf8 } from 'node:buffer';
import { errorAbout, type FilingsError } from '../errors.ts';
import type { HeaderFields } from '../http/head.ts';
import { findJsonFault, isJsonObject, type JsonObject, MAX_DEPTH, parseJson } from '../json.ts';
import { foreign } from '../secrets.ts';
import { counted } from '../text.ts';
import { type AccessionNumber, accessionIn } from './accession.ts';
import { suggestDescription } from './suggested-description.ts';

/** A file of a filing: the accession number, the name, and all other members of the file's record. */
export interface ListedFile {
  readonly accession_no: string;
  readonly file_name: string;
  readonly [member: string]: unknown;
}

/** All files of a filing, and the number of records and of pages that were read. */
export interface Listing {
  readonly files: readonly ListedFile[];
  readonly records: number;
  readonly pages: number;
}

/** A response of the listing endpoint. */
export interface ListingResponse {
  readonly body: Buffer;
  readonly headers: HeaderFields;
}

/** A parameter of a request's query. */
export type Parameter = readonly [name: string, value: string];

/** A member of an object. */
type Member = readonly [name: string, value: unknown, place?: string];

/** A record with the name of its file, if it has one. */
export type NamedRecord = readonly [record: JsonObject, name: string | undefined];

const NAME = 'filename';
const TOTAL = 'total';
const FILING = ['accessionno', 'accessionnumber'];
const FILING_OF_RECORD = [...FILING, 'accession'];
const TELL_OPERATOR = "tell the service's operator";
const SIZES = ['size', 'filesize', 'sizebytes', 'bytes', 'length', 'contentlength'];
/** A list with one of these numbers of records may be the first of several pages. */
const PAGE_SIZES = [10, 20, 25, 50, 100, 200, 250, 500, 1000];
/** Whole words between the hyphens of a field's name: `X-Total-Count` says that there is more, `X-Account-Id` does not. */
const FIELD_ABOUT_PAGES =
  /(?:^|-)(?:total|totalcount|totalpages|count|next|more|pages?|pagination|continuation|continuationtoken)(?:-|$)/i;
const LINK_TO_NEXT = /;\s*rel\s*=\s*(?:"[^"]*\bnext\b|'[^']*\bnext\b|next\b)/i;
/** A filer is not numbered 0, so a smaller number than this is something else, such as the number of the record. */
const LEAST_ACCESSION = 1e8;

/** Returns the files of a response. Throws `integrity` unless there is nothing in the response but the list. */
export function readListing(response: ListingResponse, accession: AccessionNumber): Listing {
  const json = parseListing(response, accession);
  const members = isJsonObject(json) ? Object.entries(json) : [['', json] as const];
  const lists = members.filter((member): member is [string, unknown[]] => Array.isArray(member[1]));
  const others = members.filter(([, value]) => !Array.isArray(value));
  const [[, records] = []] = lists;
  const sign = findSignOfPages(response.headers);
  const hint = () => suggestDescription(json, (...found) => sign !== undefined || mayBePage(...found));
  if (records === undefined)
    throw listingError(accession, 'the response has no list of files', JSON.stringify(json), foreign(hint()));
  const doubt = lists.length > 1 ? `it has several lists: ${namesOf(lists)}` : doubtAbout(records, others, accession);
  const reason = doubt ?? sign;
  if (reason !== undefined) throw uncertainError(accession, reason, hint());
  if (mayBePage(records, others))
    throw uncertainError(accession, `${records.length} records may be the first of several pages`, hint());
  const named = records.map((item): NamedRecord => (isJsonObject(item) ? [item, nameOf(item)] : [{}, item as string]));
  return { files: filesOf(named, accession), records: records.length, pages: 1 };
}

/** Returns the JSON value of a response. Throws `integrity` if it is not JSON, or if readers of JSON may differ. */
export function parseListing({ body }: ListingResponse, accession: AccessionNumber): unknown {
  const text = body.toString().replace(/^\ufeff/, '');
  const fault = findJsonFault(text);
  if (fault === undefined && isUtf8(body)) return parseJson(text);
  if (fault?.kind === 'twice') throw listingError(accession, 'the response has a member twice', fault.path.join('.'));
  const hint = 'check the base URL and the API key';
  if (fault?.kind === 'too deep')
    throw listingError(accession, `the response has more than ${MAX_DEPTH} levels of JSON`, undefined, hint);
  const quote = text.trim().replace(/\s+/g, ' ') || 'it is empty';
  throw listingError(accession, 'the response is not JSON', quote, hint);
}

/**
 * Returns the files that belong to the filing, each name once. A record that names another filing is dropped, because a
 * service may ignore a parameter that it does not know.
 */
export function filesOf(records: readonly NamedRecord[], accession: AccessionNumber): ListedFile[] {
  const files = new Map<string, ListedFile>();
  for (const [record, name] of records) {
    if (isOfAnother(record, accession) || name === undefined) continue;
    const { accession_no: _, file_name: __, ...others } = record;
    files.set(name, { accession_no: accession, file_name: name, ...others });
  }
  return [...files.values()];
}

/** Returns a file's size in bytes, or undefined if its record has none. */
export function listedSize(file: ListedFile): number | undefined {
  const members = Object.entries(file).map(([name, value]) => [plain(name), value] as const);
  const sizes = SIZES.map((size) => members.find(([name]) => name === size)?.[1]);
  const found = sizes.find((size) => typeof size === 'number' || (typeof size === 'string' && /^\d+$/.test(size)));
  return Number.isSafeInteger(Number(found)) && Number(found) >= 0 ? Number(found) : undefined;
}

/** Returns the error for a response that may be a listing, but may also be a part of one. */
export function uncertainError(accession: AccessionNumber, reason: string, hint: string): FilingsError {
  // Most reasons have words of the response in them.
  return listingError(accession, 'may be incomplete', reason, foreign(hint));
}

function listingError(accession: AccessionNumber, reason: string, quote?: string, hint = TELL_OPERATOR): FilingsError {
  return errorAbout({ accession }, 'integrity', reason, { quote, hint });
}

function findSignOfPages(headers: HeaderFields): string | undefined {
  if (LINK_TO_NEXT.test(String(headers.link ?? ''))) return 'its Link field names a next page';
  const field = Object.keys(headers).find((name) => name === 'content-range' || FIELD_ABOUT_PAGES.test(name));
  return field && `the response has the field ${field}`;
}

/** Returns why the only list of a response may not be the list of all files. `others` are the members next to it. */
function doubtAbout(
  records: readonly unknown[],
  others: readonly Member[],
  accession: AccessionNumber,
): string | undefined {
  const unknown = others.filter(([name]) => ![...FILING, TOTAL].includes(plain(name)));
  if (unknown.length > 0) return `it has ${namesOf(unknown)} besides the list`;
  for (const [name, value] of others) {
    const shown = JSON.stringify(value);
    if (plain(name) !== TOTAL && accessionOf(value) !== accession)
      throw listingError(accession, 'the response is about another filing', `its ${name} is ${shown}`);
    if (plain(name) === TOTAL && value !== records.length)
      return `it has ${counted(records.length, 'record')}, but its total is ${shown}`;
  }
  for (const [index, record] of records.entries()) {
    const fault = faultOf(record);
    if (fault !== undefined) return `record ${index + 1} ${fault}`;
  }
  return undefined;
}

/** Returns whether a list may be a page, because of what is next to it, or because it has as many records as pages have. */
function mayBePage(records: readonly unknown[], others: readonly Member[]): boolean {
  const rest = others.filter(([name]) => !FILING.includes(plain(name)));
  if (rest.length === 0) return PAGE_SIZES.includes(records.length);
  return rest.some(([name, value]) => plain(name) !== TOTAL || value !== records.length);
}

function faultOf(record: unknown): string | undefined {
  if (typeof record === 'string') return record === '' ? 'is empty' : undefined;
  if (!isJsonObject(record)) return 'is neither a name nor an object';
  const nested = Object.keys(record).find((name) => typeof record[name] === 'object' && record[name] !== null);
  if (nested !== undefined) return `has more than a value in '${nested}'`;
  const names = Object.keys(record).filter((name) => plain(name) === NAME);
  if (names.length > 1) return `has several file names: '${names.join("', '")}'`;
  const [name] = names;
  if (name === undefined) return 'has no file_name';
  return typeof record[name] === 'string' && record[name] !== '' ? undefined : `has no name in '${name}'`;
}

function nameOf(record: JsonObject): string | undefined {
  const name = Object.keys(record).find((member) => plain(member) === NAME);
  return name && String(record[name]);
}

/** Returns whether a record names another filing. Throws `integrity` if it names something else, or several. */
function isOfAnother(record: JsonObject, accession: AccessionNumber): boolean {
  const named = Object.entries(record).filter(
    ([name, value]) => value !== null && FILING_OF_RECORD.includes(plain(name)),
  );
  const found = new Set(named.map(([, value]) => accessionOf(value)));
  if (found.size > 1 || found.has(undefined))
    throw listingError(accession, 'a record does not name one filing', JSON.stringify(Object.fromEntries(named)));
  return found.size === 1 && !found.has(accession);
}

/** As a number, an accession number has lost its leading zeros. */
function accessionOf(value: unknown): AccessionNumber | undefined {
  if (typeof value === 'string') return accessionIn(value);
  const isExact = Number.isSafeInteger(value) && Number(value) >= LEAST_ACCESSION;
  return isExact ? accessionIn(String(value).padStart(18, '0')) : undefined;
}

/** Returns the name of a member without what may differ between services: case, `_` and `-`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

function namesOf(members: readonly Member[]): string {
  return members.map(([name]) => `'${name}'`).join(', ');
}

/** Returns the address with further parameters at its end. */
export function withParameters(url: URL, query: readonly Parameter[]): URL {
  const parameters = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  const result = new URL(url);
  result.search = [url.search.slice(1), parameters].filter(Boolean).join('&');
  return result;
}
