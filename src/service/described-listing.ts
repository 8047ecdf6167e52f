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

/** A page as the description reads it. `next` and `more` are undefined for null. */
interface Page {
  readonly records: readonly NamedRecord[];
  readonly total: number | undefined;
  readonly next: unknown;
  readonly more: unknown;
}

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
  const fault = (reason: string) => uncertainError(accession, reason, HINT);
  const files = new Map<string, ListedFile>();
  const firstRecords = new Set<string>();
  const requested = new Set<string>();
  let records = 0;
  let total: number | undefined;
  let pages = 0;
  for (let url: URL | undefined = firstAddress(description, address); url !== undefined; ) {
    if (pages === MAX_PAGES) throw fault(`there are over ${grouped(MAX_PAGES)} pages`);
    pages += 1;
    if (requested.has(url.href)) throw fault(`page ${pages} has the address of an earlier page`);
    requested.add(url.href);
    const response: ListingResponse = await requestPage(url).catch((error) => {
      throw pages > 1 && isFinal(error)
        ? fault([`page ${pages}`, error.reason, error.quote].filter(Boolean).join(': ')).with({ cause: error })
        : error;
    });
    const page = readPage(description, parseListing(response, accession), fault);
    const first = JSON.stringify(page.records[0]);
    if (firstRecords.has(first)) throw fault(`page ${pages} begins with the same record as an earlier page`);
    if (page.records.length > 0) firstRecords.add(first);
    for (const file of filesOf(page.records, accession)) {
      if (files.has(file.file_name)) throw fault(`'${file.file_name}' comes on two pages`);
      files.set(file.file_name, file);
    }
    records += page.records.length;
    total ??= page.total;
    if (description.total !== undefined && total === undefined) throw fault('listing.total selects no number');
    if (page.total !== undefined && page.total !== total)
      throw fault(`its total was ${total}, but page ${pages} has ${page.total}`);
    const following = { number: pages, records, next: page.next };
    url = hasNextPage(description, { ...page, total }, records, fault)
      ? nextAddress(description, address, following, fault)
      : undefined;
  }
  if (total !== undefined && records !== total)
    throw fault(`it has ${counted(records, 'record')}, but its total is ${total}`);
  return { files: [...files.values()], records, pages };
}

/** Throws `config` if a part of the description would be ignored, because it was meant to request further pages. */
function requireOneWay({ page, firstPage, offset, next, cursor }: ListingDescription): void {
  const subject = { name: 'listing' };
  if (page !== undefined && offset !== undefined)
    throw new FilingsError('config', 'page and offset cannot be used together', { subject });
  if (cursor !== undefined && next === undefined) throw new FilingsError('config', 'cursor requires next', { subject });
  if (firstPage !== undefined && page === undefined)
    throw new FilingsError('config', 'firstPage requires page', { subject });
}

type Fault = (reason: string) => FilingsError;

function readPage(
  { files = '@', name = 'file_name', total, next, more }: ListingDescription,
  json: unknown,
  fault: Fault,
): Page {
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

/** Returns whether there is a page after this one. Throws if the page says so, but there is no way to request it. */
function hasNextPage(
  { page, offset, next, more }: ListingDescription,
  { records, ...current }: Page,
  recordsSoFar: number,
  fault: Fault,
): boolean {
  const saysMore = more !== undefined && isSet(current.more);
  const isPaged = page !== undefined || offset !== undefined || next !== undefined;
  if (!isPaged || (next !== undefined && !isSet(current.next))) {
    if (saysMore) throw fault(`listing.more (${more}) says that there is more, but there is no next page`);
    return false;
  }
  if (more !== undefined) return saysMore;
  if (next !== undefined) return true;
  return records.length > 0 && (current.total === undefined || recordsSoFar < current.total);
}

function firstAddress({ query = {}, page, firstPage = 1, offset }: ListingDescription, address: URL): URL {
  const first = [
    ...(page === undefined ? [] : [[page, `${firstPage}`] as const]),
    ...(offset === undefined ? [] : [[offset, '0'] as const]),
  ];
  return withParameters(address, [...Object.entries(query), ...first]);
}

function nextAddress(
  { query = {}, page, firstPage = 1, offset, cursor }: ListingDescription,
  address: URL,
  { number, records, next }: { readonly number: number; readonly records: number; readonly next: unknown },
  fault: Fault,
): URL {
  const fixed = Object.entries(query);
  if (page !== undefined) return withParameters(address, [...fixed, [page, `${firstPage + number}`]]);
  if (offset !== undefined) return withParameters(address, [...fixed, [offset, `${records}`]]);
  if (cursor !== undefined && (typeof next === 'string' || typeof next === 'number'))
    return withParameters(address, [...fixed, [cursor, `${next}`]]);
  if (cursor !== undefined || typeof next !== 'string' || !URL.canParse(next, address.href))
    throw fault(`listing.next is ${JSON.stringify(next)}, which is no ${cursor ? 'cursor' : 'address'}`);
  const url = new URL(next, address);
  if (url.origin !== address.origin) throw fault(`the next page is at another origin, ${url.origin}`);
  // An address of the service mostly repeats the parameters of its request.
  const own = [...address.searchParams].filter(([name]) => name !== 'accession_no');
  return withParameters(
    url,
    [...own, ...fixed].filter(([name]) => !url.searchParams.has(name)),
  );
}

/** Returns whether a page is missing or rejected. A later page of this kind does not end the list. */
function isFinal(error: unknown): error is FilingsError {
  return error instanceof FilingsError && (error.code === 'not_found' || error.code === 'rejected');
}

/** Returns whether a value is not null, false, zero or empty. Some services write these words as strings. */
function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return typeof value === 'string' ? !/^(?:|false|0|null)$/i.test(value.trim()) : Boolean(value);
}
