// Reads a described listing. Loaded only when it is needed, because loading the JMESPath library takes time.
import { FilingsError } from '../errors.ts';
import { isJsonObject } from '../json.ts';
import { counted, grouped } from '../text.ts';
import { type AccessionNumber, asAccession } from './accession.ts';
import { evaluate } from './expression.ts';
import {
  incompleteError,
  type ListedFile,
  type Listing,
  type ListingResponse,
  type NamedRecord,
  parseListing,
  type RequestPage,
  readNumber,
  selectFiles,
  withParameters,
} from './listing.ts';
import { DEFAULT_NAME, suggestPlace } from './suggested-description.ts';

/** The `listing` of the config file (docs/using.md). `files`, `name`, `total`, `more` and `next` are expressions. */
export interface ListingDescription {
  /** Selects the array of records. Default: `@`, the response itself. */
  readonly files?: string;
  /** Default: `file_name`. */
  readonly name?: string;
  /** Selects the number of records on all pages. */
  readonly total?: string;
  /** Selects a value that is false or empty (see `isTrue`) on the last page, and only there. */
  readonly more?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The parameter with the number of the page, from `firstPage` (default: 1) on. */
  readonly page?: string;
  readonly firstPage?: number;
  /** The parameter with the number of records on all earlier pages. */
  readonly offset?: string;
  /** Selects the address of the next page, or, if `cursor` is set, the value of that parameter. */
  readonly next?: string;
  readonly cursor?: string;
}

/** Ends the run if a service always has another page. */
const MAX_PAGES = 10_000;

// Suggests no command that removes a member, because the first page could then pass for the whole list.
const PAGES_HINT = 'describe how further pages are requested: listing.page, listing.offset or listing.next';
const TOTAL_HINT = `${PAGES_HINT}; if the total does not count the records, it must not be described as listing.total`;
const describePlaceHint = (json: unknown, { total }: ListingDescription) =>
  `describe where the files and their names are: ${suggestPlace(json, total !== undefined)}`;

interface ListingRequest {
  readonly description: ListingDescription;
  readonly accession: AccessionNumber;
  /** With the parameters of `--query`. */
  readonly listingUrl: URL;
}

/** What the pages have so far. */
class Pages {
  readonly files = new Map<string, ListedFile>();
  /** A service that does not know the parameter for the page sends the same page each time. */
  readonly firstRecords = new Set<string>();
  readonly totals = new Set<number>();
  /** The first page with records. */
  sample: Page | undefined;
  recordCount = 0;
  pageCount = 0;
  hasNames = false;
}

export async function readDescribedListing(request: ListingRequest, requestPage: RequestPage): Promise<Listing> {
  const { description } = request;
  rejectConflicts(description);
  const pages = new Pages();
  const readNext = (response: ListingResponse): URL | undefined => {
    const page = readPage(description, parseListing(response));
    addPage(request, pages, page);
    const url = findNextUrl(request, pages, page);
    if (url === undefined) requireWhole(description, pages);
    return url;
  };
  let url: URL | undefined = makePageUrl(request, pages);
  while (url !== undefined) {
    const before = pages.pageCount;
    if (before === MAX_PAGES) throw incompleteError(`there are over ${grouped(MAX_PAGES)} pages`);
    url = await requestPage(url, readNext, before > 0 && !computesUrl(description)).catch((error) => {
      // If a later page is rejected, the list is incomplete. `not_found` would say that there is no such filing.
      if (before === 0 || (error.code !== 'not_found' && error.code !== 'rejected')) throw error;
      const reasons = [`page ${before + 1}`, error.reason, error.quote].filter(Boolean);
      throw incompleteError(reasons.join(': ')).with({ cause: error });
    });
  }
  const { files, recordCount, pageCount } = pages;
  return { files: [...files.values()], recordCount, pageCount };
}

function addPage({ description: { total }, accession }: ListingRequest, pages: Pages, page: Page): void {
  const { files, firstRecords, totals } = pages;
  pages.pageCount += 1;
  if (page.records.length > 0) {
    pages.sample ??= page;
    const first = JSON.stringify(page.records[0]);
    if (firstRecords.has(first))
      throw incompleteError(`page ${pages.pageCount} begins with the same record as an earlier page`);
    firstRecords.add(first);
  }
  for (const file of selectFiles(page.records, accession)) {
    // If pages overlap, they do not fit together, so other files may be on none of them.
    if (files.has(file.file_name)) throw incompleteError(`'${file.file_name}' is on two pages`);
    files.set(file.file_name, file);
  }
  pages.recordCount += page.records.length;
  pages.hasNames ||= page.records.some(([, name]) => name !== undefined);
  if (page.total !== undefined) totals.add(page.total);
  // The first page must state the total. Later pages need not repeat it.
  if (total !== undefined && totals.size === 0) throw incompleteError(`listing.total (${total}) selects no number`);
}

/** Called after the last page. */
function requireWhole(description: ListingDescription, { sample, hasNames, totals, recordCount, pageCount }: Pages) {
  if (sample && !hasNames) {
    const members = Object.keys(sample.records[0]?.[0] ?? {}).join(', ') || 'no members';
    const reason = `listing.name (${description.name ?? DEFAULT_NAME}) selects nothing in any record; the first has ${members}`;
    throw incompleteError(reason, describePlaceHint(sample.json, description));
  }
  const total = [...totals].find((each) => each !== recordCount);
  if (total === undefined) return;
  const describesPages = computesUrl(description) || description.next !== undefined;
  const reason = `it has ${counted(recordCount, 'record')} on ${counted(pageCount, 'page')}, but listing.total (${description.total}) is ${total}`;
  throw incompleteError(reason, describesPages ? undefined : TOTAL_HINT);
}

