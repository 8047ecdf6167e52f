import { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Body } from '../../src/http/body.ts';
import { PausableSocket } from '../../src/http/pausable-socket.ts';
import { Watchdog } from '../../src/http/watchdog.ts';
import { heldClock } from '../held-clock.ts';
import { proving } from '../proving.ts';

const newBody = (watchdog = new Watchdog(1000, heldClock()), socket = new PausableSocket(new Socket())) =>
  new Body(
    socket,
    watchdog.watch(() => {}),
    watchdog,
  );

const readChunks = async (body: Body) => (await body.read()) ?? [];

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
    { seed: 1, numRuns: proving ? 500 : 50 },
  );
});

// A Buffer has some 100 bytes of its own, and a service can send each byte as a chunk.
test.each`
  what                                        | sizes
  ${'single bytes'}                           | ${[1]}
  ${'small chunks'}                           | ${[500, 7, 4095]}
  ${'small and large chunks in turn'}         | ${[1, 4096]}
  ${'two small chunks before each large one'} | ${[1, 1, 5000]}
`('the memory of $what is hardly more than that of their bytes', async ({ sizes }) => {
  const body = newBody();
  const total = 1_000_000;
  for (let pushed = 0; pushed < total; ) for (const size of sizes) pushed += pushInto(body, size);
  const chunks = await readChunks(body);
  const blocks = new Set(chunks.map(({ buffer }) => buffer));
  const bytes = [...blocks].reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(bytes).toBeLessThan(1.2 * total);
  expect(chunks.length).toBeLessThan(total / 2000);
});

test.each([1, 4, 16, 64])('%d bodies together gather 2 MiB at most, and each 512 KiB, before they pause', (count) => {
  const watchdog = new Watchdog(1000, heldClock());
  const bodies = Array.from({ length: count }, () => {
    const socket = new PausableSocket(new Socket());
    return { socket, body: newBody(watchdog, socket) };
  });
  const gathered = bodies.map(({ socket, body }) => {
    let bytes = 0;
    while (!socket.isReadingPaused) bytes += pushInto(body, 16_384);
    // The chunk that pauses the socket is one too many.
    return bytes - 16_384;
  });
  expect(gathered).toEqual(gathered.map(() => Math.min(512, 2048 / count) * 1024));
});

function pushInto(body: Body, size: number): number {
  body.push(Buffer.from(new ArrayBuffer(size)));
  return size;
}
