import type { Stats } from 'node:fs';
import { expect, test } from 'vitest';
import { Settled } from '../../src/disk/directory/settled.ts';

const NOW = 1_000_000_000;
const MINUTE = 60_000;

/** A directory that was changed at a time, with the number of its flushes. */
function directory(changed: number) {
  const seen = { changed, flushes: 0, looks: 0 };
  const settled = new Settled({
    async stat() {
      seen.looks += 1;
      return { mtimeMs: seen.changed } as Stats;
    },
    async flush() {
      seen.flushes += 1;
    },
    now: () => NOW,
  });
  return { seen, settled };
}

test('entries of a young directory are flushed, once for all that were there by then', async () => {
  const { seen, settled } = directory(NOW - MINUTE);
  await settled.wait(NOW - 3 * MINUTE);
  await settled.wait(NOW - 2 * MINUTE);
  expect(seen).toMatchObject({ flushes: 1, looks: 1 });
});

test('one that came since, or at that very moment, is flushed too', async () => {
  const { seen, settled } = directory(NOW - MINUTE);
  await settled.wait(NOW - 2 * MINUTE);
  await settled.wait(NOW - MINUTE);
  expect(seen.flushes).toBe(2);
  seen.changed = NOW;
  await settled.wait(NOW);
  expect(seen.flushes).toBe(3);
  await settled.wait(NOW - 1);
  expect(seen.flushes).toBe(3);
});

test('what was changed over ten minutes ago is on disk; what is dated ahead is not known to be', async () => {
  const old = directory(NOW - 11 * MINUTE);
  await old.settled.wait(NOW - 20 * MINUTE);
  expect(old.seen.flushes).toBe(0);
  const ahead = directory(NOW + MINUTE);
  await ahead.settled.wait(NOW);
  expect(ahead.seen.flushes).toBe(1);
});

test('a flush that fails is told, and nothing is taken for settled by it', async () => {
  let fails = true;
  const stat = async () => ({ mtimeMs: NOW }) as Stats;
  const flush = async () => {
    if (fails) throw new Error('EIO');
  };
  const settled = new Settled({ stat, flush, now: () => NOW });
  await expect(settled.wait(NOW - 1)).rejects.toThrow('EIO');
  await expect(settled.wait(NOW - 1)).rejects.toThrow('EIO');
  fails = false;
  await settled.wait(NOW - 1);
});
