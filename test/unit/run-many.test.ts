import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FilingsError, type FilingsErrorDetails } from '../../src/errors.ts';
import { type Ending, type RunEnd, runMany } from '../../src/transfer/many/run-many.ts';
import type { Supply } from '../../src/transfer/many/source.ts';

const never = new AbortController().signal;
const failure = (details: FilingsErrorDetails = {}) => new FilingsError('temporary', 'a reason', details);
const unreachable = () => failure({ connected: false });
const forbidden = () => new FilingsError('auth', '403', { problem: { status: 403 } });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The numbers from 0, with what is left known, and what was done to it. */
class Numbers implements Supply<number> {
  readonly #count: number;
  given = 0;
  returned = 0;

  constructor(count: number) {
    this.#count = count;
  }

  left(): number {
    return this.#count - this.given;
  }

  [Symbol.asyncIterator](): AsyncIterator<number, undefined> {
    return {
      next: async () => {
        if (this.given === this.#count || this.returned > 0) return { value: undefined, done: true };
        this.given += 1;
        return { value: this.given - 1, done: false };
      },
      return: async () => {
        this.returned += 1;
        return { value: undefined, done: true };
      },
    };
  }
}

interface Told {
  readonly item: number;
  readonly error: FilingsError | undefined;
  readonly brokenOff: boolean;
}

interface Ran extends RunEnd {
  readonly told: readonly Told[];
}

async function run(
  items: Supply<number>,
  attempt: (item: number, signal: AbortSignal, arrived: () => void) => Promise<Ending>,
  { jobs = 1, signal = never } = {},
): Promise<Ran> {
  const told: Told[] = [];
  const end = await runMany(
    items,
    attempt,
    async ({ error }, item, brokenOff) => void told.push({ item, error, brokenOff }),
    { jobs, signal },
  );
  return { ...end, told };
}

const numbers = ({ told }: Ran) => told.map(({ item }) => item);
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('runMany', () => {
  test('works through all, at most so many at a time, and goes on after a failure', async () => {
    let [under, most] = [0, 0];
    const ran = await run(
      new Numbers(30),
      async (item) => {
        under += 1;
        most = Math.max(most, under);
        await turn();
        under -= 1;
        return item % 3 === 0 ? { error: failure() } : {};
      },
      { jobs: 4 },
    );
    expect(most).toBe(4);
    expect(numbers(ran).toSorted((a, b) => a - b)).toEqual(upTo(30));
    expect(ran).toMatchObject({ stoppedBy: undefined, fromOutside: false, done: 30, undone: undefined });
  });

  test('nothing to do is done', async () => {
    expect(await run(new Numbers(0), async () => ({}), { jobs: 3 })).toMatchObject({ done: 0, stoppedBy: undefined });
  });

  test('an async generator will do; what is left of it nobody knows', async () => {
    let letGo = false;
    async function* endless() {
      try {
        for (let n = 0; ; n += 1) yield n;
      } finally {
        letGo = true;
      }
    }
    const stopping = failure({ stopsRun: true });
    const ran = await run(endless(), async (item) => (item === 3 ? { error: stopping } : {}));
    expect(ran).toMatchObject({ stoppedBy: stopping, done: 4, undone: undefined });
    expect([numbers(ran), letGo]).toEqual([upTo(4), true]);
  });

  test('stops after what would fail all the rest; what it breaks off is not a failure of its own', async () => {
    const stopping = failure({ stopsRun: true });
    const items = new Numbers(10);
    const ran = await run(
      items,
      async (item, signal) => {
        if (item === 1) return { error: stopping };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return { error: signal.reason };
      },
      { jobs: 3 },
    );
    expect(ran.told).toEqual([{ item: 1, error: stopping, brokenOff: false }]);
    expect(ran).toMatchObject({ stoppedBy: stopping, fromOutside: false, done: 1, undone: 9 });
    expect(items.returned).toBe(1);
  });

  test('what ends well in spite of it is told', async () => {
    const stopping = failure({ stopsRun: true });
    const ran = await run(
      new Numbers(10),
      async (item, signal) => {
        if (item === 1) return { error: stopping };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return {};
      },
      { jobs: 2 },
    );
    expect(numbers(ran)).toEqual([1, 0]);
    expect(ran).toMatchObject({ stoppedBy: stopping, done: 2, undone: 8 });
  });

  test.each([0, 1])('a signal ends it, and what it breaks off is told of (%i was done before)', async (before) => {
    const [controller, reason] = [new AbortController(), new FilingsError('interrupted', 'x', { signal: 2 })];
    const ran = await run(
      new Numbers(10),
      async (item, signal) => {
        if (item < before) return {};
        setImmediate(() => controller.abort(reason));
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return { error: signal.reason };
      },
      { jobs: 2, signal: controller.signal },
    );
    expect(ran.told.filter(({ brokenOff }) => brokenOff)).toHaveLength(2);
    expect(ran).toMatchObject({ stoppedBy: reason, fromOutside: true, done: before, undone: 10 - before });
  });

  test('a signal that came before it begins nothing', async () => {
    const reason = new FilingsError('interrupted', 'x');
    const ran = await run(new Numbers(5), async () => ({}), { signal: AbortSignal.abort(reason) });
    expect(ran).toMatchObject({ told: [], stoppedBy: reason, fromOutside: true, done: 0, undone: 5 });
  });

  test.each([
    ['without a connection', 10, unreachable, 'temporary'],
    ['answered with 403', 20, forbidden, 'auth'],
  ])('stops after so many in a row %s', async (_what, limit, error, code) => {
    const ran = await run(new Numbers(100), async () => ({ error: error() }));
    expect(ran.told).toHaveLength(limit);
    expect(ran.stoppedBy).toMatchObject({ code, stopsRun: true });
    expect([ran.done, ran.undone]).toEqual([limit, 100 - limit]);
  });

  test('what asked nothing is neither the end of such a row nor a part of it', async () => {
    const ran = await run(new Numbers(100), async (item) =>
      item % 2 === 0 ? { error: unreachable() } : { asked: false, error: unreachable() },
    );
    expect(ran.told).toHaveLength(19);
    const other = await run(new Numbers(100), async (item) =>
      item % 2 === 0 ? { error: unreachable() } : { asked: true },
    );
    expect(other.told).toHaveLength(100);
  });

  test('what asked nothing may stop it all the same', async () => {
    const wrong = new FilingsError('usage', 'x', { stopsRun: true });
    expect(await run(new Numbers(9), async () => ({ asked: false, error: wrong }))).toMatchObject({
      stoppedBy: wrong,
      done: 1,
    });
  });

  test('a limit: what is under way ends well, nothing else begins, and it is no end of the one that met it', async () => {
    const limit = failure();
    const begun: number[] = [];
    const aborted: unknown[] = [];
    const ran = await run(
      new Numbers(10),
      async (item, signal) => {
        if (item === 2) return { limit };
        begun.push(item);
        for (let i = 0; i < 5; i += 1) await turn();
        if (signal.aborted) aborted.push(item);
        return {};
      },
      { jobs: 3 },
    );
    expect([begun, aborted, numbers(ran)]).toEqual([[0, 1], [], [0, 1]]);
    expect(ran).toMatchObject({ stoppedBy: limit, fromOutside: false, done: 2, undone: 8 });
  });

  test('what fails all the rest is told before a limit that came first', async () => {
    const [limit, stopping] = [failure(), failure({ stopsRun: true })];
    const ran = await run(
      new Numbers(10),
      async (item) => {
        if (item === 1) return { limit };
        for (let i = 0; i < 5; i += 1) await turn();
        return { error: stopping };
      },
      { jobs: 2 },
    );
    expect(ran).toMatchObject({ stoppedBy: stopping, done: 1, undone: 9 });
  });

  test('an input that breaks ends it as a limit does', async () => {
    const broken = new FilingsError('local_io', 'the input: cannot be read');
    async function* input() {
      yield 0;
      throw broken;
    }
    const ran = await run(
      input(),
      async (_item, signal) => {
        for (let i = 0; i < 5; i += 1) await turn();
        return signal.aborted ? { error: signal.reason } : {};
      },
      { jobs: 2 },
    );
    expect(ran).toMatchObject({ told: [{ item: 0, brokenOff: false }], stoppedBy: broken, done: 1, undone: undefined });
  });

  test.each(['attempt', 'onEnd', 'items'] as const)('throws the defect of %s, after all have ended', async (where) => {
    const defect = new TypeError('x');
    let under = 0;
    async function* items() {
      for (let n = 0; ; n += 1) {
        if (where === 'items' && n === 3) throw defect;
        yield n;
      }
    }
    const running = runMany(
      items(),
      async (item, signal) => {
        if (where === 'attempt' && item === 2) throw defect;
        if (item === 2) return {};
        under += 1;
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        for (let i = 0; i < 5; i += 1) await turn();
        under -= 1;
        return { error: signal.reason };
      },
      async () => {
        if (where === 'onEnd') throw defect;
      },
      { jobs: 3, signal: never },
    );
    await expect(running).rejects.toBe(defect);
    expect(under).toBe(0);
  });

  test('leaves nothing behind on the signal', async () => {
    const { signal } = new AbortController();
    let during = 0;
    await run(
      new Numbers(3),
      async () => {
        during = getEventListeners(signal, 'abort').length;
        return {};
      },
      { signal },
    );
    expect([during, getEventListeners(signal, 'abort').length]).toEqual([1, 0]);
  });

  test('whatever happens, each is told of once, and done and undone are all there were', async () => {
    const ends = ['well', 'well', 'well', 'failed', 'stops', 'limit', 'signal'] as const;
    const reached = { whole: 0, stops: 0, limit: 0, signal: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ how: fc.constantFrom(...ends), turns: fc.nat(4) }), { maxLength: 25 }),
        fc.integer({ min: 1, max: 5 }),
        async (things, jobs) => {
          const controller = new AbortController();
          const errors = { stops: failure({ stopsRun: true }), limit: failure(), signal: failure() };
          const ran = await run(
            new Numbers(things.length),
            async (item, signal) => {
              const { how = 'well', turns = 0 } = things[item] ?? {};
              for (let i = 0; i < turns; i += 1) await turn();
              if (how === 'limit') return { limit: errors.limit };
              if (how === 'signal') controller.abort(errors.signal);
              if (signal.aborted) return { error: signal.reason };
              return how === 'stops' ? { error: errors.stops } : how === 'failed' ? { error: failure() } : {};
            },
            { jobs, signal: controller.signal },
          );
          expect(new Set(numbers(ran)).size).toBe(ran.told.length);
          expect(ran.done).toBe(ran.told.filter(({ brokenOff }) => !brokenOff).length);
          if (ran.stoppedBy) expect(ran.done + (ran.undone ?? Number.NaN)).toBe(things.length);
          else expect(ran.done).toBe(things.length);
          const by = Object.entries(errors).find(([, error]) => error === ran.stoppedBy)?.[0] ?? 'whole';
          reached[by as keyof typeof reached] += 1;
          if (by === 'signal') expect(ran.fromOutside).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
    expect(Math.min(...Object.values(reached))).toBeGreaterThan(15);
  });
});

