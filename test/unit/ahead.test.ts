import { describe, expect, test } from 'vitest';
import { ahead } from '../../src/commands/list/ahead.ts';

/** Numbers, and afterwards a wait that never ends where `open`. */
async function* numbers(count: number, open = false): AsyncGenerator<number> {
  for (let n = 0; n < count; n += 1) yield n;
  if (open) await new Promise(() => {});
}

/** Work that ends when the test says so. */
function held() {
  const begun: number[] = [];
  const ends = new Map<number, () => void>();
  return {
    begun,
    end: (n: number) => ends.get(n)?.(),
    work: (n: number) =>
      new Promise<number>((resolve) => {
        begun.push(n);
        ends.set(n, () => resolve(n));
      }),
  };
}

const never = new AbortController().signal;
const turns = async () => {
  for (let n = 0; n < 20; n += 1) await Promise.resolve();
};

describe('ahead', () => {
  test('gives results in the order of what came', async () => {
    const given: number[] = [];
    for await (const n of ahead(numbers(7), 3, async (n) => n * 10, never)) given.push(n);
    expect(given).toEqual([0, 10, 20, 30, 40, 50, 60]);
  });

  test('works on so many at a time, and no more', async () => {
    const { begun, end, work } = held();
    const results = ahead(numbers(5), 2, work, never);
    const first = results.next();
    await turns();
    expect(begun).toEqual([0, 1]);
    end(1);
    await turns();
    expect(begun).toEqual([0, 1]);
    end(0);
    expect((await first).value).toBe(0);
    expect((await results.next()).value).toBe(1);
    await results.return(undefined);
  });

  test('does not hold a result back until the next one comes', async () => {
    const results = ahead(numbers(1, true), 4, async (n) => n, never);
    expect((await results.next()).value).toBe(0);
  });

  test('throws what the work throws, in its turn', async () => {
    const results = ahead(
      numbers(3),
      3,
      async (n) => {
        if (n === 1) throw new Error('one');
        return n;
      },
      never,
    );
    expect((await results.next()).value).toBe(0);
    await expect(results.next()).rejects.toThrow('one');
  });

  test('throws what the items throw behind all that came before', async () => {
    async function* broken() {
      yield* numbers(2);
      throw new Error('broken');
    }
    const { begun, end, work } = held();
    const results = ahead(broken(), 4, work, never);
    const first = results.next();
    await turns();
    end(begun[0] ?? 0);
    end(begun[1] ?? 0);
    expect([(await first).value, (await results.next()).value]).toEqual([0, 1]);
    await expect(results.next()).rejects.toThrow('broken');
  });

  test('throws the reason of the signal, also while nothing comes', async () => {
    const stop = new AbortController();
    const next = ahead(numbers(0, true), 4, async (n) => n, stop.signal).next();
    stop.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });
});
