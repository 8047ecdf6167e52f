// Reads a response whose shape the user has described by JMESPath expressions (https://jmespath.org/specification.html),
// so that nothing is guessed. The library is loaded only with a description.
import { search } from '@jmespath-community/jmespath';
import { isJsonObject } from '../json.ts';
import { counted } from '../text.ts';
import type { AccessionNumber } from './accession.ts';
import {
  errorIn,
  jsonOf,
  type ListingDescription,
  type ListingResponse,
  linkOf,
  type Page,
  pageOf,
  seenIn,
  uncertain,
  unreadable,
} from './listing.ts';
import { countOf, isSet } from './listing-markers.ts';
import { accessionOf, type ListingRecord, readAllMarkers } from './listing-records.ts';

/** Returns why an expression cannot be evaluated, or undefined if it can. */
export function expressionFault(expression: string): string | undefined {
  try {
    search({}, expression);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    // A function may object to a type here that it gets in a response.
    return message.startsWith('Invalid type') ? undefined : message;
  }
}

/** Reads a response as described. Throws `integrity` if it is not as described, or reports an error. */
export function readDescribedListing(
  response: ListingResponse,
  accession: AccessionNumber,
  { files = '@', name, total, more }: ListingDescription,
): Page {
  const json = jsonOf(response, accession);
  const evaluate = (value: unknown, expression: string): unknown => {
    try {
      return search(value as Parameters<typeof search>[0], expression) ?? null;
    } catch (error) {
      throw uncertain(accession, `${expression}: ${(error as Error).message}`);
    }
  };
  const items = evaluate(json, files);
  const isList = Array.isArray(items);
  const markers = readAllMarkers(json, new Set(isList ? items : []));
  const error = errorIn(markers, isList && items.length === 0);
  if (error !== undefined) throw unreadable(accession, seenIn(json, error));
  if (!isList) throw uncertain(accession, `listing.files (${files}) selects no array`);
  const records = items.map((item: unknown): ListingRecord => {
    if (item !== null && typeof item !== 'string' && !isJsonObject(item)) {
      throw uncertain(accession, `listing.files (${files}) selects other items than texts and objects`);
    }
    const record = isJsonObject(item) ? item : {};
    const named = typeof item === 'string' && name === undefined ? item : evaluate(item, name ?? 'file_name');
    if (named !== null && typeof named !== 'string') {
      throw uncertain(accession, `listing.name (${name ?? 'file_name'}) is not a text in every record`);
    }
    return { name: named || undefined, record, accession: accessionOf(record, accession) };
  });
  if (records.length > 0 && records.every((record) => record.name === undefined)) {
    throw uncertain(accession, `${counted(records.length, 'record')}, none with a name at listing.name`);
  }
  const isDescribed = total !== undefined || more !== undefined;
  const described = total === undefined ? undefined : (countOf(evaluate(json, total)) ?? 0);
  const stated = described ?? (isDescribed ? 0 : markers.total);
  return pageOf(
    {
      records,
      listSizes: [records.length],
      totals: [{ path: '', total: stated, records: records.length, isExact: total !== undefined }],
      more: isDescribed
        ? more !== undefined && isSet(evaluate(json, more))
          ? more
          : undefined
        : (markers.more ?? linkOf(response)),
    },
    isDescribed ? 0 : markers.pageCount,
    accession,
  );
}
