// Reads a listing that is not described. Its form is not documented (docs/service.md, section 4), and a file that is
// missed once would be missed in every later run. So anything but the list is refused (docs/guarantees.md).
import { isUtf8 } from 'node:buffer';
import { FilingsError } from '../errors.ts';
import type { HeaderFields } from '../http/head.ts';
import { isJsonObject, type JsonObject, parseStrictly, TOO_DEEP } from '../json.ts';
import { markForRedaction } from '../secrets.ts';
import { counted } from '../text.ts';
import { type AccessionNumber, asAccession } from './accession.ts';
import { findFileLists, suggestDescription } from './suggested-description.ts';

export interface ListedFile {
  readonly accession_no: string;
  readonly file_name: string;
  readonly [member: string]: unknown;
}

export interface Listing {
  readonly files: readonly ListedFile[];
  /** This includes records that are not about a file of this filing. */
  readonly recordCount: number;
  readonly pageCount: number;
}

export interface ListingResponse {
  readonly body: Buffer;
  readonly headers: HeaderFields;
}

/** Requests a page, and returns what `read` returns for it. */
export type RequestPage = <T>(url: URL, read: (page: ListingResponse) => T, isUrlFromService?: boolean) => Promise<T>;

export type QueryParameter = readonly [name: string, value: string];

export type Member = readonly [name: string, value: unknown];

/** A record that is only a name has become `{}` and that name. */
export type NamedRecord = readonly [record: JsonObject, name: string | undefined];

// The names of members as `normalizeName` returns them.
const FILE_NAME = 'filename';
const TOTAL = 'total';
/** In a list with another name, strings may be messages: `{"errors":["The key has expired."]}`. */
const STRING_LISTS = ['files', 'filenames', 'names', 'documents'];
const ACCESSION_NAMES = ['accessionno', 'accessionnumber'];
/** If `accession` were not known here, a record of another filing would pass for one of this filing. */
const ACCESSION_NAMES_IN_RECORDS = [...ACCESSION_NAMES, 'accession'];
const SIZE_NAMES = ['size', 'filesize', 'sizebytes', 'bytes', 'length', 'contentlength'];

const CHECK_DESCRIPTION = 'check the description of the listing (filings config get listing) and the requests (-v)';
const TELL_OPERATOR = "tell the service's operator";
const COMMON_PAGE_SIZES = [10, 20, 25, 50, 100, 200, 250, 500, 1000];
/** Whole words between hyphens, so that `X-Total-Count` matches and `X-Account-Id` does not. */
const PAGING_HEADER =
  /(?:^|-)(?:total|totalcount|totalpages|count|next|more|pages?|pagination|continuation|continuationtoken)(?:-|$)/i;
/** `rel="next"` and `rel=next` are valid (RFC 8288, section 3). `rel='next'` is not, but some services send it. */
const LINK_TO_NEXT = /;\s*rel\s*=\s*(?:"[^"]*\bnext\b|'[^']*\bnext\b|next\b)/i;
/** 0000000001-00-000000 as an integer. A smaller integer is something else, such as the index of the record. */
const MIN_ACCESSION = 1e8;

export function readListing(response: ListingResponse, accession: AccessionNumber): Listing {
  const json = parseListing(response);
  const members: readonly Member[] = isJsonObject(json) ? Object.entries(json) : [['files', json]];
  const lists = members.filter((member): member is [string, unknown[]] => isList(member));
  const others = members.filter((member) => !isList(member));
  const records = lists[0]?.[1];
  const pagingReason = findPagingHeader(response.headers);
  const makeHint = () => {
    const suggested = findFileLists(json);
    // With several lists none is suggested, and finding what is next to each of them could take minutes.
    const [list] = suggested.length === 1 ? suggested : [];
    // A header that suggests pages makes any list a possible page.
    const isPage = pagingReason !== undefined || (list !== undefined && mayBePage(list.records, list.findOthers()));
    return suggestDescription(suggested, isPage);
  };
  if (records === undefined)
    throw listingError('the response has no list of files', JSON.stringify(json), markForRedaction(makeHint()));
  const recordsOrFaults = records.map(readRecord);
  const reason =
    (lists.length > 1 ? `it has several lists: ${quoteNames(lists)}` : undefined) ??
    findUnexpected(records.length, others, accession) ??
    recordsOrFaults.find((each) => typeof each === 'string') ??
    pagingReason ??
    (mayBePage(records, others) ? `${records.length} records may be the first of several pages` : undefined);
  if (reason !== undefined) throw incompleteError(reason, makeHint());
  const valid = recordsOrFaults.filter((each) => typeof each !== 'string');
  return { files: selectFiles(valid, accession), recordCount: records.length, pageCount: 1 };
}

