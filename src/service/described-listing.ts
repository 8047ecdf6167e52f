// Reads a response whose shape the user has described by JMESPath expressions
// (https://jmespath.org/specification.html), so that nothing is guessed. Gives the same pages as `readListing`. Only a
// description loads the library.
import { search } from '@jmespath-community/jmespath';
import { isJsonObject } from '../json.ts';
import { counted } from '../text.ts';
import type { AccessionNumber } from './accession.ts';
import {
  buildPage,
  describeUnexpectedBody,
  errorMember,
  type ListingDescription,
  type ListingResponse,
  type Page,
  parseListingJson,
  signInLink,
  uncertainError,
  unreadableError,
} from './listing.ts';
import {
  countOf,
  isMetadata,
  isSet,
  plainName,
  type ResponseMarkers,
  readMarkers,
  totalOf,
} from './listing-markers.ts';
import { accessionOf, type ListingRecord, SHARDS } from './listing-records.ts';

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

/** Returns the page in a response. Throws `integrity` if the response is not as described or reports an error. */
export function readDescribedListing(
  response: ListingResponse,
  accession: AccessionNumber,
  { files = '@', name, total, more }: ListingDescription,
): Page {
  const json = parseListingJson(response, accession);
  const evaluate = (value: unknown, expression: string): unknown => {
    try {
      return search(value as Parameters<typeof search>[0], expression) ?? null;
    } catch (error) {
      throw uncertainError(accession, `${expression}: ${(error as Error).message}`);
    }
  };
  const items = evaluate(json, files);
  const isList = Array.isArray(items);
  const markers = readAllMarkers(json, new Set(isList ? items : []));
  const error = errorMember(markers, isList && items.length === 0);
  if (error !== undefined) throw unreadableError(accession, describeUnexpectedBody(json, error));
  if (!isList) throw uncertainError(accession, `listing.files (${files}) selects no array`);
  const records = items.map((item: unknown): ListingRecord => {
    if (item !== null && typeof item !== 'string' && !isJsonObject(item)) {
      throw uncertainError(accession, `listing.files (${files}) selects other items than texts and objects`);
    }
    const record = isJsonObject(item) ? item : {};
    const fileName = typeof item === 'string' && name === undefined ? item : evaluate(item, name ?? 'file_name');
    if (fileName !== null && typeof fileName !== 'string') {
      throw uncertainError(accession, `listing.name (${name ?? 'file_name'}) is not a text in every record`);
    }
    return { name: fileName || undefined, record, accession: accessionOf(record, accession) };
  });
  if (records.length > 0 && records.every((record) => record.name === undefined)) {
    throw uncertainError(accession, `${counted(records.length, 'record')}, none with a name at listing.name`);
  }
  const parts = { records, listSizes: [records.length] };
  const counts = { path: '', records: records.length };
  if (total === undefined && more === undefined) {
    const totals = [{ ...counts, total: markers.total, isExact: false }];
    return buildPage({ ...parts, totals, more: markers.more ?? signInLink(response) }, markers.pageCount, accession);
  }
  // A description of totals or of more replaces all other signs of more.
  const count = total === undefined ? 0 : (countOf(evaluate(json, total)) ?? 0);
  const hasMore = more !== undefined && isSet(evaluate(json, more));
  const totals = [{ ...counts, total: count, isExact: total !== undefined }];
  return buildPage({ ...parts, totals, more: hasMore ? more : undefined }, 0, accession);
}

/** Returns the markers of a response beside its records, and the largest total that the response states. */
function readAllMarkers(json: unknown, records: ReadonlySet<unknown>): ResponseMarkers & { total: number } {
  const markers = { pageCount: 0, total: 0 };
  const visit = (value: unknown, isItem: boolean): void => {
    if (Array.isArray(value)) {
      for (const item of value) visit(item, true);
    } else if (isJsonObject(value) && !records.has(value)) {
      const members = Object.entries(value);
      // The cursor of an edge around a record is not a sign of more.
      const isWrapper = isItem && members.some(([, inner]) => isJsonObject(inner) && records.has(inner));
      if (!isWrapper) readMarkers(value, markers);
      for (const [member, inner] of members) {
        if (isMetadata(member) || plainName(member) === SHARDS) continue;
        markers.total = Math.max(markers.total, totalOf(member, inner) ?? 0);
        visit(inner, false);
      }
    }
  };
  visit(json, false);
  return markers;
}