/**
 * Conflicting members might make a run miss pages. They are not refused when the config file is written: `config set`
 * sets one member at a time, so a description may be unfinished then.
 */
function rejectConflicts({ page, offset, next, cursor }: ListingDescription): void {
  const reject = (reason: string, hint: string) => {
    throw new FilingsError('config', reason, { subject: { name: 'listing' }, hint });
  };
  if (page !== undefined && offset !== undefined)
    reject('page and offset cannot be used together', 'remove one: filings config unset listing.offset');
  if (cursor !== undefined && next === undefined)
    reject('cursor requires next', 'describe its value with listing.next: filings config set listing.next EXPRESSION');
}

type Page = ReturnType<typeof readPage>;

function readPage(description: ListingDescription, json: unknown) {
  const { files = '@', name = DEFAULT_NAME, total, next, more } = description;
  const select = (member: keyof ListingDescription, expression: string | undefined, value: unknown): unknown => {
    if (expression === undefined) return undefined;
    try {
      return evaluate(value, expression);
    } catch (error) {
      throw incompleteError(`listing.${member} (${expression}): ${(error as Error).message}`);
    }
  };
  const placeError = (reason: string) => incompleteError(reason, describePlaceHint(json, description));
  const items = select('files', files, json);
  if (!Array.isArray(items)) throw placeError(`listing.files (${files}) selects no array in ${JSON.stringify(json)}`);
  const records = items.map((item, index): NamedRecord => {
    const isObject = isJsonObject(item);
    const fileName = isObject ? select('name', name, item) : item;
    // A list may have records that are not about files.
    if (isObject && fileName === undefined) return [item, undefined];
    if (typeof fileName === 'string' && fileName !== '') return [isObject ? item : {}, fileName];
    const source = isObject ? `name (${name})` : `files (${files})`;
    const shown = JSON.stringify(fileName);
    throw placeError(`listing.${source} selects ${shown} in record ${index + 1}, which is not a file name`);
  });
  return {
    json,
    records,
    total: readNumber(select('total', total, json)),
    next: select('next', next, json),
    more: select('more', more, json),
  };
}

function computesUrl({ page, offset }: ListingDescription): boolean {
  return page !== undefined || offset !== undefined;
}

function makePageUrl({ description, listingUrl }: ListingRequest, { pageCount, recordCount }: Pages): URL {
  const { query = {}, page, firstPage = 1, offset } = description;
  const parameters = { ...query };
  if (page !== undefined) parameters[page] = `${firstPage + pageCount}`;
  if (offset !== undefined) parameters[offset] = `${recordCount}`;
  return withParameters(listingUrl, Object.entries(parameters));
}

/** Together with `page` or `offset`, `next` only says whether there is a next page. */
function findNextUrl(request: ListingRequest, pages: Pages, page: Page): URL | undefined {
  const { description } = request;
  if (isLastPage(description, pages, page)) return undefined;
  const canRequestMore = description.next === undefined ? computesUrl(description) : isTrue(page.next);
  if (!canRequestMore) {
    const reason = `listing.more (${description.more}) says that there is more, but there is no next page`;
    throw incompleteError(reason, PAGES_HINT);
  }
  return computesUrl(description) ? makePageUrl(request, pages) : readNextUrl(request, page.next);
}

function isLastPage(description: ListingDescription, pages: Pages, { records, next, more }: Page): boolean {
  if (description.more !== undefined) return !isTrue(more);
  if (description.next !== undefined) return !isTrue(next);
  if (!computesUrl(description) || records.length === 0) return true;
  return [...pages.totals].some((total) => pages.recordCount >= total);
}

function readNextUrl(
  { description: { query = {}, cursor }, accession, listingUrl }: ListingRequest,
  next: unknown,
): URL {
  const nextError = (why: string) => incompleteError(`listing.next is ${JSON.stringify(next)}, which ${why}`);
  // Half of a surrogate pair cannot be sent in a URL.
  const isText = typeof next === 'string' && !/\p{Cs}/u.test(next);
  if (cursor !== undefined) {
    if (typeof next === 'number' && !Number.isSafeInteger(next))
      throw nextError('JavaScript may have rounded: only integers below 2^53 are exact');
    if (!isText && typeof next !== 'number') throw nextError('is not a cursor');
    return withParameters(listingUrl, Object.entries({ ...query, [cursor]: `${next}` }));
  }
  if (!isText || !URL.canParse(next, listingUrl.href)) throw nextError('is not an address');
  const url = withoutKey(new URL(next, listingUrl));
  // Requesting it would send the key to that origin.
  if (url.origin !== listingUrl.origin)
    throw incompleteError(`the next page is at another origin, ${url.protocol}//${url.host}`);
  const isOther = (text: string) => asAccession(text) !== accession;
  if (url.searchParams.getAll('accession_no').some(isOther)) throw nextError('does not name this filing');
  const number = `(?<!\\d)(?:${accession}|${accession.replaceAll('-', '')})(?!\\d)`;
  const namesFiling = new RegExp(number).test(`${url.pathname}?${url.searchParams}`);
  const missing = [...listingUrl.searchParams, ...Object.entries(query)].filter(
    ([name]) => !url.searchParams.has(name) && !(name === 'accession_no' && namesFiling),
  );
  return withParameters(url, missing);
}

/** A service may repeat our key in an address, even if it was not sent there. */
function withoutKey(url: URL): URL {
  [url.username, url.password, url.hash] = ['', '', ''];
  url.pathname = url.pathname.replace(/\/APIKEY(?:-|%2d)[^/]*/gi, '');
  const parameters = url.search.slice(1).split('&');
  url.search = parameters.filter((each) => !/^api[_-]?key(?:=|$)/i.test(each)).join('&');
  return url;
}

function isTrue(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}