/**
 * Not by URLSearchParams, which would rewrite the existing query: `a%20b/c` would become `a+b%2Fc`. The URL of a next
 * page comes from the service, so its query must be sent back exactly as it came.
 */
export function withParameters(url: URL, query: readonly QueryParameter[]): URL {
  const parameters = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  const result = new URL(url);
  result.search = [url.search.slice(1), parameters].filter(Boolean).join('&');
  return result;
}

function isList([name, value]: Member): boolean {
  if (!Array.isArray(value)) return false;
  return STRING_LISTS.includes(normalizeName(name)) || !value.some((record) => typeof record === 'string');
}

/** A duplicate member is refused, because another program might read the other value. */
export function parseListing({ body }: ListingResponse): unknown {
  const text = body.toString().replace(/^\ufeff/, '');
  const { value, fault } = parseStrictly(text);
  // JSON must be UTF-8 (RFC 8259, section 8.1). `toString` has replaced invalid bytes, so check the original.
  if (fault === undefined && isUtf8(body)) return value;
  if (fault?.kind === 'duplicate') throw listingError('the response has a duplicate member', fault.path?.join('.'));
  const hint = 'check the base URL and the API key';
  if (fault?.kind === 'too deep') throw listingError(`the response ${TOO_DEEP}`, undefined, hint);
  const quote = text.trim().replace(/\s+/g, ' ') || 'the body is empty';
  throw listingError('the response is not JSON', quote, hint);
}

/**
 * Records without a name occur only in described listings, and are not about a file. Records of other filings are
 * dropped, because a service that does not know the parameter `accession_no` may send the records of all filings
 * (docs/service.md, section 8). Of records with the same name, the last one is used.
 */
export function selectFiles(records: readonly NamedRecord[], accession: AccessionNumber): ListedFile[] {
  const files = new Map<string, ListedFile>();
  for (const [record, name] of records) {
    if (belongsToAnotherFiling(record, accession) || name === undefined) continue;
    const { accession_no: _, file_name: __, ...others } = record;
    files.set(name, { accession_no: accession, file_name: name, ...others });
  }
  return [...files.values()];
}

/** The size is only shown. It decides nothing, because it is not always that of the file. */
export function listedSize(file: ListedFile): number | undefined {
  const size = findMembers(file, SIZE_NAMES)
    .map(readNumber)
    .find((number) => number !== undefined);
  return Number.isSafeInteger(size) && Number(size) >= 0 ? size : undefined;
}

/** The value of each of the names, which are as `normalizeName` returns them. */
export function findMembers(file: ListedFile, names: readonly string[]): readonly unknown[] {
  const members = Object.entries(file).map(([name, value]) => [normalizeName(name), value] as const);
  return names.map((wanted) => members.find(([name]) => name === wanted)?.[1]);
}

/** Some services send numbers as strings. */
export function readNumber(value: unknown): number | undefined {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
  return isNumber ? Number(value) : undefined;
}

export function noMatchError(accession: string, fileCount: number): FilingsError {
  const reason = fileCount === 1 ? 'its only file does not match' : `none of its ${fileCount} files match`;
  return new FilingsError('not_found', `${reason} (--include and --exclude are case-sensitive)`, {
    subject: { name: accession },
    hint: `to see its files: filings list ${accession}`,
  });
}

export function incompleteError(reason: string, hint = CHECK_DESCRIPTION): FilingsError {
  // `reason` is passed as the quote, because most reasons have text from the response in them, which must be redacted.
  return listingError('may be incomplete', reason, markForRedaction(hint));
}

function listingError(reason: string, quote?: string, hint = TELL_OPERATOR): FilingsError {
  return new FilingsError('integrity', reason, { quote, hint });
}

