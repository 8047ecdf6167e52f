import { type ServerResponse, STATUS_CODES } from 'node:http';
import { finished, pipeline } from 'node:stream/promises';
import type { ServedFile } from './archive.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes, or a part of an open file, which is closed when it is sent. */
  readonly body: Buffer | { readonly file: ServedFile; readonly offset: number; readonly length: number };
  /** A few words for the log: why it was refused. */
  readonly note?: string;
}

/** The three variants of contract part 2: `errors` makes the first, `traceId` tells the others apart in a log. */
export interface ProblemDetails {
  readonly detail: string;
  /** The path asked for, never the query: a key may ride there. */
  readonly instance?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
  readonly traceId?: string;
}

const RFC = 'https://www.rfc-editor.org/rfc/rfc9110#section-';
const SECTIONS: Readonly<Record<number, string>> = {
  400: '15.5.1',
  401: '15.5.2',
  404: '15.5.5',
  405: '15.5.6',
  416: '15.5.17',
  421: '15.5.20',
  500: '15.6.1',
};

/** An answer in problem details (RFC 9457). */
export function problem(status: number, details: ProblemDetails, headers: Reply['headers'] = {}): Reply {
  const section = SECTIONS[status];
  const type = section === undefined ? 'about:blank' : `${RFC}${section}`;
  const title = details.errors === undefined ? STATUS_CODES[status] : 'One or more validation errors occurred.';
  const told = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers };
  return { ...jsonReply(status, { type, title, status, ...details }, told), note: details.detail };
}

export function jsonReply(status: number, value: unknown, headers: Reply['headers']): Reply {
  const body = Buffer.from(JSON.stringify(value));
  return { status, headers: { ...headers, 'Content-Length': `${body.length}` }, body };
}

/** Sends a reply; true when the client was there to the end. Never throws. */
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
    // The head is out: all that is left is to cut the connection, so that nobody takes a part for the whole.
    response.destroy();
    return false;
  } finally {
    if (!Buffer.isBuffer(body)) await body.file.close();
  }
}
