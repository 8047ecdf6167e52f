// Decides whether the bytes of an earlier response and those of a new one belong to the same file (RFC 9110, sections
// 13.1.5, 14.4 and 15.3.7). Takes a partial file and the header of a response; gives the one decision about resuming.
import { httpDate } from '../http/head.ts';
import type { ServiceResponse } from '../service/requests.ts';

/** A strong validator: two responses with the same one have the same bytes (RFC 9110, section 8.8). */
interface Validator {
  readonly kind: 'etag' | 'last-modified';
  /** The value of the header field, unchanged. */
  readonly value: string;
}

/** Identifies the bytes of a response, as far as its header does. */
export interface RemoteVersion {
  readonly validator?: Validator | undefined;
  /** The length of the whole file in bytes, if a response gave it. */
  readonly total?: number | undefined;
  /** The address after all redirects, without its query, which differs between signed addresses of one file. */
  readonly address?: string;
}

/** The bytes of a file that have been written so far. */
export interface PartialFile extends RemoteVersion {
  readonly bytes: number;
}

export type ResumeResponse = Pick<ServiceResponse, 'status' | 'headers' | 'address'>;

/** The use of a response for a partial file. */
export type Decision =
  /** The body continues the partial file. */
  | { readonly kind: 'append'; readonly total: number }
  /** The body is the whole file, from byte 0. */
  | { readonly kind: 'restart' }
  /** The partial file is the whole file. */
  | { readonly kind: 'complete' }
  /** The response cannot be used. Request the whole file, without a range. */
  | { readonly kind: 'retry-whole' }
  /** The response is invalid. */
  | { readonly kind: 'refuse'; readonly reason: string };

/** `Last-Modified` is strong if `Date` is at least one second later (RFC 9110, section 8.8.2.2). */
const MIN_STRONG_AGE_MS = 1000;

/** Returns a strong ETag, or without any ETag a Last-Modified that is treated as strong, otherwise undefined. */
export function strongValidator(headers: ResumeResponse['headers']): Validator | undefined {
  const etag = headers.etag;
  if (etag !== undefined) {
    return typeof etag === 'string' && /^"[\x21\x23-\x7e\x80-\xff]*"$/.test(etag)
      ? { kind: 'etag', value: etag }
      : undefined;
  }
  const modified = headers['last-modified'];
  const date = headers.date;
  if (typeof modified !== 'string' || typeof date !== 'string') return undefined;
  const age = (httpDate(date) ?? 0) - (httpDate(modified) ?? Number.POSITIVE_INFINITY);
  return age >= MIN_STRONG_AGE_MS ? { kind: 'last-modified', value: modified } : undefined;
}

/** Returns the header fields that request the rest of a partial file, or none if it cannot be resumed. */
export function rangeRequest(partial: PartialFile): Record<string, string> {
  if (partial.bytes === 0 || partial.validator === undefined) return {};
  return { range: `bytes=${partial.bytes}-`, 'if-range': partial.validator.value };
}

/**
 * Returns the decision about a response with status 200, or 206 or 416 to a range. Bytes of two responses are joined
 * only if both have the same address and the same strong validator, and the second one begins exactly at the end of the
 * first and ends exactly at the total (RFC 9110, sections 13.1.5, 14.4 and 15.3.7).
 */
export function decide(partial: PartialFile, response: ResumeResponse): Decision {
  if (response.status === 206) return decidePartial(partial, response);
  if (response.status === 416) return decideUnsatisfied(partial, response);
  // A 200 with Content-Range has only a part of the file. A 200 with another length under the same strong ETag cannot
  // be the whole file, either.
  if (response.headers['content-range'] !== undefined)
    return { kind: 'refuse', reason: 'invalid response: 200 with Content-Range' };
  const total = knownTotal(partial, response);
  const length = singleValue(response.headers['content-length']);
  if (total !== undefined && length !== undefined && Number(length) !== total)
    return { kind: 'refuse', reason: `${length} bytes, but ${total} before under the same ETag` };
  return { kind: 'restart' };
}

/** Returns the length in bytes that a whole body must have: the same strong ETag and address mean the same bytes. */
export function knownTotal(partial: PartialFile, response: ResumeResponse): number | undefined {
  return partial.validator?.kind === 'etag' && isSameVersion(partial, response) ? partial.total : undefined;
}

function decidePartial(partial: PartialFile, response: ResumeResponse): Decision {
  const range = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(singleValue(response.headers['content-range']) ?? '');
  const [start, last, total] = (range ?? []).slice(1).map(Number) as [number, number, number];
  const length = singleValue(response.headers['content-length']);
  const isExact =
    isSameVersion(partial, response) &&
    start === partial.bytes &&
    last === total - 1 &&
    // A range is never empty (RFC 9110, section 14.4).
    start < total &&
    (partial.total === undefined || total === partial.total) &&
    (length === undefined || Number(length) === total - start);
  return isExact ? { kind: 'append', total } : { kind: 'retry-whole' };
}

/** A 416 proves a complete file only if its total is the size of the partial file, and the version is the same. */
function decideUnsatisfied(partial: PartialFile, response: ResumeResponse): Decision {
  const total = /^bytes \*\/(\d{1,15})$/.exec(singleValue(response.headers['content-range']) ?? '')?.[1];
  const isWhole = Number(total) === partial.bytes && (partial.total ?? partial.bytes) === partial.bytes;
  return { kind: isWhole && isSameVersion(partial, response) ? 'complete' : 'retry-whole' };
}

/** A validator belongs to one address: from another address the same one may belong to another file. */
function isSameVersion({ validator, address }: PartialFile, response: ResumeResponse): boolean {
  return (
    validator !== undefined && address === response.address && response.headers[validator.kind] === validator.value
  );
}

/** Returns the value of a header field that the response has exactly once, otherwise undefined. */
export function singleValue(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
