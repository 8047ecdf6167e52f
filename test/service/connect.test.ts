import dns from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Connections } from '../../src/http/connections.ts';
import type { Answer } from '../../src/http/request.ts';
import { get } from '../../src/http/request.ts';
import { head } from '../servers/answers.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content, startRun } from './transfer-fixture.ts';

async function talk(script: Script, idleTimeout = 20_000) {
  const server = await startScripted(script);
  const connections = new Connections({ env: {}, connectTimeout: 10_000, monotonic: () => performance.now() });
  onTestFinished(() => {
    connections.close();
    return server.close();
  });
  const ask = (path = '/') =>
    get(connections, {
      url: new URL(path, server.url),
      headers: {},
      idleTimeout,
      signal: new AbortController().signal,
      monotonic: () => performance.now(),
    });
  return { server, ask };
}

async function read(answer: Answer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let taken = await answer.body.take(); taken; taken = await answer.body.take()) chunks.push(Buffer.concat(taken));
  return Buffer.concat(chunks);
}

describe('one connection for many requests', () => {
  test('is kept while answers are read to their ends', async () => {
    const { server, ask } = await talk((socket, { path }) => {
      socket.write(head(200, { 'Content-Length': path.length }) + path);
    });
    for (const path of ['/a', '/bb', '/ccc']) expect(`${await read(await ask(path))}`).toBe(path);
    expect(server.connections()).toBe(1);
  });

  test('is not held back by a body that its reader left waiting to the end', async () => {
    const { server, ask } = await talk((socket, { path }) => {
      const body = Buffer.alloc(Number(path.slice(1)), path);
      socket.write(head(200, { 'Content-Length': body.length }));
      socket.write(body);
    }, 3000);
    // Around the size at which a source is held back, so that the end comes together with the hold.
    for (const size of [1 << 20, (1 << 20) + 1, (1 << 20) + 20_000, (1 << 20) - 1]) {
      const answer = await ask(`/${size}`);
      await sleep(150);
      expect(await read(answer)).toHaveLength(size);
    }
    expect(server.requests).toHaveLength(4);
  });

  test('is dropped with a body that nobody wants', async () => {
    const { server, ask } = await talk((socket) => {
      socket.write(`${head(200, { 'Content-Length': 1000 })}beginning`);
    });
    (await ask()).discard();
    (await ask()).discard();
    expect(server.connections()).toBe(2);
  });

  test.each(['FIN', 'RST'])(
    'that the server closes by %s as the next request goes out: one new try at once',
    async (how) => {
      const { server, ask } = await talk((socket, { index }) => {
        if (index === 1) {
          if (how === 'FIN') socket.end();
          else socket.resetAndDestroy();
        } else socket.write(`${head(200, { 'Content-Length': 2 })}ok`);
      });
      await read(await ask());
      expect(`${await read(await ask())}`).toBe('ok');
      expect(server.connections()).toBe(2);
      expect(server.requests).toHaveLength(3);
    },
  );

  test('a fresh connection that is closed without an answer is not tried again here', async () => {
    const { server, ask } = await talk((socket) => void socket.end());
    await expect(ask()).rejects.toMatchObject({ code: 'temporary', retryable: true });
    expect(server.requests).toHaveLength(1);
  });

  test('an idle one that the server has closed meanwhile is not used', async () => {
    let gone: Promise<unknown> | undefined;
    const { server, ask } = await talk((socket, { index }) => {
      socket.write(`${head(200, { 'Content-Length': 2 })}ok`);
      if (index === 0) gone = once(socket.end(), 'close');
    });
    await read(await ask());
    await gone;
    expect(`${await read(await ask())}`).toBe('ok');
    expect(server.requests).toHaveLength(2);
  });
});

const ipv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

