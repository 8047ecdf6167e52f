import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PausableSocket, ReadBuffers } from '../../src/http/pausable-socket.ts';
import { until } from '../cli/program.ts';
import { tlsWith } from '../servers/certificates.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { content } from './transfer-fixture.ts';

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

  /** Reads in a loop, as undici does. */
  function reading(socket: PausableSocket) {
    const read = { bytes: 0 };
    socket.on('readable', () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) read.bytes += chunk.length;
    });
    return read;
  }

  test('tells a reset from an end, also when it was held as the connection ended', async () => {
    for (const ending of ['FIN', 'RST']) {
      let hasEnded = false;
      const onEnd = () => {
        hasEnded = true;
      };
      const { server, socket } = await connected((peer) => {
        peer.write(content(1000), () => {
          if (ending === 'FIN') peer.end(onEnd);
          else server.below(peer).once('close', onEnd).resetAndDestroy();
        });
      });
      const closed = new Promise((resolve) => socket.once('close', resolve));
      reading(socket);
      socket.pauseReading();
      await until(() => hasEnded);
      socket.resumeReading();
      await closed;
      expect(socket.wasReset, ending).toBe(ending === 'RST');
    }
  });

  test('gives no end while all bytes are inspected away', async () => {
    let end = () => {};
    const { socket } = await connected((peer) => {
      peer.write('first');
      end = () => void peer.end('second');
    });
    const inspected: string[] = [];
    socket.filterHead = (bytes) => {
      inspected.push(`${bytes}`);
      if (inspected.join('') !== 'first') return bytes;
      end();
      return null;
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
  });
});
