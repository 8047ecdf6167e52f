import { describe, expect, test } from 'vitest';
import { createAbortController } from '../../src/abort.ts';
import { FilingsError } from '../../src/errors.ts';
import { type EndRequest, RateLimiter } from '../../src/http/rate-limiter.ts';
import { retry } from '../../src/http/retry.ts';
import { heldClock } from '../held-clock.ts';

/** A limiter on a clock that the test moves, with the requests that it let out, in order. */
function limiterOf(ratePerSecond?: number) {
  const { pass, ...clock } = heldClock();
  const limiter = new RateLimiter(ratePerSecond, clock);
  const sent: string[] = [];
  const turns = new Map<string, EndRequest>();
  async function ask(name: string, signal = new AbortController().signal, wasRefused = false): Promise<void> {
    const endRequest = await limiter.acquire(signal, wasRefused);
    sent.push(name);
    turns.set(name, endRequest);
  }
  return {
    limiter,
    pass,
    ask: (names: string) => [...names].map((name) => ask(name)),
    askAgain: (name: string) => ask(name, undefined, true),
    askUntil: ask,
    sent: () => sent.join(''),
    /** Ends the requests and runs pending callbacks. */
    async end(names: string, wasSent?: boolean): Promise<void> {
      for (const name of names) turns.get(name)?.(wasSent);
      await pass(0);
    },
  };
}

test('without a rate and a pause no request waits for another', async () => {
  const { ask, pass, sent } = limiterOf();
  ask('abc');
  await pass(0);
  expect(sent()).toBe('abc');
});

test('a pause delays requests that wait for the rate already, and the rate applies after it', async () => {
  const { limiter, ask, pass, sent, end } = limiterOf(2);
  ask('abcd');
  await pass(0);
  limiter.pause(5000);
  for (const [ms, expected] of [
    [1000, 'a'],
    [3999, 'a'],
    [1, 'ab'],
  ] as const) {
    await pass(ms);
    expect(sent()).toBe(expected);
  }
  await end('b');
  expect(sent()).toBe('ab');
  await pass(500);
  expect(sent()).toBe('abc');
  await pass(500);
  expect(sent()).toBe('abcd');
});

test('a rate that was not used for some time allows no burst', async () => {
  const { ask, pass, sent } = limiterOf(2);
  ask('a');
  await pass(10_000);
  ask('bcd');
  await pass(499);
  expect(sent()).toBe('ab');
  await pass(1);
  expect(sent()).toBe('abc');
});

test('no timer remains after the last waiting request', async () => {
  const timers: AbortSignal[] = [];
  const sleep = (_: number, signal: AbortSignal) => {
    timers.push(signal);
    return new Promise<void>((_, reject) => signal.addEventListener('abort', reject));
  };
  const limiter = new RateLimiter(undefined, { monotonic: () => 0, sleep });
  limiter.pause(1000);
  const stop = new AbortController();
  const rejections = ['a', 'b'].map(() => expect(limiter.acquire(stop.signal)).rejects.toBe('stop'));
  expect(timers.filter(({ aborted }) => !aborted)).toHaveLength(1);
  stop.abort('stop');
  await Promise.all(rejections);
  expect(timers.filter(({ aborted }) => !aborted)).toEqual([]);
});

