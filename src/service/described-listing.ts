// Reads a described listing with JMESPath (https://jmespath.org/specification.html). Nothing is guessed: a response
// that is not as described is an error. Loaded only when it is needed, because loading the JMESPath library takes time.
import { search } from '@jmespath-community/jmespath';
import { FilingsError } from '../errors.ts';
import { isJsonObject } from '../json.ts';
import { counted, grouped } from '../text.ts';
import type { AccessionNumber } from './accession.ts';
import {
  incompleteError,
  type ListedFile,
  type Listing,
  type ListingResponse,
  type NamedRecord,
  parseListing,
  selectFiles,
  withParameters,
} from './listing.ts';

/** The `listing` of the config file (docs/using.md). `files`, `name`, `total`, `more` and `next` are expressions. */
export interface ListingDescription {
  /** Selects the array of records. Default: `@`, the response itself. */
  readonly files?: string;
  /** Default: `file_name`. */
  readonly name?: string;
  /** Selects the number of records on all pages. */
  readonly total?: string;
  /** Selects a value that is false or empty (see `isSet`) on the last page, and only there. */
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
const HINT = 'check the description of the listing (filings config get listing) and the requests (-v)';

/** Called when the config file is checked. */
export function findExpressionFault(expression: string): string | undefined {
  try {
    // There is no response yet, so an empty object takes its place.
    search({}, expression);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    // A JMESPath function such as `abs` may reject the empty object, but accept what is in a real response.
    return message.startsWith('Invalid type') ? undefined : message;
  }
}

type MakeError = (reason: string) => FilingsError;

/**
 * Throws `config` if members of the description conflict, `integrity` if the responses are not as described or
 * contradict each other, and the errors of `requestPage`.
 *
 * @param listingUrl with the parameters of `--query`
 */
export async function readDescribedListing(
  description: ListingDescription,
  accession: AccessionNumber,
  listingUrl: URL,
  requestPage: (url: URL) => Promise<ListingResponse>,
): Promise<Listing> {
  rejectConflicts(description);
  const makeError: MakeError = (reason) => incompleteError(accession, reason, HINT);
  const files = new Map<string, ListedFile>();
  /**
   * A service that does not know the parameter for the page sends the same page, and so the same first record, each
   * time.
   */
  const firstRecords = new Set<string>();
  const totals = new Set<number>();
  let recordCount = 0;
  let pageCount = 0;
  let url: URL | undefined = makePageUrl(description, listingUrl, pageCount, recordCount);
  while (url !== undefined) {
    if (pageCount === MAX_PAGES) throw makeError(`there are over ${grouped(MAX_PAGES)} pages`);
    pageCount += 1;
    const response: ListingResponse = await requestPage(url).catch((error) => {
      // If a later page is rejected, the list is incomplete. The code `not_found` would say that there is no such
      // filing.
      if (pageCount === 1 || (error.code !== 'not_found' && error.code !== 'rejected')) throw error;
      const reasons = [`page ${pageCount}`, error.reason, error.quote].filter(Boolean);
      throw makeError(reasons.join(': ')).with({ cause: error });
    });
    const page = readPage(description, parseListing(response, accession), makeError);
    if (page.records.length > 0) {
      const first = JSON.stringify(page.records[0]);
      if (firstRecords.has(first)) throw makeError(`page ${pageCount} begins with the same record as an earlier page`);
      firstRecords.add(first);
    }
    for (const file of selectFiles(page.records, accession)) {
      // If pages overlap, they do not fit together, so other files may be on none of them.
      if (files.has(file.file_name)) throw makeError(`'${file.file_name}' is on two pages`);
      files.set(file.file_name, file);
    }
    recordCount += page.records.length;
    if (page.total !== undefined) totals.add(page.total);
    // The first page must state the total. Later pages need not repeat it.
    if (description.total !== undefined && totals.size === 0) throw makeError('listing.total selects no number');
    const seemsLast = page.records.length === 0 || [...totals].some((total) => recordCount >= total);
    url = findNextUrl(description, listingUrl, { ...page, pageCount, recordCount, seemsLast }, makeError);
  }
  for (const total of totals) {
    if (total !== recordCount) throw makeError(`it has ${counted(recordCount, 'record')}, but its total is ${total}`);
  }
  return { files: [...files.values()], recordCount, pageCount };
}

/**
 * Conflicting members might make a run miss pages. They are not refused when the config file is written: `config set`
 * sets one member at a time, so a description may be unfinished then.
 */
function rejectConflicts({ page, offset, next, cursor }: ListingDescription): void {
  const subject = { name: 'listing' };
  if (page !== undefined && offset !== undefined)
    throw new FilingsError('config', 'page and offset cannot be used together', { subject });
  if (cursor !== undefined && next === undefined) throw new FilingsError('config', 'cursor requires next', { subject });
}

/** A value that is not there or null becomes undefined. */
function readPage(
  { files = '@', name = 'file_name', total, next, more }: ListingDescription,
  json: unknown,
  makeError: MakeError,
) {
  const evaluate = (value: unknown, expression: string | undefined): unknown => {
    if (expression === undefined) return undefined;
    try {
      return search(value as Parameters<typeof search>[0], expression) ?? undefined;
    } catch (error) {
      throw makeError(`${expression}: ${(error as Error).message}`);
    }
  };
  const items = evaluate(json, files);
  if (!Array.isArray(items)) throw makeError(`listing.files (${files}) selects no array`);
  const records = items.map((item, index): NamedRecord => {
    const fileName = isJsonObject(item) ? evaluate(item, name) : item;
    // A list may have records that are not about files. If none has a name, the commands fail with `noFilesError`.
    if (fileName === undefined) return [item, undefined];
    if (typeof fileName === 'string' && fileName !== '') return [isJsonObject(item) ? item : {}, fileName];
    const selected = JSON.stringify(fileName);
    throw makeError(`listing.name (${name}) selects ${selected} in record ${index + 1}, which is not a file name`);
  });
  const statedTotal = evaluate(json, total);
  // Anything else is treated as missing.
  const isNumber = typeof statedTotal === 'number' || (typeof statedTotal === 'string' && /^\d+$/.test(statedTotal));
  return {
    records,
    total: isNumber ? Number(statedTotal) : undefined,
    next: evaluate(json, next),
    more: evaluate(json, more),
  };
}

function makePageUrl(
  { query = {}, page, firstPage = 1, offset }: ListingDescription,
  listingUrl: URL,
  pagesBefore: number,
  recordsBefore: number,
): URL {
  const parameters = { ...query };
  if (page !== undefined) parameters[page] = `${firstPage + pagesBefore}`;
  if (offset !== undefined) parameters[offset] = `${recordsBefore}`;
  return withParameters(listingUrl, Object.entries(parameters));
}

interface PagesSoFar {
  readonly pageCount: number;
  readonly recordCount: number;
  /** Used only if neither `next` nor `more` is described. */
  readonly seemsLast: boolean;
  readonly next: unknown;
  readonly more: unknown;
}

/**
 * Returns undefined after the last page. Together with `page` or `offset`, `next` only says whether there is a next
 * page.
 */
function findNextUrl(
  description: ListingDescription,
  listingUrl: URL,
  { pageCount, recordCount, seemsLast, next, more }: PagesSoFar,
  makeError: MakeError,
): URL | undefined {
  const { query = {}, page, offset, cursor } = description;
  // If not, only `next` leads to the next page.
  const computesUrl = page !== undefined || offset !== undefined;
  const canRequestMore = description.next === undefined ? computesUrl : isSet(next);
  if (!canRequestMore && isSet(more))
    throw makeError(`listing.more (${description.more}) says that there is more, but there is no next page`);
  // If both `next` and `more` are described, both must say that there is another page. If neither is, the total
  // decides, or a page without records.
  if (!canRequestMore || (description.more !== undefined && !isSet(more))) return undefined;
  if (description.more === undefined && description.next === undefined && seemsLast) return undefined;
  if (computesUrl) return makePageUrl(description, listingUrl, pageCount, recordCount);
  const isString = typeof next === 'string';
  if (cursor !== undefined && (isString || typeof next === 'number'))
    return withParameters(listingUrl, Object.entries({ ...query, [cursor]: `${next}` }));
  if (cursor !== undefined || !isString || !URL.canParse(next, listingUrl.href))
    throw makeError(`listing.next is ${JSON.stringify(next)}, which is not ${cursor ? 'a cursor' : 'an address'}`);
  const url = new URL(next, listingUrl);
  // Requesting it would send the key to that origin.
  if (url.origin !== listingUrl.origin) throw makeError(`the next page is at another origin, ${url.origin}`);
  // The URL usually has the parameters already. `accession_no` is not added: it may name the filing in another way.
  const parameters = [...listingUrl.searchParams].filter(([name]) => name !== 'accession_no');
  return withParameters(
    url,
    [...parameters, ...Object.entries(query)].filter(([name]) => !url.searchParams.has(name)),
  );
}

/** Some services send these strings instead of false, zero and null. */
function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return typeof value === 'string' ? !/^(?:|false|0|null)$/i.test(value.trim()) : Boolean(value);
}
