import { expect, test } from 'vitest';
import { JobSlots } from '../../src/batch/job-slots.ts';

const MEBIBYTE = 1 << 20;

/** Slots, and how often one was free for a new file. */
function slotsFor(count: number) {
  let freed = 0;
  const slots = new JobSlots(count, () => {
    freed += 1;
  });
  return { slots, freed: () => freed };
}

/** Lets one file after the other arrive until one keeps its slot, and returns those that released theirs. */
function releasedIn(slots: JobSlots, bytes: number) {
  const released = [];
  let slot = slots.acquire();
  for (; released.length < 100 && slot.release(bytes); slot = slots.acquire()) released.push(slot);
  slot.end();
  return released;
}

test.each([
  ['no file for one slot', 1, 100, 0],
  ['four files for two slots', 2, 100, 4],
  ['four files for each further slot', 16, 100, 60],
  ['64 files for many slots', 256, 100, 64],
  ['64 MiB', 16, 20 * MEBIBYTE, 3],
  ['one file of exactly 64 MiB', 16, 64 * MEBIBYTE, 1],
  ['no file of more', 16, 64 * MEBIBYTE + 1, 0],
])('completes %s without a slot', (_, count, bytes, expected) => {
  const { slots } = slotsFor(count);
  const released = releasedIn(slots, bytes);
  expect(released).toHaveLength(expected);
  for (const slot of released) slot.end();
  // A completed file makes room for another one, in number and in bytes.
  expect(releasedIn(slots, bytes)).toHaveLength(expected);
});

test('frees a slot when its file releases it, or ends without that', () => {
  const { slots, freed } = slotsFor(2);
  const [first, second] = [slots.acquire(), slots.acquire()];
  expect([slots.isFull, freed()]).toEqual([true, 0]);
  first.release(1);
  expect([slots.isFull, freed()]).toEqual([false, 1]);
  slots.acquire();
  first.end();
  expect([slots.isFull, freed()]).toEqual([true, 1]);
  second.end();
  expect([slots.isFull, freed()]).toEqual([false, 2]);
});

test('lets a file that is fetched once more wait for a slot, before new files', async () => {
  const { slots, freed } = slotsFor(2);
  const [lost, other] = [slots.acquire(), slots.acquire()];
  lost.release(1);
  slots.acquire();
  const order: string[] = [];
  const reacquired = lost.reacquire().then(() => order.push('reacquired'));
  await Promise.resolve();
  order.push('other ends');
  other.end();
  expect(slots.isFull).toBe(true);
  await reacquired;
  expect([order, freed()]).toEqual([['other ends', 'reacquired'], 1]);
  lost.end();
  expect([slots.isFull, freed()]).toEqual([false, 2]);
});

test('gives a free slot at once to a file that is fetched once more, and nothing to one that still has its own', async () => {
  const { slots } = slotsFor(2);
  const [lost, holder] = [slots.acquire(), slots.acquire()];
  await holder.reacquire();
  lost.release(1);
  await lost.reacquire();
  expect(slots.isFull).toBe(true);
  holder.end();
  lost.end();
  expect(releasedIn(slots, 1)).toHaveLength(4);
});
