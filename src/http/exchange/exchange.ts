import { errnoOf, FilingsError } from '../../errors.ts';
import type { Connection, Connections } from '../connection/connections.ts';
import { Conversation } from './conversation.ts';
import type { Answer, GetRequest } from './messages.ts';

/**
 * One GET: no redirect, no retry, its framing checked (RFC 9112 section 6). Throws
 * `temporary` when no answer comes, `integrity` for one that is not sound HTTP, the
 * signal's reason when aborted. The body fails with "truncated" when it ends early.
 */
export async function get(connections: Connections, request: GetRequest): Promise<Answer> {
  await request.onSend?.();
  const connection = await connections.acquire(request);
  try {
    return await exchange(connections, connection, request);
  } catch (error) {
    // A server may close an idle connection as the request goes out (RFC 9112 section 9.3.1): one new try at once.
    if (!connection.reused || !closedUnanswered(error)) throw error;
    // It may have been heard all the same: it counts.
    await request.onSend?.();
    return exchange(connections, await connections.acquire(request, true), request);
  }
}

function closedUnanswered(error: unknown): boolean {
  const code = error instanceof FilingsError ? errnoOf(error.cause) : undefined;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

async function exchange(connections: Connections, connection: Connection, request: GetRequest): Promise<Answer> {
  const conversation = new Conversation(connection, request, () => connections.release(request.url, connection));
  return conversation.begin();
}
