// Decides whether the body of a response may be joined with the bytes of earlier responses. A wrong answer would save a
// damaged file as a complete one. RFC 9110: If-Range (section 13.1.5), Content-Range (14.4), combining ranges
// (15.3.7.3).
import { parseHttpDate } from '../http/head.ts';
import type { Secrets } from '../secrets.ts';
import type { ServiceResponse } from '../service/requester.ts';
import { humanSizes } from '../text.ts';

/** A strong validator. Two responses with the same one have the same bytes (RFC 9110, section 8.8). */
interface Validator {
  readonly kind: 'etag' | 'last-modified';
  /** The value of the header field, unchanged. */
  readonly value: string;
}

/** Which version of the remote file a response has sent, as far as its header says. */
export interface RemoteVersion {
  readonly validator?: Validator | undefined;
  /** The length of the whole file in bytes, if a response gave it. */
  readonly total?: number | undefined;
  /** The URL after all redirects, without its query: the query of a signed URL differs from request to request. */
  readonly address?: string;
}

/** The bytes of a file that have been written so far, from its first byte on. */
export interface PartialFile extends RemoteVersion {
  readonly bytes: number;
}

export type ResumeResponse = Pick<ServiceResponse, 'status' | 'headers' | 'address' | 'contentLength'>;

export type Decision =
  /** The body continues the partial file. */
  | { readonly kind: 'append'; readonly total: number }
  /** The body is the whole file, from byte 0. */
  | { readonly kind: 'restart' }
  /** The partial file is the whole file. */
  | { readonly kind: 'complete' }
  /** The response cannot be used for the partial file. Request the whole file, without a range. */
  | { readonly kind: 'retry-whole' }
  /** The response is invalid. The attempt fails with this reason. */
  | { readonly kind: 'refuse'; readonly reason: string };

/** `Last-Modified` is strong if `Date` is at least one second later (RFC 9110, section 8.8.2.2). */
const MIN_STRONG_AGE_MS = 1000;

/** In any case, because some servers write `w/`. */
const ETAG = /^(w\/)?"[\x21\x23-\x7e\x80-\xff]*"$/i;

/**
 * A Last-Modified is used only if there is no ETag, not even a weak one: otherwise If-Range must not have a date
 * (RFC 9110, section 13.1.5). A malformed ETag, such as one without quotes, is none.
 */
export function findStrongValidator(headers: ResumeResponse['headers']): Validator | undefined {
  const { etag } = headers;
  if (Array.isArray(etag)) return undefined;
  const [wellFormed, weakMark] = ETAG.exec(etag ?? '') ?? [];
  if (wellFormed !== undefined) return weakMark === undefined ? { kind: 'etag', value: wellFormed } : undefined;
  const modified = headers['last-modified'];
  const date = headers.date;
  if (typeof modified !== 'string' || typeof date !== 'string') return undefined;
  // If a date is invalid, its default makes the age negative, so that there is no validator: 0 is the start of 1970,
  // and no file is older.
  const age = (parseHttpDate(date) ?? 0) - (parseHttpDate(modified) ?? Number.POSITIVE_INFINITY);
  return age >= MIN_STRONG_AGE_MS ? { kind: 'last-modified', value: modified } : undefined;
}

/**
 * Returns none if the partial file cannot be resumed. A validator that holds a secret is never sent, because a redirect
 * may lead to another host.
 */
export function makeRangeHeaders({ bytes, validator }: PartialFile, secrets: Secrets): Record<string, string> {
  if (bytes === 0 || validator === undefined || secrets.occurIn(validator.value)) return {};
  return { range: `bytes=${bytes}-`, 'if-range': validator.value };
}

/**
 * Decides about a response with status 200, or with 206 or 416. The last two come only after a request for a range (the
 * client refuses them otherwise), so `partial` then has bytes and a validator. Bytes of two responses are joined only
 * if both have the same address and the same strong validator, and the second one begins exactly where the first one
 * stopped and ends exactly at the total.
 */
export function decideResume(partial: PartialFile, response: ResumeResponse): Decision {
  if (response.status === 206) return decideOn206(partial, response);
  if (response.status === 416) return decideOn416(partial, response);
  // A 200 must have the whole file, but one with Content-Range has only a range of it.
  if (response.headers['content-range'] !== undefined)
    return { kind: 'refuse', reason: 'invalid response: 200 with Content-Range' };
  // If the length has changed although the strong ETag is the same, the body of a 200 cannot be the whole file either.
  const total = findKnownTotal(partial, response);
  const { contentLength: length } = response;
  if (total === undefined || length === undefined || length === total) return { kind: 'restart' };
  const sizes = humanSizes(length, total).join(', but had ');
  return { kind: 'refuse', reason: `the file has ${sizes} before with the same ETag` };
}

/**
 * Returns the length in bytes that a whole body must have, if an earlier response with the same strong ETag and address
 * gave it. A Last-Modified is not enough: then a body of another length just starts the file again.
 */
export function findKnownTotal(partial: PartialFile, response: ResumeResponse): number | undefined {
  return partial.validator?.kind === 'etag' && isSameVersion(partial, response) ? partial.total : undefined;
}

function decideOn206(partial: PartialFile, response: ResumeResponse): Decision {
  const field = singleValue(response.headers['content-range']) ?? '';
  const range = /^bytes (?<start>\d{1,15})-(?<last>\d{1,15})\/(?<total>\d{1,15})$/.exec(field)?.groups;
  if (!range) return { kind: 'retry-whole' };
  const [start, last, total] = [Number(range.start), Number(range.last), Number(range.total)];
  const isExact =
    isSameVersion(partial, response) &&
    start === partial.bytes &&
    last === total - 1 &&
    // An empty range is not valid (RFC 9110, section 14.4).
    start < total &&
    (partial.total === undefined || total === partial.total) &&
    (response.contentLength === undefined || response.contentLength === total - start);
  return isExact ? { kind: 'append', total } : { kind: 'retry-whole' };
}

/**
 * A 416 is the normal answer to a request for the bytes behind the end of a complete file. It proves that the partial
 * file is complete only if its total is the size of the partial file, and the version is the same.
 */
function decideOn416(partial: PartialFile, response: ResumeResponse): Decision {
  const total = /^bytes \*\/(\d{1,15})$/.exec(singleValue(response.headers['content-range']) ?? '')?.[1];
  // Without a valid Content-Range, `Number(total)` is NaN, which equals nothing.
  const isWhole = Number(total) === partial.bytes && (partial.total ?? partial.bytes) === partial.bytes;
  return { kind: isWhole && isSameVersion(partial, response) ? 'complete' : 'retry-whole' };
}

/**
 * Compares the validators, and also the addresses, because the same validator at another address may belong to another
 * file. The `kind` of a validator is the name of its header field.
 */
function isSameVersion({ validator, address }: PartialFile, response: ResumeResponse): boolean {
  return (
    validator !== undefined && address === response.address && response.headers[validator.kind] === validator.value
  );
}

/** The value of a header field that the response has exactly once. */
export function singleValue(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
