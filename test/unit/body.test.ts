import { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Body } from '../../src/http/body.ts';
import { PausableSocket } from '../../src/http/pausable-socket.ts';
import { Watchdog } from '../../src/http/watchdog.ts';
import { heldClock } from '../held-clock.ts';

const timer = new Watchdog(1000, heldClock()).watch(() => {});
const newBody = (socket = new PausableSocket(new Socket())) => new Body(socket, timer);

const readChunks = async (body: Body) => (await body.read()) ?? [];

test('combines single bytes into a few chunks', async () => {
  const body = newBody();
  const slot = Buffer.from(Array.from({ length: 1 << 18 }, (_, at) => at % 251));
  for (let at = 0; at < slot.length; at++) body.push(slot.subarray(at, at + 1));
  const chunks = await readChunks(body);
  expect(chunks.length).toBeLessThan(10);
  expect(Buffer.concat(chunks).equals(slot)).toBe(true);
});

test('read returns chunks of any sizes in order and never changes them afterwards', async () => {
  const size = fc.constantFrom(1, 2, 500, 4095, 4096, 40_000, 65_535, 65_536);
  const sizesOfReads = fc.array(fc.array(size, { minLength: 1 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(sizesOfReads, async (reads) => {
      const body = newBody();
      let next = 0;
      const batches: { chunks: Buffer[]; sent: Buffer }[] = [];
      for (const sizes of reads) {
        const sent = sizes.map((bytes) => Buffer.alloc(bytes, next++ % 256));
        for (const chunk of sent) body.push(chunk);
        batches.push({ chunks: await readChunks(body), sent: Buffer.concat(sent) });
      }
      for (const { chunks, sent } of batches) expect(Buffer.concat(chunks).equals(sent)).toBe(true);
    }),
  );
});

test('pauses the socket once as many bytes are gathered as one read should return', () => {
  const socket = new PausableSocket(new Socket());
  const body = newBody(socket);
  body.limitReads(10);
  body.push(Buffer.alloc(9));
  expect(socket.isReadingPaused).toBe(false);
  body.push(Buffer.alloc(1));
  expect(socket.isReadingPaused).toBe(true);
});