describe('addresses', () => {
  test.skipIf(!ipv6).each(['[::1]', 'localhost'])('a service on ::1 alone, as %s', async (host) => {
    const server = createServer((socket) => void socket.end(`${head(200, { 'Content-Length': 2 })}ok`));
    await new Promise<void>((resolve) => server.listen(0, '::1', resolve));
    const connections = new Connections({ env: {}, connectTimeout: 10_000, monotonic: () => performance.now() });
    onTestFinished(() => {
      connections.close();
      server.close();
    });
    const { port } = server.address() as { port: number };
    const answer = await get(connections, {
      url: new URL(`http://${host}:${port}/`),
      headers: {},
      idleTimeout: 20_000,
      signal: new AbortController().signal,
      monotonic: () => performance.now(),
    });
    expect(`${await read(answer)}`).toBe('ok');
  });

  test('a service on 127.0.0.1 alone, as localhost', async () => {
    const { server } = await talk((socket) => void socket.end(`${head(200, { 'Content-Length': 2 })}ok`));
    const run = await startRun(server.url.replace('127.0.0.1', 'localhost'));
    expect(await run.save()).toMatchObject({ result: 'downloaded', bytes: 2 });
  });
});

test('localhost is dialled, and never looked up', async () => {
  const { server } = await talk((socket) => void socket.end(`${head(200, { 'Content-Length': 2 })}ok`));
  // Node's own resolver, as net calls it.
  const asked = vi.spyOn(dns, 'lookup');
  onTestFinished(() => asked.mockRestore());
  const run = await startRun(server.url.replace('127.0.0.1', 'localhost'));
  expect(await run.save()).toMatchObject({ result: 'downloaded' });
  expect(asked).not.toHaveBeenCalled();
  await (await startRun(server.url.replace('127.0.0.1', 'name.invalid'))).save();
  expect(asked).toHaveBeenCalled();
});

describe('silence', () => {
  test.each<[string, Script]>([
    ['no answer at all', () => {}],
    ['half a head', (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-')],
    ['only interim answers', (socket) => void socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ])('%s times out', async (_, script) => {
    const { ask } = await talk(script, 300);
    await expect(ask()).rejects.toMatchObject({
      exitStatus: 7,
      retryable: true,
      message: expect.stringMatching(/timed out: no answer/),
    });
  });

  test.each<[string, Script]>([
    ['a body that stops', (socket) => void socket.write(`${head(200, { 'Content-Length': 9000 })}${'x'.repeat(5000)}`)],
    [
      'a body that drips',
      async (socket) => {
        socket.write(head(200, { 'Content-Length': 9000 }));
        while (!socket.destroyed) {
          socket.write('x');
          await sleep(20);
        }
      },
    ],
    [
      'a head that drips',
      async (socket) => {
        for (let n = 0; !socket.destroyed; n += 1) {
          socket.write(n === 0 ? 'HTTP/1.1 200 OK\r\n' : `X-${n}: y\r\n`);
          await sleep(20);
        }
      },
    ],
  ])('%s times out', async (_, script) => {
    const { ask } = await talk(script, 300);
    await expect(ask().then(read)).rejects.toMatchObject({
      exitStatus: 7,
      retryable: true,
      message: expect.stringMatching(/timed out/),
    });
  });

  test('behind a reader that is busy, a stalled server is noticed too', async () => {
    const { ask } = await talk((socket) => {
      socket.write(head(200, { 'Content-Length': 5_000_000 }));
      socket.write(Buffer.alloc(2_000_000));
    }, 2000);
    const answer = await ask();
    await sleep(3000);
    const slowly = async () => {
      for (let taken = await answer.body.take(); taken; taken = await answer.body.take()) await sleep(50);
    };
    await expect(slowly()).rejects.toMatchObject({ exitStatus: 7, message: expect.stringMatching(/timed out/) });
  });

  test('a reader that takes its time is not the server’s silence', async () => {
    const body = content(3_000_000);
    const { ask } = await talk((socket) => {
      socket.write(head(200, { 'Content-Length': body.length }));
      socket.write(body);
    }, 2000);
    const answer = await ask();
    const chunks: Buffer[] = [];
    for (let taken = await answer.body.take(); taken; taken = await answer.body.take()) {
      // The body is larger than what is gathered: the socket is held back meanwhile.
      if (chunks.length === 0) await sleep(3000);
      // What was taken stays as it is until the next is taken.
      chunks.push(Buffer.concat(taken));
    }
    expect(Buffer.concat(chunks).equals(body)).toBe(true);
  });
});
