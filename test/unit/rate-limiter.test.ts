import { describe, expect, test } from 'vitest';
import { createAbortController } from '../../src/abort.ts';
import { FilingsError } from '../../src/errors.ts';
import { type EndRequest, RateLimiter } from '../../src/http/rate-limiter.ts';
import { retry } from '../../src/http/retry.ts';
import { heldClock } from '../held-clock.ts';

/**
 * A limiter on a clock that the test moves. `pass` moves it, `end` ends requests, and both return the names of all
 * requests that were let out, in order.
 */
function limiterOf(ratePerSecond?: number) {
  const { pass: passTime, ...clock } = heldClock();
  const limiter = new RateLimiter(ratePerSecond, clock);
  const endRequests = new Map<string, EndRequest>();
  const pass = async (ms: number) => {
    await passTime(ms);
    return [...endRequests.keys()].join('');
  };
  async function ask(name: string, signal = new AbortController().signal, wasRefused = false): Promise<void> {
    endRequests.set(name, await limiter.acquire(signal, wasRefused));
  }
  return {
    pause: () => limiter.pause(1000),
    pass,
    askUntil: ask,
    ask: (names: string) => [...names].map((name) => ask(name)),
    askAgain: (names: string) => [...names].map((name) => ask(name, undefined, true)),
    async end(names: string, wasSent?: boolean) {
      for (const name of names) endRequests.get(name)?.(wasSent);
      return pass(0);
    },
  };
}

test('without a rate and a pause no request waits for another', async () => {
  const { ask, pass } = limiterOf();
  ask('abc');
  expect(await pass(0)).toBe('abc');
});

test('a pause delays requests that wait for the rate already, and the rate applies after it', async () => {
  const { pause, ask, pass, end } = limiterOf(2);
  ask('abcd');
  expect(await pass(0)).toBe('a');
  pause();
  expect(await pass(999)).toBe('a');
  expect(await pass(1)).toBe('ab');
  expect(await end('b')).toBe('ab');
  expect(await pass(500)).toBe('abc');
  expect(await pass(500)).toBe('abcd');
});

test('a rate that was not used for some time allows no burst', async () => {
  const { ask, pass } = limiterOf(2);
  ask('a');
  await pass(10_000);
  ask('bcd');
  expect(await pass(499)).toBe('ab');
  expect(await pass(1)).toBe('abc');
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
  /** A limiter that has just been paused, with waiting requests of which the first one has gone out. */
  async function pausedLimiter(names: string, ratePerSecond?: number) {
    const all = limiterOf(ratePerSecond);
    all.pause();
    all.ask(names);
    expect(await all.pass(1000)).toBe(names[0]);
    return all;
  }

  test('the first request goes alone, and all others follow when it has its answer', async () => {
    const { end } = await pausedLimiter('abcdef');
    expect(await end('a')).toBe('abcdef');
  });

  test('the others keep the rate, however long the answer took', async () => {
    const { end, pass } = await pausedLimiter('abcd', 2);
    await pass(3000);
    expect(await end('a')).toBe('ab');
    expect(await pass(499)).toBe('ab');
    expect(await pass(1)).toBe('abc');
  });

  test('a refusal of the first request begins another pause, after which again one goes alone', async () => {
    const { pause, end, pass } = await pausedLimiter('abcd');
    pause();
    await end('a');
    expect(await pass(999)).toBe('a');
    expect(await pass(1)).toBe('ab');
    expect(await end('b')).toBe('abcd');
  });

  test('a refusal of a request that was sent before delays the others, too', async () => {
    const { pause, ask, end, pass } = limiterOf();
    ask('ab');
    await pass(0);
    pause();
    await end('a');
    ask('cde');
    await pass(1000);
    pause();
    expect(await end('bc')).toBe('abc');
    expect(await pass(1000)).toBe('abcd');
  });

  test('the others wait no longer than five seconds for the answer', async () => {
    const { end, pass } = await pausedLimiter('abc');
    expect(await pass(4999)).toBe('a');
    expect(await pass(1)).toBe('ab');
    expect(await end('b')).toBe('abc');
  });

  test('another request goes alone if the first one could not be sent', async () => {
    const { end } = await pausedLimiter('abcd');
    expect(await end('a', false)).toBe('ab');
    expect(await end('b')).toBe('abcd');
  });

  test('requests that the service has refused go before the others, in their own order', async () => {
    const { askAgain, end } = await pausedLimiter('abcd');
    askAgain('12');
    expect(await end('a')).toBe('a12bcd');
  });

  test('aborted requests leave the queue, wherever they wait', async () => {
    const { pause, ask, askUntil, pass } = limiterOf();
    const stop = new AbortController();
    pause();
    const rejections = ['a', 'b'].map((name) => expect(askUntil(name, stop.signal)).rejects.toBe('stop'));
    ask('c');
    rejections.push(expect(askUntil('d', stop.signal)).rejects.toBe('stop'));
    await pass(0);
    stop.abort('stop');
    await Promise.all(rejections);
    await expect(askUntil('e', stop.signal)).rejects.toBe('stop');
    expect(await pass(1000)).toBe('c');
  });
});

describe('after several pauses', () => {
  test('only as many requests go out as the service accepted between them, then one more for each two answers', async () => {
    const { pause, ask, end, pass } = limiterOf();
    ask('abc');
    await pass(0);
    await end('ab');
    pause();
    await end('c');
    ask('0123456789');
    expect(await pass(1000)).toBe('abc0');
    expect(await end('0')).toBe('abc01');
    expect(await end('1')).toBe('abc012');
    expect(await end('2')).toBe('abc01234');
    expect(await end('3')).toBe('abc012345');
    expect(await end('45')).toBe('abc012345678');
  });

  test.each`
    perSecond | jobs   | maxRefusals
    ${1}      | ${6}   | ${4}
    ${3}      | ${64}  | ${5}
    ${10}     | ${64}  | ${4}
    ${10}     | ${256} | ${4}
  `('a service of $perSecond requests a second refuses $jobs jobs a file at most $maxRefusals times', async (row) => {
    const { perSecond = 0, jobs = 0, maxRefusals = 0 } = row as Record<string, number>;
    const { pass, ...clock } = heldClock();
    const { signal } = createAbortController();
    const limiter = new RateLimiter(undefined, clock);
    const policy = { maxRetries: maxRefusals, maxRetryAfterMs: 9000, ...clock, random: () => 0 };
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