function findPagingHeader(headers: HeaderFields): string | undefined {
  if (LINK_TO_NEXT.test(String(headers.link ?? ''))) return 'its Link header points to a next page';
  const header = Object.keys(headers).find((name) => name === 'content-range' || PAGING_HEADER.test(name));
  return header && `its ${header} header suggests further pages`;
}

function findUnexpected(
  recordCount: number,
  others: readonly Member[],
  accession: AccessionNumber,
): string | undefined {
  const unknownMembers = others.filter(([name]) => ![...ACCESSION_NAMES, TOTAL].includes(normalizeName(name)));
  if (unknownMembers.length > 0) return `it has ${quoteNames(unknownMembers)} besides the list`;
  for (const [name, value] of others) {
    const shown = JSON.stringify(value);
    const isTotal = normalizeName(name) === TOTAL;
    if (!isTotal && parseAccessionMember(value) !== accession)
      throw listingError('the response is about another filing', `its ${name} is ${shown}`);
    if (isTotal && value !== recordCount) return `it has ${counted(recordCount, 'record')}, but its total is ${shown}`;
  }
  return undefined;
}

/** If a total equals the number of records, the list is whole, even if that number is a common page size. */
function mayBePage(records: readonly unknown[], others: readonly Member[]): boolean {
  const clues = others.filter(([name]) => !ACCESSION_NAMES.includes(normalizeName(name)));
  if (clues.length === 0) return COMMON_PAGE_SIZES.includes(records.length);
  return clues.some(([name, value]) => normalizeName(name) !== TOTAL || value !== records.length);
}

/** A string is a fault: it says what is wrong with the record. */
function readRecord(record: unknown, index: number): NamedRecord | string {
  const place = `record ${index + 1}`;
  if (record === '') return `${place} is empty`;
  if (typeof record === 'string') return [{}, record];
  if (!isJsonObject(record)) return `${place} is neither a name nor an object`;
  const nested = Object.keys(record).find((name) => typeof record[name] === 'object' && record[name] !== null);
  if (nested !== undefined) return `${place} has a list or an object in '${nested}', which may hold further files`;
  const [name, ...others] = Object.keys(record).filter((each) => normalizeName(each) === FILE_NAME);
  if (name === undefined) return `${place} has no file_name`;
  if (others.length > 0) return `${place} has several file names: '${[name, ...others].join("', '")}'`;
  const value = record[name];
  return typeof value === 'string' && value !== '' ? [record, value] : `${place} has no name in '${name}'`;
}

function belongsToAnotherFiling(record: JsonObject, accession: AccessionNumber): boolean {
  const members = Object.entries(record).filter(
    ([name, value]) => value !== null && ACCESSION_NAMES_IN_RECORDS.includes(normalizeName(name)),
  );
  const accessions = new Set(members.map(([, value]) => parseAccessionMember(value)));
  if (accessions.size > 1 || accessions.has(undefined)) {
    const isRounded = members.some(([, value]) => typeof value === 'number' && value > Number.MAX_SAFE_INTEGER);
    const reason = `a record has ${isRounded ? 'a rounded' : 'an invalid or ambiguous'} accession number`;
    const hint = isRounded
      ? `${TELL_OPERATOR} to send it as a string, because larger numbers than 2^53 are not exact`
      : TELL_OPERATOR;
    throw listingError(reason, JSON.stringify(Object.fromEntries(members)), hint);
  }
  return accessions.size === 1 && !accessions.has(accession);
}

/** An accession number that is sent as a JSON number has lost its hyphens and its leading zeros. */
function parseAccessionMember(value: unknown): AccessionNumber | undefined {
  if (typeof value === 'string') return asAccession(value);
  // JSON.parse rounds larger integers, so they may be another accession number.
  const isExact = Number.isSafeInteger(value) && Number(value) >= MIN_ACCESSION;
  return isExact ? asAccession(String(value).padStart(18, '0')) : undefined;
}

/** Services write the same member with different case, `_` and `-`. */
function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

function quoteNames(members: readonly Member[]): string {
  return members.map(([name]) => `'${name}'`).join(', ');
}
