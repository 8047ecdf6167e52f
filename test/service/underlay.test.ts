import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Underlay } from '../../src/http/connection/underlay.ts';
import { content } from './transfer-fixture.ts';

const BYTES = content(200_000);

async function underlayTo(script: (socket: Socket) => void) {
  const server = createServer((socket) => script(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const underlay = new Underlay(socket);
  onTestFinished(() => {
    underlay.destroy();
    server.close();
  });
  return { socket, underlay };
}

/** All bytes, by a reader that stops after each chunk, up to the end or until it is closed without one. */
async function slowly(underlay: Underlay): Promise<Buffer> {
  const chunks: Buffer[] = [];
  underlay.on('data', (chunk) => {
    chunks.push(chunk);
    underlay.pause();
    setTimeout(() => underlay.resume(), 10);
  });
  await new Promise<void>((resolve) =>
    underlay
      .once('end', resolve)
      .once('close', resolve)
      .on('error', () => {}),
  );
  return Buffer.concat(chunks);
}

describe('below TLS', () => {
  test('nothing is lost when the connection is closed before all was read', async () => {
    const { underlay } = await underlayTo((socket) => void socket.end(BYTES));
    expect(underlay.ended).toBe(false);
    expect((await slowly(underlay)).equals(BYTES)).toBe(true);
    expect(underlay.ended).toBe(true);
  });

  test('what is written goes out, and its end', async () => {
    let got = Buffer.alloc(0);
    const ended = new Promise<void>((resolve) => {
      void underlayTo((socket) => {
        socket.on('data', (chunk) => {
          got = Buffer.concat([got, chunk]);
        });
        socket.on('end', resolve);
      }).then(({ underlay }) => underlay.end(BYTES));
    });
    await ended;
    expect(got.equals(BYTES)).toBe(true);
  });
});
