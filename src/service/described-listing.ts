// Reads a listing that the user has described in the config file (docs/using.md) with JMESPath expressions
// (https://jmespath.org/specification.html). It may have several pages. Nothing is guessed: a response that is not as
// described is an error. This file is loaded only when it is needed, because loading the JMESPath library takes time.
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

/** The setting `listing`. `files`, `name`, `total`, `more` and `next` are JMESPath expressions. */
export interface ListingDescription {
  /** Selects the array of records in a response. Default: `@`, the response itself. */
  readonly files?: string;
  /** Selects the file name in a record. Default: `file_name`. */
  readonly name?: string;
  readonly total?: string;
  /** Selects a value that says whether there are further pages. */
  readonly more?: string;
  /** Parameters of every request. */
  readonly query?: Readonly<Record<string, string>>;
  /** The parameter that has the number of the page, from `firstPage` (default: 1) on. */
  readonly page?: string;
  readonly firstPage?: number;
  /** The parameter that has the number of records on earlier pages. */
  readonly offset?: string;
  /** Selects the address of the next page, or, with `cursor`, the value of that parameter for the next page. */
  readonly next?: string;
  readonly cursor?: string;
}

const MAX_PAGES = 10_000;
const HINT = "check the description of the listing: 'filings config get listing' shows it, -v shows the requests";

/** Returns why an expression is invalid, if it is. */
export function expressionFault(expression: string): string | undefined {
  try {
    search({}, expression);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    // A function may reject the type of the empty object, although it would accept that of a response.
    return message.startsWith('Invalid type') ? undefined : message;
  }
}

/** Makes the error for a response that is not as described. */
type MakeError = (reason: string) => FilingsError;

/**
 * Requests all pages, and returns all files of a filing. Throws `integrity` if the responses are not as described or
 * contradict each other, and the errors of `requestPage`.
 * @param address the address of the listing, with the parameters of `--query`
 */
export async function readDescribedListing(
  description: ListingDescription,
  accession: AccessionNumber,
  address: URL,
  requestPage: (url: URL) => Promise<ListingResponse>,
): Promise<Listing> {
  rejectConflicts(description);
  const makeError: MakeError = (reason) => incompleteError(accession, reason, HINT);
  const files = new Map<string, ListedFile>();
  const firstRecords = new Set<string>();
  const totals = new Set<number>();
  let records = 0;
  let pages = 0;
  let url: URL | undefined = pageAddress(description, address, pages, records);
  while (url !== undefined) {
    if (pages === MAX_PAGES) throw makeError(`there are over ${grouped(MAX_PAGES)} pages`);
    pages += 1;
    const response: ListingResponse = await requestPage(url).catch((error) => {
      // A 404 or another rejection of a later page must not be taken for the end of the list.
      if (pages === 1 || (error.code !== 'not_found' && error.code !== 'rejected')) throw error;
      throw makeError([`page ${pages}`, error.reason, error.quote].filter(Boolean).join(': ')).with({ cause: error });
    });
    const page = readPage(description, parseListing(response, accession), makeError);
    if (page.records.length > 0) {
      const first = JSON.stringify(page.records[0]);
      if (firstRecords.has(first)) throw makeError(`page ${pages} begins with the same record as an earlier page`);
      firstRecords.add(first);
    }
    for (const file of selectFiles(page.records, accession)) {
      if (files.has(file.file_name)) throw makeError(`'${file.file_name}' comes on two pages`);
      files.set(file.file_name, file);
    }
    records += page.records.length;
    if (page.total !== undefined) totals.add(page.total);
    if (description.total !== undefined && totals.size === 0) throw makeError('listing.total selects no number');
    const seemsLast = page.records.length === 0 || [...totals].some((total) => records >= total);
    url = nextAddress(description, address, { pages, records, seemsLast, next: page.next, more: page.more }, makeError);
  }
  for (const total of totals) {
    if (total !== records) throw makeError(`it has ${counted(records, 'record')}, but its total is ${total}`);
  }
  return { files: [...files.values()], records, pages };
}

