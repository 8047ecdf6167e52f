import dns from 'node:dns';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Connections } from '../../src/http/connections.ts';
import { PausableSocket } from '../../src/http/pausable-socket.ts';
import { get, type HttpResponse } from '../../src/http/request.ts';
import { heldClock } from '../held-clock.ts';
import { type Ending, head, sendAndEnd } from '../servers/answers.ts';
import { listening, type Script, scripted } from '../servers/scripted.ts';
import { content } from './transfer-fixture.ts';

const IDLE_MS = 20_000;
const CONNECT_MS = 10_000;

/** Starts a server of `script`, and connections to `host` with a clock that `pass` moves. */
async function talk(script: Script, host = '127.0.0.1') {
  const server = await scripted(script);
  const { pass, ...clock } = heldClock();
  const connections = new Connections({ connectTimeout: CONNECT_MS, idleTimeout: IDLE_MS }, { env: {}, ...clock });
  onTestFinished(() => connections.close());
  const url = server.url.replace('127.0.0.1', host);
  const prepared: string[] = [];
  const ask = async (path = '/') => {
    for (;;) {
      prepared.push(path);
      const request = { url: new URL(path, url), headers: {}, signal: new AbortController().signal };
      const answer = await get(connections, request);
      if (answer) return answer;
    }
  };
  return { server, connections, ask, prepared, pass };
}

async function read(answer: HttpResponse, chunks: Buffer[] = []): Promise<Buffer> {
  for (let batch = await answer.body.read(); batch; batch = await answer.body.read()) chunks.push(Buffer.concat(batch));
  return Buffer.concat(chunks);
}

const OK = `${head(200, { 'Content-Length': 2 })}ok`;

describe('a kept connection', () => {
  test('is reused while responses are read to their ends', async () => {
    const { server, ask } = await talk((socket, { path }) => {
      socket.write(head(200, { 'Content-Length': path.length }) + path);
    });
    for (const path of ['/a', '/bb', '/ccc']) expect(`${await read(await ask(path))}`).toBe(path);
    expect(server.connections()).toBe(1);
  });

  test('is not watched between two requests, or the watchdog would go through all that have ended', async () => {
    const { ask, connections, pass } = await talk((socket) => void socket.write(OK));
    const { watchdog } = connections;
    const watch = watchdog.watch.bind(watchdog);
    const onIdle = vi.fn();
    vi.spyOn(watchdog, 'watch').mockImplementation((act) => watch(() => [onIdle(), act()]));
    await read(await ask());
    await pass(IDLE_MS);
    await pass(IDLE_MS);
    expect(onIdle).not.toHaveBeenCalled();
  });

  test('is closed with all others by close(), at once and not after four seconds without a use', async () => {
    const { ask, connections, server } = await talk((socket) => void socket.write(OK));
    await Promise.all([ask(), ask()].map(async (answer) => read(await answer)));
    const url = new URL(server.url);
    const kept = await Promise.all([1, 2].map(() => connections.acquire(url, new AbortController().signal)));
    for (const connection of kept) connections.release(url, connection);
    connections.close();
    expect([server.connections(), ...kept.map(({ socket }) => socket.destroyed)]).toEqual([2, true, true]);
  });

  test('is not reused after a body that the end of the connection ends', async () => {
    const { server, ask } = await talk((socket) => void socket.end(`${head(200)}ok`));
    for (const _ of [1, 2]) expect(`${await read(await ask())}`).toBe('ok');
    expect(server.connections()).toBe(2);
  });

  test.each(['FIN', 'RST'])('is replaced if a %s comes as the next request goes out', async (ending) => {
    const { server, ask, prepared } = await talk((socket, { index }) => {
      if (index !== 1) socket.write(OK);
      else sendAndEnd(socket, '', ending as Ending);
    });
    await read(await ask());
    expect(`${await read(await ask())}`).toBe('ok');
    expect([server.connections(), server.requests.length, prepared.length]).toEqual([2, 3, 3]);
  });

  test('is not replaced if it is new and closes without a response', async () => {
    const { server, ask } = await talk((socket) => void socket.end());
    await expect(ask()).rejects.toMatchObject({ code: 'temporary', retryable: true });
    expect(server.requests).toHaveLength(1);
  });

  test('is not used if the server has closed it in the meantime', async () => {
    let closed: Promise<unknown> | undefined;
    const { server, ask, prepared } = await talk((socket, { index }) => {
      socket.write(OK);
      if (index === 0) closed = once(socket.end(), 'close');
    });
    await read(await ask());
    await closed;
    expect(`${await read(await ask())}`).toBe('ok');
    expect([server.requests.length, prepared.length]).toEqual([2, 2]);
  });

  test('that closes before the next request is written is replaced for the same request', async () => {
    let last: Socket | undefined;
    const { server, ask, prepared } = await talk((socket) => {
      last = socket;
      socket.write(OK);
    });
    await read(await ask());
    // undici waits for one turn of the event loop before it writes to an idle connection.
    await new Promise((resolve) => setImmediate(resolve));
    const second = ask();
    last?.destroy();
    expect(`${await read(await second)}`).toBe('ok');
    expect([server.requests.length, server.connections(), prepared.length]).toEqual([2, 2, 2]);
  });
});

