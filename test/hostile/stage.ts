// A server that sends hostile responses byte by byte.
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { TlsOptions } from 'node:tls';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { type Exchange, type RawAnswer, segments } from './raw-answer.ts';

/** Milliseconds between segments, so that each may be a separate read. No result depends on it. */
const BETWEEN_MS = 2;
/** Milliseconds for a client that knows the end of a body before the connection ends. */
const LATE_MS = 40;

/** A server that answers the requests of each client for a file with the exchange of this file. */
export interface Stage {
  readonly port: number;
  readonly url: string;
  /** Sets the responses for the file with this name. */
  put(name: string, exchange: Exchange): void;
  close(): Promise<void>;
}

export async function startStage(tls?: TlsOptions): Promise<Stage> {
  const exchanges = new Map<string, { exchange: Exchange; asked: Map<string, number> }>();
  const server: ScriptedServer = await startScripted(async (socket, request) => {
    // The client sent this request before it saw the end of the connection, and will repeat it on another one.
    if (socket.writableEnded) return;
    const staged = exchanges.get(/file_name=([\w.-]+)/.exec(request.path)?.[1] ?? '');
    const client = request.headers['user-agent']?.split('/')[0] ?? '';
    const index = staged?.asked.get(client) ?? 0;
    staged?.asked.set(client, index + 1);
    const answer = staged?.exchange[index];
    if (answer) await play(socket, server.below(socket), answer, request.path);
    else socket.destroy();
  }, tls);
  return { ...server, put: (name, exchange) => void exchanges.set(name, { exchange, asked: new Map() }) };
}

/** Sends a response. `below` is the TCP socket below TLS. */
async function play(socket: Socket, below: Socket, answer: RawAnswer, self: string): Promise<void> {
  for (const [index, part] of segments(answer, self).entries()) {
    if (index > 0) await wait(BETWEEN_MS);
    await new Promise<unknown>((sent) => socket.write(part, sent));
  }
  if (answer.ending === 'late FIN') await wait(LATE_MS);
  if (answer.ending === 'RST') {
    await wait(BETWEEN_MS);
    below.resetAndDestroy();
  } else if (answer.ending === 'cut') below.end();
  else socket.end();
}
