import type { IncomingHttpHeaders } from 'node:http';
import type { ServedFile } from './archive.ts';
import { problem, type Reply } from './reply.ts';

export interface FileRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly mediaType: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly traceId: string;
}

/** What tells one state of a file from another. */
export interface Validators {
  /** Strong, quoted. */
  readonly etag: string;
  /** As the Last-Modified header says it; undefined when the file's time is in the future. */
  readonly lastModified: string | undefined;
}

/** What a Range header asks of a file; `first` and `last` are offsets of bytes, both inclusive. */
export type RangeVerdict =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  | { readonly kind: 'unsatisfiable' };

const WHOLE: RangeVerdict = { kind: 'whole' };
const UNSATISFIABLE: RangeVerdict = { kind: 'unsatisfiable' };

/** The answer to a download: 200, 206 or 416. Closes the file unless the answer's body holds it. */
export async function fileReply(file: ServedFile, request: FileRequest): Promise<Reply> {
  const { size, etag } = file;
  const { method, headers, now, traceId } = request;
  // No time later than the answer's own may be told (RFC 9110 section 8.8.2.1).
  const lastModified = file.modifiedAt > now ? undefined : new Date(file.modifiedAt).toUTCString();
  const validators = { etag, lastModified };
  const common = { 'Accept-Ranges': 'bytes', ETag: etag, ...(lastModified && { 'Last-Modified': lastModified }) };
  const isAsked = method === 'GET' && allowsRange(headers['if-range'] as string | undefined, validators, now);
  const range = readRange(isAsked ? headers.range : undefined, size);
  if (range.kind === 'unsatisfiable') {
    await file.close();
    const detail = `the file has ${size} bytes`;
    return problem(416, { detail, traceId }, { ...common, 'Content-Range': `bytes */${size}` });
  }
  const { first, last } = range.kind === 'part' ? range : { first: 0, last: size - 1 };
  const length = last - first + 1;
  const part = range.kind === 'part' && { 'Content-Range': `bytes ${first}-${last}/${size}` };
  return {
    status: part ? 206 : 200,
    headers: { ...common, 'Content-Type': request.mediaType, 'Content-Length': `${length}`, ...part },
    body: { file, offset: first, length },
  };
}

/**
 * Whether a Range still means this state of the file: strong comparison (RFC 9110 section 13.1.5).
 * A date is strong once its second is over, since the file may change again within it (section 8.8.2.2).
 * `now`: milliseconds since the epoch.
 */
export function allowsRange(condition: string | undefined, { etag, lastModified }: Validators, now: number): boolean {
  if (condition === undefined || condition === etag) return true;
  return condition === lastModified && now - Date.parse(condition) >= 1000;
}

/**
 * Reads `bytes=a-b`, `bytes=a-` or `bytes=-n` for a file of `size` bytes (RFC 9110 section 14.1.2).
 * Anything else, several ranges among it, is ignored: the whole file is sent, as the RFC allows.
 */
export function readRange(header: string | undefined, size: number): RangeVerdict {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (from === '' && to === '') return WHOLE;
  if (from === '') return suffix(Number(to), size);
  const first = Number(from);
  const last = to === '' ? Number.POSITIVE_INFINITY : Number(to);
  if (last < first) return WHOLE;
  return first < size ? { kind: 'part', first, last: Math.min(last, size - 1) } : UNSATISFIABLE;
}

function suffix(length: number, size: number): RangeVerdict {
  if (length === 0) return UNSATISFIABLE;
  // An empty file has no last byte that Content-Range could name.
  return size === 0 ? WHOLE : { kind: 'part', first: Math.max(0, size - length), last: size - 1 };
}
