import { errnoOf, FilingsError } from '../errors.ts';
import type { Body } from './body.ts';
import type { Connections } from './connections.ts';
import { Exchange } from './exchange.ts';
import type { HeaderFields } from './head.ts';

export interface GetRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Waited for before each request goes out; what it throws keeps it from going. */
  readonly beforeSend?: () => Promise<void>;
}

/** The head of an answer, with its body still to be taken. */
export interface Answer {
  readonly status: number;
  readonly headers: HeaderFields;
  /** What Content-Length declares; undefined when the body is chunked or ends with the connection. */
  readonly length: number | undefined;
  /** Neither a length nor chunked: only the end of the connection ends the body. */
  readonly untilClose: boolean;
  readonly body: Body;
  /** Drops the connection when the body was not taken to its end. */
  discard(): void;
}

/**
 * One GET: no redirect, no retry, its framing checked (RFC 9112 section 6). Throws
 * `temporary` when no answer comes, `integrity` for one that is not sound HTTP, the
 * signal's reason when aborted. The body fails with "truncated" when it ends early.
 */
export async function get(connections: Connections, request: GetRequest): Promise<Answer> {
  const { url, signal } = request;
  await request.beforeSend?.();
  const connection = await connections.acquire(url, signal);
  const { reused } = connection;
  try {
    return await new Exchange(connections, connection, request).begin();
  } catch (error) {
    // A server may close an idle connection as the request goes out (RFC 9112 section 9.3.1): one new try at once.
    if (!reused || !closedUnanswered(error)) throw error;
    // It may have been heard all the same: it counts.
    await request.beforeSend?.();
    return new Exchange(connections, await connections.acquire(url, signal, true), request).begin();
  }
}

function closedUnanswered(error: unknown): boolean {
  const code = error instanceof FilingsError ? errnoOf(error.cause) : undefined;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}
