import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PausableSocket, ReadBuffers } from '../../src/http/pausable-socket.ts';
import { until } from '../cli/program.ts';
import { tlsWith } from '../servers/certificates.ts';
import { type Pump, pump } from '../servers/pump.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { content } from './transfer-fixture.ts';

const TOTAL = 64 << 20;
/** The most that the kernels of both sides may hold, and much more than this program may hold. */
const MAX_READ_AHEAD = TOTAL / 2;
const REQUEST = 'GET / HTTP/1.1\r\n\r\n';

test('read buffers of the right size are used again, each once and few of them, and no other memory is', () => {
  const buffers = new ReadBuffers();
  const take = () => (buffers.onread.buffer as () => Buffer)();
  const first = take();
  buffers.recycle([first.subarray(0, 10), first.subarray(10, 20), Buffer.from('elsewhere')]);
  const [again, fresh] = [take(), take()];
  expect(again.buffer).toBe(first.buffer);
  expect([fresh.buffer === first.buffer, fresh.length]).toEqual([false, first.length]);
  const many = Array.from({ length: 50 }, take);
  buffers.recycle(many);
  const reused = Array.from({ length: 50 }, take).filter(({ buffer }) => many.some((each) => each.buffer === buffer));
  expect(reused.length).toBeGreaterThan(1);
  expect(reused.length).toBeLessThan(20);
  buffers.recycle(many);
  buffers.limitReads(100);
  expect(take().length).toBe(100);
});

describe.each(['http', 'https'])('over %s', (scheme) => {
  /** Connects to a server of `script` as the program does, and sends a request. */
  async function connected(script: Script) {
    const isTls = scheme === 'https';
    const server = await scripted(script, isTls ? tlsWith('own-name') : undefined);
    const buffers = isTls ? undefined : new ReadBuffers();
    const real = buffers
      ? connectPlain({ port: server.port, host: '127.0.0.1', onread: buffers.onread })
      : connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
    onTestFinished(() => void real.destroy());
    await once(real, isTls ? 'secureConnect' : 'connect');
    const socket = new PausableSocket(real, buffers);
    onTestFinished(() => void socket.destroy());
    socket.write(REQUEST);
    return { server, real, socket };
  }

  /** Connects like {@link connected}, to a server that sends many bytes. */
  async function pumped() {
    let sent: Pump | undefined;
    const ends = await connected((peer) => {
      sent = pump(peer, TOTAL);
    });
    await until(() => sent !== undefined);
    return { ...ends, sent: sent as Pump };
  }

  /** Reads in a loop, as undici does. */
  function reading(socket: PausableSocket) {
    const hash = createHash('sha256');
    const read = { bytes: 0, digest: () => hash.digest('hex') };
    socket.on('readable', () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
        hash.update(chunk);
        read.bytes += chunk.length;
      }
    });
    return read;
  }

  test('reads little from the network while its stream is not read, and nothing while it is held', async () => {
    const { socket, sent } = await pumped();
    const readAhead = await sent.stopped();
    expect(readAhead).toBeLessThan(MAX_READ_AHEAD);
    socket.pauseReading();
    const read = reading(socket);
    expect(await sent.stopped()).toBe(readAhead);
    socket.resumeReading();
    await until(() => read.bytes === TOTAL);
    expect(read.digest()).toBe(sent.digest());
  });

  test('reads nothing while it is held, and then all of it in order', async () => {
    const { socket, sent } = await pumped();
    const read = reading(socket);
    await until(() => read.bytes > 0);
    socket.pauseReading();
    await sent.stopped();
    const before = read.bytes;
    expect(await sent.stopped()).toBeLessThan(MAX_READ_AHEAD);
    expect(read.bytes).toBe(before);
    socket.resumeReading();
    await until(() => read.bytes === TOTAL);
    expect(read.digest()).toBe(sent.digest());
  });

  test('tells a reset from an end, also when it was held as the connection ended', async () => {
    for (const [ending, wasReset] of [['FIN', false] as const, ['RST', true] as const]) {
      const { server, socket } = await connected((peer) => {
        const end = () => (ending === 'FIN' ? peer.end() : server.below(peer).resetAndDestroy());
        peer.write(content(1000), () => setTimeout(end, 5));
      });
      const closed = new Promise((resolve) => socket.once('close', resolve));
      reading(socket);
      socket.pauseReading();
      await until(() => server.requests.length === 1);
      setTimeout(() => socket.resumeReading(), 50);
      await closed;
      expect([ending, socket.wasReset]).toEqual([ending, wasReset]);
    }
  });

  test('gives no end while all bytes are inspected away', async () => {
    const { socket } = await connected((peer) => {
      peer.write('first', () => setTimeout(() => peer.end('second'), 20));
    });
    const inspected: string[] = [];
    socket.inspect = (bytes) => {
      inspected.push(`${bytes}`);
      return inspected.join('') === 'first' ? null : bytes;
    };
    const read = reading(socket);
    await once(socket, 'end');
    expect([inspected.join(''), read.bytes]).toEqual(['firstsecond', 'second'.length]);
  });

  test('destroys the socket below with itself, and itself with the socket below and its error', async () => {
    const peers: Socket[] = [];
    const above = await connected((peer) => void peers.push(peer));
    await until(() => peers.length === 1);
    above.socket.destroy();
    expect(above.real.destroyed).toBe(true);
    await until(() => peers[0]?.destroyed === true);
    const below = await connected(() => {});
    const failure = new Error('the network is down');
    below.real.destroy(failure);
    await new Promise((resolve) => below.socket.once('close', resolve));
    expect(below.socket.errored).toBe(failure);
    const unharmed = await connected(() => {});
    unharmed.real.destroy();
    await once(unharmed.socket, 'close');
  });
});