test('connects to localhost without looking it up', async () => {
  const { ask } = await talk((socket) => void socket.end(OK), 'localhost');
  // net looks names up with this function.
  const lookup = vi.spyOn(dns, 'lookup');
  onTestFinished(() => lookup.mockRestore());
  expect(`${await read(await ask())}`).toBe('ok');
  expect(lookup).not.toHaveBeenCalled();
  await expect(ask('http://name.invalid/')).rejects.toMatchObject({ isUnreachable: true });
  expect(lookup).toHaveBeenCalled();
});

test('a host with several addresses is reached at the first that answers, in the order of the name server', async () => {
  const { server, ask } = await talk((socket) => void socket.end(OK));
  const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.1'].map((address) => ({ address, family: 4 }));
  const answer = (_name: string, _options: object, done: (error: null, found: object) => void) => done(null, addresses);
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(answer as never);
  onTestFinished(() => lookup.mockRestore());
  expect(`${await read(await ask(`http://service.example:${server.port}/`))}`).toBe('ok');
});

const ipv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
test.skipIf(!ipv6).each(['[::1]', 'localhost'])('connects to a service on ::1 alone as %s', async (host) => {
  const port = await listening((socket) => void socket.end(OK), '::1');
  const { ask } = await talk(() => {});
  expect(`${await read(await ask(`http://${host}:${port}/`))}`).toBe('ok');
});

describe('a silent server', () => {
  const body = content(3_000_000);
  /** Returns whether a connection has been paused since, because its buffer is full. */
  const watchPauses = () => {
    const pause = vi.spyOn(PausableSocket.prototype, 'pauseReading');
    onTestFinished(() => pause.mockRestore());
    return () => pause.mock.calls.length > 0;
  };
  const late = (message: string) => ({ exitStatus: 7, retryable: true, message: expect.stringContaining(message) });

  test('is left during a TLS handshake through a tunnel if the run is interrupted', async () => {
    const tunnels: Socket[] = [];
    const proxy = await scripted((socket) => {
      tunnels.push(socket);
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
    });
    const timeouts = { connectTimeout: CONNECT_MS, idleTimeout: IDLE_MS };
    const connections = new Connections(timeouts, { env: { HTTPS_PROXY: proxy.url }, ...heldClock() });
    const interrupt = new AbortController();
    const request = { url: new URL('https://service.example/'), headers: {}, signal: interrupt.signal };
    const rejection = expect(get(connections, request)).rejects.toBe('stop');
    // The first message of a handshake has some 300 bytes, and the request before it has 100.
    await expect.poll(() => tunnels[0]?.bytesRead).toBeGreaterThan(250);
    interrupt.abort('stop');
    await rejection;
    await expect.poll(() => tunnels[0]?.destroyed).toBe(true);
    connections.close();
  });

  test.each`
    what                        | bytes
    ${'nothing'}                | ${''}
    ${'half a head'}            | ${'HTTP/1.1 200 OK\r\nContent-'}
    ${'only interim responses'} | ${'HTTP/1.1 103 Early Hints\r\n\r\n'}
  `('times out if it sends $what', async ({ bytes }: { bytes: string }) => {
    const { server, ask, pass } = await talk((socket) => void socket.write(bytes));
    const rejection = expect(ask()).rejects.toMatchObject(late('timed out: no response'));
    await expect.poll(() => server.requests).toHaveLength(1);
    await pass(IDLE_MS);
    await rejection;
  });

  test.each([5000, 2_500_000])('times out if a body stops after %i bytes, even with a busy reader', async (size) => {
    const hasPaused = watchPauses();
    const { ask, pass } = await talk((socket) => {
      socket.write(head(200, { 'Content-Length': body.length }));
      socket.write(body.subarray(0, size));
    });
    const answer = await ask();
    const chunks = [...((await answer.body.read()) ?? [])];
    // The reader is busy: if there are many bytes, the socket is paused.
    if (size > 1 << 20) await expect.poll(hasPaused).toBe(true);
    const rejection = expect(read(answer, chunks)).rejects.toMatchObject(late('timed out: fewer'));
    await expect.poll(() => Buffer.concat(chunks).length).toBe(size);
    await pass(IDLE_MS);
    await pass(IDLE_MS);
    await rejection;
  });

  test('in a body times out even if the body before it on the connection is taken only then', async () => {
    const { server, ask, connections, pass } = await talk((socket, { path }) => {
      socket.write(head(200, { 'Content-Length': path === '/first' ? 1000 : body.length }));
      // The second is gathered as a whole, so that its last byte holds the connection back.
      socket.write(body.subarray(0, path === '/first' ? 1000 : 1 << 20));
    });
    const release = vi.spyOn(connections, 'release');
    const first = await ask('/first');
    // Its end is read, so that the connection is free.
    await expect.poll(() => release.mock.calls.length).toBe(1);
    const hasPaused = watchPauses();
    const second = await ask('/second');
    await expect.poll(hasPaused).toBe(true);
    expect(server.connections()).toBe(1);
    expect(await read(first)).toHaveLength(1000);
    const chunks: Buffer[] = [];
    const rejection = expect(read(second, chunks)).rejects.toMatchObject(late('timed out: fewer'));
    await expect.poll(() => Buffer.concat(chunks).length).toBe(1 << 20);
    await pass(IDLE_MS);
    await pass(IDLE_MS);
    await rejection;
  });

  test('does not time out if it sends 1,000 bytes in each tenth of the timeout', async () => {
    let next = () => {};
    const { ask, pass } = await talk((socket) => {
      socket.write(head(200, { 'Content-Length': 25_000 }));
      next = () => socket.write(body.subarray(0, 1000));
    });
    const { body: responseBody } = await ask();
    for (let n = 0; n < 25; n += 1) {
      next();
      for (let left = 1000; left > 0; ) left -= Buffer.concat((await responseBody.read()) ?? []).length;
      await pass(IDLE_MS / 10);
    }
    expect(await responseBody.read()).toBeUndefined();
  });

  test('has the whole timeout for the body after the head', async () => {
    const sockets: Socket[] = [];
    const { ask, pass } = await talk((socket) => void sockets.push(socket));
    const pending = ask();
    await expect.poll(() => sockets).toHaveLength(1);
    await pass(IDLE_MS - 1);
    sockets[0]?.write(head(200, { 'Content-Length': 2 }));
    const answer = await pending;
    // In steps, because a long one would look as if the process had been suspended.
    for (let passed = 500; passed < IDLE_MS; passed += 500) await pass(500);
    sockets[0]?.write('ok');
    expect(`${await read(answer)}`).toBe('ok');
  });

  test('fails to connect if it never ends the TLS handshake', async () => {
    const peers: Socket[] = [];
    const port = await listening((socket) => void peers.push(socket.resume()));
    const { ask, pass } = await talk(() => {});
    const error = { isUnreachable: true, ...late('connecting timed out') };
    const rejection = expect(ask(`https://127.0.0.1:${port}/`)).rejects.toMatchObject(error);
    await expect.poll(() => peers).toHaveLength(1);
    await pass(CONNECT_MS);
    await rejection;
    await expect.poll(() => peers[0]?.destroyed).toBe(true);
  });

  test('does not time out because its reader is slow', async () => {
    const { ask, pass } = await talk((socket) => {
      socket.write(head(200, { 'Content-Length': body.length }));
      socket.write(body);
    });
    const hasPaused = watchPauses();
    const answer = await ask();
    // The body is larger than the buffer.
    await expect.poll(hasPaused).toBe(true);
    for (let n = 0; n < 5; n += 1) await pass(IDLE_MS);
    expect((await read(answer)).equals(body)).toBe(true);
  });
});
