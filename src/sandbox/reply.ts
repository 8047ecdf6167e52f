import { type ServerResponse, STATUS_CODES } from 'node:http';
import { finished, pipeline } from 'node:stream/promises';
import type { ServedFile } from './archive.ts';
import type { ParsedRequest } from './request.ts';

// Builds and sends the responses of the sandbox: error objects, JSON, and files with ranges.

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A buffer, or a range of a file. `send` closes the file. */
  readonly body: Buffer | { readonly file: ServedFile; readonly offset: number; readonly length: number };
  /** A remark for the log. */
  readonly note?: string;
}

/** An error object (service.md, section 2). `errors` makes it the variant for validation problems. */
interface ProblemDetails {
  readonly detail: string;
  /** The path without the query, which may hold a key. */
  readonly instance?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
  readonly traceId?: string;
}

/** Returns a problem details response (RFC 9457). */
export function problem(status: number, details: ProblemDetails, headers: Reply['headers'] = {}): Reply {
  const title = details.errors === undefined ? STATUS_CODES[status] : 'One or more validation errors occurred.';
  const allHeaders = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers };
  return { ...jsonReply(status, { type: 'about:blank', title, status, ...details }, allHeaders), note: details.detail };
}

export function jsonReply(status: number, value: unknown, headers: Reply['headers']): Reply {
  const body = Buffer.from(JSON.stringify(value));
  return { status, headers: { ...headers, 'Content-Length': `${body.length}` }, body };
}

/** Returns a response with status 200, 206 or 416. Closes the file unless it is the body of the response. */
export async function fileReply(
  file: ServedFile,
  mediaType: string,
  { method, headers, traceId }: Pick<ParsedRequest, 'method' | 'headers' | 'traceId'>,
): Promise<Reply> {
  const { size, etag } = file;
  const common = { 'Accept-Ranges': 'bytes', ETag: etag };
  // If-Range needs a strong comparison (RFC 9110, section 13.1.5). A date never matches, because none is sent.
  const isRequested = method === 'GET' && (headers['if-range'] ?? etag) === etag;
  const range = readRange(isRequested ? headers.range : undefined, size);
  if (range === 'unsatisfiable') {
    await file.close();
    const detail = `the file has ${size} bytes`;
    return problem(416, { detail, traceId }, { ...common, 'Content-Range': `bytes */${size}` });
  }
  const { first, last } = range ?? { first: 0, last: size - 1 };
  const length = last - first + 1;
  return {
    status: range ? 206 : 200,
    headers: {
      ...common,
      'Content-Type': mediaType,
      'Content-Length': `${length}`,
      ...(range && { 'Content-Range': `bytes ${first}-${last}/${size}` }),
    },
    body: { file, offset: first, length },
  };
}

/** A range of bytes, both ends inclusive. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads `bytes=a-b`, `bytes=a-` or `bytes=-n` (RFC 9110, section 14.1.2). Returns undefined for anything else, such as
 * several ranges; the whole file is sent then.
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  // Content-Range cannot express a range of an empty file.
  if (from === '' && size === 0) return Number(to) === 0 ? 'unsatisfiable' : undefined;
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (first >= size) return 'unsatisfiable';
  return last < first ? undefined : { first, last };
}

/** Sends a response. Returns whether the client received all of it. Never throws. */
export async function send(reply: Reply, response: ServerResponse, withBody: boolean): Promise<boolean> {
  const { status, headers, body } = reply;
  try {
    response.writeHead(status, headers);
    if (Buffer.isBuffer(body) || !withBody) {
      response.end(withBody ? body : undefined);
      await finished(response);
    } else {
      await pipeline(body.file.read(body.offset, body.length), response);
    }
    return true;
  } catch {
    // The head was already sent, and the pipeline has closed the connection, so that the client cannot take a part for
    // the whole body.
    return false;
  } finally {
    if (!Buffer.isBuffer(body)) await body.file.close();
  }
}