describe('after a pause', () => {
  /** A limiter that has just been paused, with waiting requests. */
  async function pausedLimiter(names: string, ratePerSecond?: number) {
    const all = limiterOf(ratePerSecond);
    all.limiter.pause(1000);
    all.ask(names);
    await all.pass(1000);
    expect(all.sent()).toBe(names[0]);
    return all;
  }

  test('the first request goes alone, and all others follow when it has its answer', async () => {
    const { sent, end } = await pausedLimiter('abcdef');
    await end('a');
    expect(sent()).toBe('abcdef');
  });

  test('the others keep the rate, however long the answer took', async () => {
    const { sent, end, pass } = await pausedLimiter('abcd', 2);
    await pass(3000);
    await end('a');
    expect(sent()).toBe('ab');
    await pass(499);
    expect(sent()).toBe('ab');
    await pass(1);
    expect(sent()).toBe('abc');
  });

  test('a refusal of the first request begins another pause, after which again one goes alone', async () => {
    const { limiter, sent, end, pass } = await pausedLimiter('abcd');
    limiter.pause(1000);
    await end('a');
    await pass(999);
    expect(sent()).toBe('a');
    await pass(1);
    expect(sent()).toBe('ab');
    await end('b');
    expect(sent()).toBe('abcd');
  });

  test('a refusal of a request that was sent before delays the others, too', async () => {
    const { limiter, ask, sent, end, pass } = limiterOf();
    ask('ab');
    await pass(0);
    limiter.pause(1000);
    await end('a');
    ask('cde');
    await pass(1000);
    limiter.pause(1000);
    await end('bc');
    expect(sent()).toBe('abc');
    await pass(1000);
    expect(sent()).toBe('abcd');
  });

  test('the others wait no longer than five seconds for the answer', async () => {
    const { sent, end, pass } = await pausedLimiter('abc');
    await pass(4999);
    expect(sent()).toBe('a');
    await pass(1);
    expect(sent()).toBe('ab');
    await end('b');
    expect(sent()).toBe('abc');
  });

  test('another request goes alone if the first one could not be sent', async () => {
    const { sent, end } = await pausedLimiter('abcd');
    await end('a', false);
    expect(sent()).toBe('ab');
    await end('b');
    expect(sent()).toBe('abcd');
  });

  test('requests that the service has refused go before the others, in their own order', async () => {
    const { askAgain, sent, end } = await pausedLimiter('abcd');
    askAgain('1');
    askAgain('2');
    await end('a');
    expect(sent()).toBe('a12bcd');
  });

  test('aborted requests leave the queue, wherever they wait', async () => {
    const { limiter, ask, askUntil, sent, pass } = limiterOf();
    const stop = new AbortController();
    limiter.pause(1000);
    const rejections = ['a', 'b'].map((name) => expect(askUntil(name, stop.signal)).rejects.toBe('stop'));
    ask('c');
    rejections.push(expect(askUntil('d', stop.signal)).rejects.toBe('stop'));
    await pass(0);
    stop.abort('stop');
    await Promise.all(rejections);
    await expect(askUntil('e', stop.signal)).rejects.toBe('stop');
    await pass(1000);
    expect(sent()).toBe('c');
  });
});

describe('after several pauses', () => {
  test('only as many requests go out as the service accepted between them, then one more for each two answers', async () => {
    const { limiter, ask, sent, end, pass } = limiterOf();
    ask('abc');
    await pass(0);
    await end('ab');
    limiter.pause(1000);
    await end('c');
    ask('0123456789');
    await pass(1000);
    const steps: [end: string, sent: string][] = [
      ['', '0'],
      ['0', '01'],
      ['1', '012'],
      ['2', '01234'],
      ['3', '012345'],
      ['45', '012345678'],
    ];
    for (const [ended, expected] of steps) {
      await end(ended);
      expect(sent().slice(3)).toBe(expected);
    }
  });

  test.each([
    { perSecond: 1, jobs: 6, maxRefusals: 4 },
    { perSecond: 3, jobs: 64, maxRefusals: 5 },
    { perSecond: 10, jobs: 64, maxRefusals: 4 },
    { perSecond: 10, jobs: 256, maxRefusals: 4 },
  ])('a service that takes %j refuses no file more often', async ({ perSecond, jobs, maxRefusals }) => {
    const { pass, ...clock } = heldClock();
    const { signal } = createAbortController();
    const limiter = new RateLimiter(undefined, clock);
    const policy = { retries: maxRefusals, maxRetryAfterMs: 9000, limiter, ...clock, now: () => 0, random: () => 0 };
    let acceptedTimes: number[] = [];
    async function request(wasRefused: boolean): Promise<void> {
      const endRequest = await limiter.acquire(signal, wasRefused);
      await clock.sleep(20, signal);
      const now = clock.monotonic();
      acceptedTimes = acceptedTimes.filter((time) => time > now - 1000);
      const isAccepted = acceptedTimes.length < perSecond;
      if (isAccepted) acceptedTimes.push(now);
      else limiter.pause(1000);
      endRequest();
      if (!isAccepted) throw new FilingsError('temporary', 'busy', { retryable: true, retryDue: now + 1000 });
    }
    async function job(): Promise<void> {
      for (let file = 0; file < 3; file += 1) {
        let tries = 0;
        await retry(() => request(tries++ > 0), policy, signal);
      }
    }
    let hasEnded = false;
    const all = Promise.all(Array.from({ length: jobs }, job)).finally(() => {
      hasEnded = true;
    });
    while (!hasEnded) await pass(20);
    await all;
  });
});