describe('what has arrived', () => {
  /** Items that arrive at once, and end when they are let. */
  function held() {
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const attempt = async (item: number, _signal: AbortSignal, arrived: () => void): Promise<Ending> => {
      begun.push(item);
      await turn();
      arrived();
      await new Promise<void>((resolve) => {
        ends[item] = resolve;
      });
      return {};
    };
    return { begun, ends, attempt };
  }
  const turns = async () => {
    for (let count = 0; count < 20; count += 1) await turn();
  };

  test('lets the next one begin, but no more than twice the jobs are under way', async () => {
    const { begun, ends, attempt } = held();
    const running = run(new Numbers(6), attempt, { jobs: 2 });
    await turns();
    expect(begun).toEqual([0, 1, 2, 3]);
    ends[0]?.();
    await turns();
    // There is room by now, but a job that found none waits for its own file's end.
    expect(begun).toEqual([0, 1, 2, 3]);
    ends[2]?.();
    await turns();
    expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
    for (let item = 1; item < 6; item += 1) {
      ends[item]?.();
      await turns();
    }
    const { done, told } = await running;
    expect(done).toBe(6);
    expect(told.map(({ item }) => item).sort()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('is waited for where there is one job: one after the other', async () => {
    const { begun, ends, attempt } = held();
    const running = run(new Numbers(2), attempt);
    await turns();
    expect(begun).toEqual([0]);
    ends[0]?.();
    await turns();
    expect(begun).toEqual([0, 1]);
    ends[1]?.();
    await running;
  });

  test('is waited for before the run ends', async () => {
    const { ends, attempt } = held();
    let isOver = false;
    const running = run(new Numbers(1), attempt, { jobs: 4 }).then(() => {
      isOver = true;
    });
    await turns();
    expect(isOver).toBe(false);
    ends[0]?.();
    await running;
  });

  test('stops the run when it throws, and that is what the run throws', async () => {
    const begun: number[] = [];
    const running = run(
      new Numbers(100),
      async (item, _signal, arrived) => {
        begun.push(item);
        arrived();
        await turn();
        throw new Error('a defect');
      },
      { jobs: 2 },
    );
    await expect(running).rejects.toThrow('a defect');
    expect(begun.length).toBeLessThan(8);
  });

  test('is waited for also when it arrives after another has thrown', async () => {
    let hasEnded = false;
    const running = run(
      new Numbers(2),
      async (item, _signal, arrived) => {
        if (item === 0) throw new Error('a defect');
        await turn();
        arrived();
        await turns();
        hasEnded = true;
        return {};
      },
      { jobs: 2 },
    );
    await expect(running).rejects.toThrow('a defect');
    expect(hasEnded).toBe(true);
  });

  test('stops the run when it ends with what would fail all the rest', async () => {
    const { done, stoppedBy } = await run(
      new Numbers(100),
      async (item, _signal, arrived) => {
        await turn();
        arrived();
        await turn();
        return item === 0 ? { error: new FilingsError('local_io', 'full', { stopsRun: true }) } : {};
      },
      { jobs: 2 },
    );
    expect(stoppedBy?.code).toBe('local_io');
    expect(done).toBeLessThan(8);
  });
});
