import { expect, test } from 'vitest';
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
  const { pass: passTime, sleeping, ...clock } = heldClock();
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
    pause: (ms = 1000) => limiter.pause(ms),
    pass,
    sleeping,
    askUntil: ask,
    ask: (names: string) => [...names].map((name) => ask(name)),
    askAgain: (names: string) => [...names].map((name) => ask(name, undefined, true)),
    async end(names: string, wasSent?: boolean) {
      for (const name of names) endRequests.get(name)?.(wasSent);
      return pass(0);
    },
  };
}

test('at 2/s one request goes in each half second, also after a pause and after a time without requests', async () => {
  const { pause, ask, pass, end } = limiterOf(2);
  ask('abcd');
  expect(await pass(0)).toBe('a');
  pause();
  expect(await pass(999)).toBe('a');
  expect(await pass(1)).toBe('ab');
  // The answer is late, and allows no burst.
  await pass(3000);
  expect(await end('b')).toBe('abc');
  expect(await pass(499)).toBe('abc');
  expect(await pass(1)).toBe('abcd');
  await pass(10_000);
  ask('efg');
  expect(await pass(499)).toBe('abcde');
  expect(await pass(1)).toBe('abcdef');
});

test('after a pause one request goes alone, and the others go in their order when it has its answer', async () => {
  const { pause, ask, askAgain, end, pass } = limiterOf();
  pause();
  pause(10);
  ask('abc');
  expect(await pass(999)).toBe('');
  expect(await pass(1)).toBe('a');
  // Those that the service has refused before go first.
  askAgain('12');
  expect(await end('a')).toBe('a12bc');
});

test.each`
  what                                 | during                                          | after   | next
  ${'is refused, there is a pause'}    | ${(all: Paused) => [all.pause(), all.end('a')]} | ${'a'}  | ${'ab'}
  ${'could not be sent, another goes'} | ${(all: Paused) => all.end('a', false)}         | ${'ab'} | ${'ab'}
  ${'has no answer for five seconds'}  | ${(all: Paused) => all.pass(4999)}              | ${'a'}  | ${'ab'}
`('if the request that goes alone $what', async ({ during, after, next }) => {
  const all = limiterOf();
  all.pause();
  all.ask('abc');
  await all.pass(1000);
  await during(all);
  expect(await all.pass(0)).toBe(after);
  expect(await all.pass(1000)).toBe(next);
  expect(await all.end('b')).toBe('abc');
});

type Paused = ReturnType<typeof limiterOf>;

test('after a pause in which few requests were accepted, more and more go at once', async () => {
  const { pause, ask, end, pass } = limiterOf();
  ask('ab');
  await end(await pass(0));
  pause();
  ask('cdefghijklmnopqrstuvwxyz');
  let sent = await pass(1000);
  let rounds = 0;
  for (let ended = 2; sent.length < 26; rounds += 1) {
    const inFlight = sent.slice(ended);
    ended = sent.length;
    sent = await end(inFlight);
  }
  expect(rounds).toBeGreaterThan(3);
  expect(rounds).toBeLessThan(9);
});

test('the refusal of a request that was sent before delays the others, too', async () => {
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

test('aborted requests leave the queue wherever they wait, and no timer remains after the last one', async () => {
  const { pause, ask, askUntil, pass, sleeping } = limiterOf();
  const [stop, last] = [new AbortController(), new AbortController()];
  pause();
  const rejected = (name: string, { signal }: AbortController, reason: string) =>
    expect(askUntil(name, signal)).rejects.toBe(reason);
  const rejections = [rejected('a', stop, 'stop'), rejected('b', stop, 'stop')];
  ask('c');
  rejections.push(rejected('d', stop, 'stop'), rejected('e', last, 'last'));
  stop.abort('stop');
  await rejected('f', stop, 'stop');
  expect(sleeping()).toBe(1);
  expect(await pass(1000)).toBe('c');
  last.abort('last');
  await Promise.all(rejections);
  expect(sleeping()).toBe(0);
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
  const policy = { retries: maxRefusals, maxRetryAfter: 9000 };
  const world = { ...clock, now: clock.monotonic, random: () => 0 };
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
    if (!isAccepted) throw new FilingsError('temporary', 'busy', { retryable: true, retryAt: now + 1000 });
  }
  async function job(): Promise<void> {
    for (let file = 0; file < 3; file += 1) {
      let tries = 0;
      await retry(() => request(tries++ > 0), policy, world, signal);
    }
  }
  let hasEnded = false;
  const all = Promise.all(Array.from({ length: jobs }, job)).finally(() => {
    hasEnded = true;
  });
  while (!hasEnded) await pass(20);
  await all;
});
