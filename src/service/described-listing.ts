// Reads a listing that the user has described by JMESPath expressions (https://jmespath.org/specification.html), so that
// nothing is guessed. Only a description loads the library.
import { search } from '@jmespath-community/jmespath';
import { FilingsError } from '../errors.ts';
import { isJsonObject } from '../json.ts';
import { counted, grouped } from '../text.ts';
import type { AccessionNumber } from './accession.ts';
import {
  filesOf,
  type ListedFile,
  type Listing,
  type ListingResponse,
  type NamedRecord,
  parseListing,
  uncertainError,
  withParameters,
} from './listing.ts';

/** A user's description of the service's listing: JMESPath expressions and names of parameters. */
export interface ListingDescription {
  readonly files?: string;
  readonly name?: string;
  readonly total?: string;
  readonly more?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly page?: string;
  readonly firstPage?: number;
  readonly offset?: string;
  readonly next?: string;
  readonly cursor?: string;
}

const MAX_PAGES = 10_000;
const HINT = "check the description of the listing: 'filings config get listing' shows it, -v shows the requests";

/** Returns why an expression cannot be evaluated, or undefined if it can. */
export function expressionFault(expression: string): string | undefined {
  try {
    search({}, expression);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    // The empty object may have another type than a response, and a function may reject that.
    return message.startsWith('Invalid type') ? undefined : message;
  }
}

type Fault = (reason: string) => FilingsError;

/**
 * Returns all files of a filing. Throws `integrity` if the responses are not as described or contradict each other, and
 * the errors of `requestPage`.
 * @param address the address of the listing, with the parameters of the command line
 */
export async function readDescribedListing(
  description: ListingDescription,
  accession: AccessionNumber,
  address: URL,
  requestPage: (url: URL) => Promise<ListingResponse>,
): Promise<Listing> {
  requireOneWay(description);
  const fault: Fault = (reason) => uncertainError(accession, reason, HINT);
  const files = new Map<string, ListedFile>();
  const firstRecords = new Set<string>();
  const totals = new Set<number>();
  let records = 0;
  let pages = 0;
  let url: URL | undefined = pageAddress(description, address, pages, records);
  while (url !== undefined) {
    if (pages === MAX_PAGES) throw fault(`there are over ${grouped(MAX_PAGES)} pages`);
    pages += 1;
    const response: ListingResponse = await requestPage(url).catch((error) => {
      // A later page that is missing or rejected does not end the list.
      if (pages === 1 || (error.code !== 'not_found' && error.code !== 'rejected')) throw error;
      throw fault([`page ${pages}`, error.reason, error.quote].filter(Boolean).join(': ')).with({ cause: error });
    });
    const page = readPage(description, parseListing(response, accession), fault);
    if (page.records.length > 0) {
      const first = JSON.stringify(page.records[0]);
      if (firstRecords.has(first)) throw fault(`page ${pages} begins with the same record as an earlier page`);
      firstRecords.add(first);
    }
    for (const file of filesOf(page.records, accession)) {
      if (files.has(file.file_name)) throw fault(`'${file.file_name}' comes on two pages`);
      files.set(file.file_name, file);
    }
    records += page.records.length;
    if (page.total !== undefined) totals.add(page.total);
    if (description.total !== undefined && totals.size === 0) throw fault('listing.total selects no number');
    const isLast = page.records.length === 0 || [...totals].some((total) => records >= total);
    url = nextAddress(description, address, { pages, records, isLast, next: page.next, more: page.more }, fault);
  }
  for (const total of totals) {
    if (total !== records) throw fault(`it has ${counted(records, 'record')}, but its total is ${total}`);
  }
  return { files: [...files.values()], records, pages };
}

/** Throws `config` if a part of the description would be ignored, because it was meant to request further pages. */
function requireOneWay({ page, offset, next, cursor }: ListingDescription): void {
  const subject = { name: 'listing' };
  if (page !== undefined && offset !== undefined)
    throw new FilingsError('config', 'page and offset cannot be used together', { subject });
  if (cursor !== undefined && next === undefined) throw new FilingsError('config', 'cursor requires next', { subject });
}

/** Returns what a page has by the description; undefined for null. */
function readPage(
  { files = '@', name = 'file_name', total, next, more }: ListingDescription,
  json: unknown,
  fault: Fault,
) {
  const evaluate = (value: unknown, expression: string | undefined): unknown => {
    if (expression === undefined) return undefined;
    try {
      return search(value as Parameters<typeof search>[0], expression) ?? undefined;
    } catch (error) {
      throw fault(`${expression}: ${(error as Error).message}`);
    }
  };
  const items = evaluate(json, files);
  if (!Array.isArray(items)) throw fault(`listing.files (${files}) selects no array`);
  const records = items.map((item, index): NamedRecord => {
    const fileName = isJsonObject(item) ? evaluate(item, name) : item;
    if (fileName === undefined) return [item, undefined];
    if (typeof fileName === 'string' && fileName !== '') return [isJsonObject(item) ? item : {}, fileName];
    throw fault(`record ${index + 1} has no name in listing.name (${name}), but ${JSON.stringify(fileName)}`);
  });
  const stated = evaluate(json, total);
  const isNumber = typeof stated === 'number' || (typeof stated === 'string' && /^\d+$/.test(stated));
  return {
    records,
    total: isNumber ? Number(stated) : undefined,
    next: evaluate(json, next),
    more: evaluate(json, more),
  };
}

/** Returns the address of a page, except where the page before has its address or its cursor. */
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
  /** Whether the total is reached, or the page has no records. */
  readonly isLast: boolean;
  readonly next: unknown;
  readonly more: unknown;
}

/**
 * Returns the address of the next page, or undefined after the last one. Throws if there is more, but no way to request
 * it.
 */
function nextAddress(
  description: ListingDescription,
  address: URL,
  { pages, records, isLast, next, more }: PagesSoFar,
  fault: Fault,
): URL | undefined {
  const { query = {}, page, offset, cursor } = description;
  const isCounted = page !== undefined || offset !== undefined;
  const hasWay = description.next === undefined ? isCounted : isSet(next);
  if (!hasWay && isSet(more))
    throw fault(`listing.more (${description.more}) says that there is more, but there is no next page`);
  if (!hasWay || (description.more !== undefined && !isSet(more))) return undefined;
  if (description.more === undefined && description.next === undefined && isLast) return undefined;
  if (isCounted) return pageAddress(description, address, pages, records);
  const isText = typeof next === 'string';
  if (cursor !== undefined && (isText || typeof next === 'number'))
    return withParameters(address, Object.entries({ ...query, [cursor]: `${next}` }));
  if (cursor !== undefined || !isText || !URL.canParse(next, address.href))
    throw fault(`listing.next is ${JSON.stringify(next)}, which is no ${cursor ? 'cursor' : 'address'}`);
  const url = new URL(next, address);
  if (url.origin !== address.origin) throw fault(`the next page is at another origin, ${url.origin}`);
  // An address of the service mostly repeats the parameters of its request.
  const own = [...address.searchParams].filter(([name]) => name !== 'accession_no');
  return withParameters(
    url,
    [...own, ...Object.entries(query)].filter(([name]) => !url.searchParams.has(name)),
  );
}

/** Returns whether a value is not null, false, zero or empty. Some services write these words as strings. */
function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return typeof value === 'string' ? !/^(?:|false|0|null)$/i.test(value.trim()) : Boolean(value);
}