/** Throws `config` for members of the description of which one would be ignored, so that pages might be missed. */
function rejectConflicts({ page, offset, next, cursor }: ListingDescription): void {
  const subject = { name: 'listing' };
  if (page !== undefined && offset !== undefined)
    throw new FilingsError('config', 'page and offset cannot be used together', { subject });
  if (cursor !== undefined && next === undefined) throw new FilingsError('config', 'cursor requires next', { subject });
}

/** Evaluates the expressions of the description on one page. */
function readPage(
  { files = '@', name = 'file_name', total, next, more }: ListingDescription,
  json: unknown,
  makeError: MakeError,
) {
  // Returns undefined for null, which is JMESPath's result for a missing member.
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
    if (fileName === undefined) return [item, undefined];
    if (typeof fileName === 'string' && fileName !== '') return [isJsonObject(item) ? item : {}, fileName];
    const selected = JSON.stringify(fileName);
    throw makeError(`listing.name (${name}) selects ${selected} in record ${index + 1}, which is not a file name`);
  });
  const statedTotal = evaluate(json, total);
  const isNumber = typeof statedTotal === 'number' || (typeof statedTotal === 'string' && /^\d+$/.test(statedTotal));
  return {
    records,
    total: isNumber ? Number(statedTotal) : undefined,
    next: evaluate(json, next),
    more: evaluate(json, more),
  };
}

/** Returns the address of the first page, or of a later one if pages are requested by `page` or `offset`. */
function pageAddress(
  { query = {}, page, firstPage = 1, offset }: ListingDescription,
  address: URL,
  pagesBefore: number,
  recordsBefore: number,
): URL {
  const parameters = { ...query };
  if (page !== undefined) parameters[page] = `${firstPage + pagesBefore}`;
  if (offset !== undefined) parameters[offset] = `${recordsBefore}`;
  return withParameters(address, Object.entries(parameters));
}

interface PagesSoFar {
  readonly pages: number;
  readonly records: number;
  /** Whether the total is reached, or the last page had no records. Does not count if `next` or `more` is described. */
  readonly seemsLast: boolean;
  /** The values that `next` and `more` select on the last page. */
  readonly next: unknown;
  readonly more: unknown;
}

/**
 * Returns the address of the next page, or undefined after the last one. Throws if there is a further page that cannot
 * be requested.
 */
function nextAddress(
  description: ListingDescription,
  address: URL,
  { pages, records, seemsLast, next, more }: PagesSoFar,
  makeError: MakeError,
): URL | undefined {
  const { query = {}, page, offset, cursor } = description;
  const isByNumber = page !== undefined || offset !== undefined;
  const canRequestMore = description.next === undefined ? isByNumber : isSet(next);
  if (!canRequestMore && isSet(more))
    throw makeError(`listing.more (${description.more}) says that there is more, but there is no next page`);
  if (!canRequestMore || (description.more !== undefined && !isSet(more))) return undefined;
  if (description.more === undefined && description.next === undefined && seemsLast) return undefined;
  if (isByNumber) return pageAddress(description, address, pages, records);
  const isString = typeof next === 'string';
  if (cursor !== undefined && (isString || typeof next === 'number'))
    return withParameters(address, Object.entries({ ...query, [cursor]: `${next}` }));
  if (cursor !== undefined || !isString || !URL.canParse(next, address.href))
    throw makeError(`listing.next is ${JSON.stringify(next)}, which is not ${cursor ? 'a cursor' : 'an address'}`);
  const url = new URL(next, address);
  if (url.origin !== address.origin) throw makeError(`the next page is at another origin, ${url.origin}`);
  // The service's address usually has the parameters of the request already. Those that it lacks are added.
  const parameters = [...address.searchParams].filter(([name]) => name !== 'accession_no');
  return withParameters(
    url,
    [...parameters, ...Object.entries(query)].filter(([name]) => !url.searchParams.has(name)),
  );
}

/** Returns whether a value is not null, false, zero or empty. Some services send these values as strings. */
function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return typeof value === 'string' ? !/^(?:|false|0|null)$/i.test(value.trim()) : Boolean(value);
}
