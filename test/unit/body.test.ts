import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Body, Intake } from '../../src/http/body.ts';
import { Watchdog } from '../../src/http/watchdog.ts';
import { heldClock } from '../held-clock.ts';

const newBody = () =>
  new Body(
    new Intake(),
    new Watchdog(1000, heldClock()).watch(() => {}),
  );

const takenOf = async (body: Body) => (await body.take()) ?? [];

test('bytes that come one by one are few chunks to whoever takes them', async () => {
  const body = newBody();
  const slot = Buffer.from(Array.from({ length: 1 << 18 }, (_, at) => at % 251));
  for (let at = 0; at < slot.length; at++) body.push(slot.subarray(at, at + 1));
  const chunks = await takenOf(body);
  expect(chunks.length).toBeLessThan(10);
  expect(Buffer.concat(chunks).equals(slot)).toBe(true);
});

test('chunks of any sizes are taken in their order, and what was taken stays as it is', async () => {
  const size = fc.constantFrom(1, 2, 500, 4095, 4096, 40_000, 65_535, 65_536);
  const sizesOfTakes = fc.array(fc.array(size, { minLength: 1 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(sizesOfTakes, async (takes) => {
      const body = newBody();
      let next = 0;
      const held: { chunks: Buffer[]; sent: Buffer }[] = [];
      for (const sizes of takes) {
        const sent = sizes.map((bytes) => Buffer.alloc(bytes, next++ % 256));
        for (const chunk of sent) body.push(chunk);
        held.push({ chunks: await takenOf(body), sent: Buffer.concat(sent) });
      }
      for (const { chunks, sent } of held) expect(Buffer.concat(chunks).equals(sent)).toBe(true);
    }),
  );
});
