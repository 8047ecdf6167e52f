import { httpDate } from '../http/head.ts';
import type { ServiceAnswer } from '../service/requests.ts';

/** A strong validator: two answers that carry it hold the same bytes (RFC 9110 section 8.8). */
export interface Validator {
  readonly kind: 'etag' | 'last-modified';
  /** As the header field carries it. */
  readonly value: string;
}

/** Which bytes an answer brings, as far as it says. */
export interface RemoteVersion {
  readonly validator?: Validator | undefined;
  /** The whole length, where an answer has told it. */
  readonly total?: number | undefined;
  /** Where it response from in the end, redirects followed, without the query: signed addresses change theirs. */
  readonly address?: string;
}

export interface PartialFile extends RemoteVersion {
  readonly bytes: number;
}

export type ResumeResponse = Pick<ServiceAnswer, 'status' | 'headers' | 'address'>;

export type Decision =
  /** The body continues the partial file. */
  | { readonly kind: 'append'; readonly total: number }
  /** The body is the whole file, from byte 0. */
  | { readonly kind: 'restart' }
  /** The partial file is the whole file. */
  | { readonly kind: 'complete' }
  /** The range can't be used: ask again, without one. */
  | { readonly kind: 'ask-anew' }
  /** Not a file at all. */
  | { readonly kind: 'refuse'; readonly why: string };

/** `Last-Modified` is strong when the answer was dated at least a second later (RFC 9110 section 8.8.2.2). */
const STRONG_AFTER_MS = 1000;

/** A strong ETag, else a Last-Modified that counts as strong. */
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
  return age >= STRONG_AFTER_MS ? { kind: 'last-modified', value: modified } : undefined;
}

/** Returns the header fields that request the rest of a partial file, or none if it cannot be resumed. */
export function rangeRequest(partial: PartialFile): Record<string, string> {
  if (partial.bytes === 0 || partial.validator === undefined) return {};
  return { range: `bytes=${partial.bytes}-`, 'if-range': partial.validator.value };
}

/**
 * What to do with an answer that is welcome (200; to a range also 206 and 416), given what is partial: the one table of
 * resuming. Bytes of two answers are joined only from the same address under the same strong validator, at exactly the
 * offset, up to exactly the total (RFC 9110 sections 13.1.5, 14.4, 15.3.7).
 */
export function decide(partial: PartialFile, response: ResumeResponse): Decision {
  if (response.status === 206) return decidePartial(partial, response);
  if (response.status === 416) return decideUnsatisfied(partial, response);
  // A 200 may lie: one that names a range is a part, and so is one of another length under the same strong ETag.
  if (response.headers['content-range'] !== undefined)
    return { kind: 'refuse', why: 'invalid response: 200 with Content-Range' };
  const total = knownTotal(partial, response);
  const length = single(response.headers['content-length']);
  if (total !== undefined && length !== undefined && Number(length) !== total)
    return { kind: 'refuse', why: `${length} bytes response under the same ETag as ${total} before` };
  return { kind: 'restart' };
}

/** How long a whole answer must be: the same strong ETag from the same address means the same bytes. */
export function knownTotal(partial: PartialFile, response: ResumeResponse): number | undefined {
  return partial.validator?.kind === 'etag' && isSame(partial, response) ? partial.total : undefined;
}

function decidePartial(partial: PartialFile, response: ResumeResponse): Decision {
  const range = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(single(response.headers['content-range']) ?? '');
  const [start, last, total] = (range ?? []).slice(1).map(Number) as [number, number, number];
  const length = single(response.headers['content-length']);
  const isExact =
    isSame(partial, response) &&
    start === partial.bytes &&
    last === total - 1 &&
    // No range is empty (RFC 9110 section 14.4).
    start < total &&
    (partial.total === undefined || total === partial.total) &&
    (length === undefined || Number(length) === total - start);
  return isExact ? { kind: 'append', total } : { kind: 'ask-anew' };
}

/** 416 means "you have it all" only when the total is known, equals the partial file's size, and the file is the same. */
function decideUnsatisfied(partial: PartialFile, response: ResumeResponse): Decision {
  const total = /^bytes \*\/(\d{1,15})$/.exec(single(response.headers['content-range']) ?? '')?.[1];
  const isWhole = Number(total) === partial.bytes && (partial.total ?? partial.bytes) === partial.bytes;
  return { kind: isWhole && isSame(partial, response) ? 'complete' : 'ask-anew' };
}

/** A validator belongs to one resource: from another address the same one is another file's. */
function isSame({ validator, address }: PartialFile, response: ResumeResponse): boolean {
  return (
    validator !== undefined && address === response.address && response.headers[validator.kind] === validator.value
  );
}

export function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
