import { createHash, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sleep as pause } from '../../src/abort.ts';
import { Connections } from '../../src/http/connections.ts';
import { get } from '../../src/http/request.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';

// hazards: a paused undici parser dies when the connection ends meanwhile. Here the
// consumer stops after every chunk, and the connection ends in every way it can.
const FRAMINGS = ['length', 'keep-alive', 'chunked', 'until-close'] as const;
const SIZES = [3, 40_000, 2_500_000] as const;
const WORLD = { env: {}, monotonic: () => performance.now(), sleep: pause };

const content = randomBytes(Math.max(...SIZES));
let server: ScriptedServer;

beforeAll(async () => {
  server = await startScripted((socket, { path }) => {
    const [, framing = '', size = '', part = '', ending = ''] = path.split('/');
    answer(socket, framing, content.subarray(0, Number(size)), part === 'cut', ending === 'RST');
  });
});

afterAll(() => server.close());

function answer(socket: Socket, framing: string, body: Buffer, cut: boolean, reset: boolean): void {
  const sent = cut ? body.subarray(0, Math.floor(body.length * 0.8)) : body;
  const connection = framing === 'keep-alive' ? 'keep-alive' : 'close';
  socket.write(`HTTP/1.1 200 OK\r\nConnection: ${connection}\r\n`);
  if (framing === 'chunked') {
    socket.write(`Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`);
    socket.write(sent);
    if (!cut) socket.write('\r\n0\r\n\r\n');
  } else {
    socket.write(framing === 'until-close' ? '\r\n' : `Content-Length: ${body.length}\r\n\r\n`);
    socket.write(sent);
  }
  // The empty write calls back when all before it is with the kernel.
  if (reset) socket.write('', () => socket.resetAndDestroy());
  else socket.end();
}

async function consume(path: string, pause: () => Promise<unknown>): Promise<{ bytes: Buffer; error: unknown }> {
  const connections = new Connections({ connectTimeout: 10_000, idleTimeout: 20_000 }, WORLD);
  const chunks: Buffer[] = [];
  try {
    const answered = await get(connections, async () => ({
      url: new URL(path, server.url),
      headers: {},
      signal: new AbortController().signal,
    }));
    for (;;) {
      const taken = await answered.body.take();
      if (!taken) return { bytes: Buffer.concat(chunks), error: undefined };
      chunks.push(Buffer.concat(taken));
      await pause();
    }
  } catch (error) {
    return { bytes: Buffer.concat(chunks), error };
  } finally {
    connections.close();
  }
}

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

const cases = FRAMINGS.flatMap((framing) =>
  (['whole', 'cut'] as const).flatMap((part) =>
    (['FIN', 'RST'] as const).map((ending) => [framing, part, ending] as const),
  ),
);

test.each(cases)('%s, %s, ended by %s behind a consumer that stops', async (framing, part, ending) => {
  for (const pause of [() => turn(), () => sleep(2), () => sleep(0)]) {
    for (const size of SIZES) {
      const { bytes, error } = await consume(`/${framing}/${size}/${part}/${ending}`, pause);
      // A reset may overtake what the kernel still held: then it is an error, never a wrong byte.
      expect(hash(bytes)).toBe(hash(content.subarray(0, bytes.length)));
      // Nothing overtakes behind a FIN: whatever was sent has come, before an error too.
      if (ending === 'FIN') expect(bytes.length).toBe(part === 'cut' ? Math.floor(size * 0.8) : size);
      if (error !== undefined) {
        expect(error).toMatchObject({ name: 'FilingsError', retryable: true });
        expect(part === 'cut' || ending === 'RST').toBe(true);
      } else if (framing === 'until-close') expect(ending).toBe('FIN');
      else expect([bytes.length, part]).toEqual([size, 'whole']);
    }
  }
});
