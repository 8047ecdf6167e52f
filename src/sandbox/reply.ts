import { type ServerResponse, STATUS_CODES } from 'node:http';
import { finished, pipeline } from 'node:stream/promises';
import type { ServedFile } from './archive.ts';
import type { Asked } from './request.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A file is closed when it is sent. */
  readonly body: Buffer | { readonly file: ServedFile; readonly offset: number; readonly length: number };
  /** For the log. */
  readonly note?: string;
}

/** service.md, section 2: `errors` makes the first variant, `traceId` tells the others apart in a log. */
interface ProblemDetails {
  readonly detail: string;
  /** Never the query: a key may ride there. */
  readonly instance?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
  readonly traceId?: string;
}

/** RFC 9457. */
export function problem(status: number, details: ProblemDetails, headers: Reply['headers'] = {}): Reply {
  const title = details.errors === undefined ? STATUS_CODES[status] : 'One or more validation errors occurred.';
  const told = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers };
  return { ...jsonReply(status, { type: 'about:blank', title, status, ...details }, told), note: details.detail };
}

export function jsonReply(status: number, value: unknown, headers: Reply['headers']): Reply {
  const body = Buffer.from(JSON.stringify(value));
  return { status, headers: { ...headers, 'Content-Length': `${body.length}` }, body };
}

/** 200, 206 or 416. Closes the file unless the answer's body holds it. */
export async function fileReply(
  file: ServedFile,
  mediaType: string,
  { method, headers, traceId }: Pick<Asked, 'method' | 'headers' | 'traceId'>,
): Promise<Reply> {
  const { size, etag } = file;
  const common = { 'Accept-Ranges': 'bytes', ETag: etag };
  // Strong comparison (RFC 9110 section 13.1.5): no date is sent, so none can be held against it.
  const isAsked = method === 'GET' && (headers['if-range'] ?? etag) === etag;
  const range = readRange(isAsked ? headers.range : undefined, size);
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

/** Both inclusive. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * `bytes=a-b`, `bytes=a-` or `bytes=-n` (RFC 9110 section 14.1.2). Anything else, several ranges among it, is ignored:
 * the whole file is sent.
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  // An empty file has no last bytes that Content-Range could name.
  if (from === '' && size === 0) return Number(to) === 0 ? 'unsatisfiable' : undefined;
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (first >= size) return 'unsatisfiable';
  return last < first ? undefined : { first, last };
}

/** True when the client was there to the end. Never throws. */
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
    // The head is out: a cut connection keeps anybody from taking a part for the whole.
    response.destroy();
    return false;
  } finally {
    if (!Buffer.isBuffer(body)) await body.file.close();
  }
}
