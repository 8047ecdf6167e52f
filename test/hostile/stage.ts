import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { TlsOptions } from 'node:tls';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { type Exchange, type RawAnswer, segments } from './raw-answer.ts';

/** Between segments, so that each may be a read of its own; nothing depends on it. */
const BETWEEN_MS = 2;
/** For whoever knows the end without the connection's. */
const LATE_MS = 40;

/** A server that answers the requests for each file with that file's exchange, whoever asks. */
export interface Stage {
  readonly port: number;
  readonly url: string;
  /** From now on a file of this name has these answers. */
  put(name: string, exchange: Exchange): void;
  close(): Promise<void>;
}

export async function startStage(tls?: TlsOptions): Promise<Stage> {
  const exchanges = new Map<string, { exchange: Exchange; asked: Map<string, number> }>();
  const server: ScriptedServer = await startScripted(async (socket, request) => {
    // Sent before the end of the connection was seen: it will be asked again over another one.
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

/** `below` is what is below the connection's TLS. */
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
