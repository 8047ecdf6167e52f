import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { RateLimiter } from '../../src/http/rate-limiter.ts';
import type { Outcome } from '../../src/transfer/outcome.ts';
import { heldClock } from '../held-clock.ts';
import { type Fields, head, rangeStart, sendAndEnd, sendFile } from '../servers/answers.ts';
import { listens, type Script } from '../servers/scripted.ts';
import { content, memoryWriter, type RunOptions, runAgainst } from './transfer-fixture.ts';

const FILE = content(5000);
const AT_ONCE = { 'Retry-After': 0 };

const says = (status: number, fields: Fields = {}) => head(status, { 'Content-Length': 0, ...fields });
const said = (body: string, fields: Fields) => head(200, { 'Content-Length': body.length, ...fields }) + body;

const against = (script: Script, options: RunOptions = {}) => runAgainst(script, { retries: 5, ...options });

test.each([408, 425, 429, 500, 502, 503, 504])('%i is asked again until it is better', async (status) => {
  const { server, run } = await against((socket, request) => {
    if (request.index < 5) socket.write(says(status, AT_ONCE));
    else sendFile(socket, request, FILE, '"v1"');
  });
  expect(await run.save()).toMatchObject({ result: 'downloaded', attempts: 6 });
  expect(server.requests[0]?.headers).toMatchObject({ 'accept-encoding': 'identity', 'user-agent': 'test' });
});

test.each([0, 3])('with %i retries it is asked no more often, and then tells itself', async (retries) => {
  const { server, run } = await against((socket) => void socket.write(says(503, AT_ONCE)), { retries });
  const error = { exitStatus: 7, problem: { status: 503 } };
  expect(await run.save()).toMatchObject({ result: 'failed', attempts: retries + 1, error });
  expect(server.requests).toHaveLength(retries + 1);
  expect(await run.names()).toEqual([]);
});

const FINAL = { 401: 4, 404: 5, 416: 6, 501: 7, 204: 9, 206: 9, 304: 9, 599: 7 };

test.each<[exit: number, what: string, bytes: string]>([
  ...Object.entries(FINAL).map(([status, exit]): [number, string, string] => {
    return [exit, status, says(Number(status), { ...AT_ONCE, Connection: 'close' })];
  }),
  [9, 'an empty chunked body', `${head(200, { 'Transfer-Encoding': 'chunked' })}0\r\n\r\n`],
  [9, 'problem details under 200', said('{"title":"x"}', { 'Content-Type': 'application/problem+json' })],
  [9, 'a coding nobody asked for', said('abc', { 'Content-Encoding': 'gzip' })],
  [9, 'brotli', said('abc', { 'Content-Encoding': 'br' })],
])('exit %i after one request: %s', async (exit, _, bytes) => {
  const { server, run } = await against((socket) => void socket.write(bytes));
  expect((await run.save()).error?.exitStatus).toBe(exit);
  expect(server.requests).toHaveLength(1);
  expect(await run.names()).toEqual([]);
});

test.each<[string, string]>([
  ['the coding identity', said('abc', { 'Content-Encoding': 'identity' })],
  ['the coding Identity, twice', said('abc', { 'Content-Encoding': 'Identity, identity' })],
  ['JSON that reads like an error', said('{"title":"Not Found","status":404}', { 'Content-Type': 'application/json' })],
])('a file: %s', async (_, bytes) => {
  const { run } = await against((socket) => void socket.write(bytes));
  expect(await run.save()).toMatchObject({ result: 'downloaded' });
});

describe('a wait that the service asks for', () => {
  test.each([
    ['a year', 31_536_000],
    ['a date', new Date(Date.now() + 3_600_000).toUTCString()],
    ['a number that leads beyond every date', '99999999999999999999'],
  ])('over the cap, %s: stops the run and tells when', async (_, value) => {
    const { server, run } = await against((socket) => void socket.write(says(429, { 'Retry-After': value })), {
      maxRetryAfterMs: 60_000,
    });
    const { error } = await run.save();
    expect(error).toMatchObject({ exitStatus: 7, stopsRun: true, hint: expect.stringContaining('--max-retry-after') });
    expect(error?.retryAt).toBeGreaterThan(Date.now() + 3_000_000);
    expect(server.requests).toHaveLength(1);
  });

  test('holds for every file of the run', async () => {
    const times: number[] = [];
    const { server, run } = await against((socket, request) => {
      times.push(performance.now());
      if (request.index > 0) sendFile(socket, request, FILE, '"v1"');
      else socket.write(says(429, { 'Retry-After': 1 }));
    });
    const first = run.save('a');
    await expect.poll(() => server.requests.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const others = await Promise.all([first, run.save('b'), run.save('c')]);
    expect(others.map(({ result }) => result)).toEqual(['downloaded', 'downloaded', 'downloaded']);
    // Not before the wait was over, whichever came first.
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(950);
  });

  /**
   * A run whose limiter has a clock of its own, against a service that answers when the test says so.
   */
  async function held() {
    const requests: { readonly path: string; readonly socket: Socket; readonly answer: () => void }[] = [];
    const { pass, ...clock } = heldClock();
    let retries = 0;
    const retry = () => {
      retries += 1;
    };
    const { server, run } = await against(
      (socket, request) => {
        requests.push({ path: request.path, socket, answer: () => sendFile(socket, request, FILE, '"v1"') });
      },
      { retries: 2, limiter: new RateLimiter(undefined, clock), retry },
    );
    const arrived = (count: number) => expect.poll(() => requests.length).toBe(count);
    return {
      save: run.save,
      requests,
      arrived,
      /** Refuses a request, and waits until the file waits to be requested again. */
      async refuse(index: number, fields: Fields = {}) {
        const before = retries;
        requests[index]?.socket.write(says(429, { 'Retry-After': 1, ...fields }));
        await expect.poll(() => retries).toBe(before + 1);
        await pass(0);
      },
      /** Lets the pause pass, after which so many requests are there, and no more. */
      async pausePasses(count: number) {
        await pass(999);
        expect(requests).toHaveLength(count - 1);
        await pass(1);
        await arrived(count);
        // A further request would have reached the server before this connection does.
        await listens(server.port);
        expect(requests).toHaveLength(count);
      },
    };
  }
  const results = async (files: readonly Promise<Outcome>[]) => (await Promise.all(files)).map(({ result }) => result);

  test.each([
    ['a refusal', 1],
    ['the refusal of the one that goes alone', 2],
  ])('after %s one request goes alone, and the others follow its answer', async (_, refusals) => {
    const { save, requests, arrived, refuse, pausePasses } = await held();
    const files = [save('refused')];
    await arrived(1);
    await refuse(0);
    files.push(...['a', 'b', 'c'].map((name) => save(name)));
    await pausePasses(2);
    if (refusals === 2) {
      await refuse(1);
      await pausePasses(3);
    }
    requests.at(-1)?.answer();
    await arrived(refusals + 4);
    for (const { answer } of requests.slice(refusals + 1)) answer();
    expect(await results(files)).toEqual(Array(4).fill('downloaded'));
  });

  test('a file that was refused is requested before those that waited longer', async () => {
    const { save, requests, arrived, refuse, pausePasses } = await held();
    const files = ['refused', 'late'].map((name) => save(name));
    await arrived(2);
    await refuse(0);
    files.push(save('new'));
    await refuse(1);
    await pausePasses(3);
    requests[2]?.answer();
    await arrived(5);
    expect(requests.map(({ path }) => /[a-z]+$/.exec(path)?.[0])).toEqual([
      'refused',
      'late',
      'refused',
      'late',
      'new',
    ]);
    for (const { answer } of requests.slice(3)) answer();
    expect(await results(files)).toEqual(Array(3).fill('downloaded'));
  });

  test.each([
    ['is reset holds nobody', 'close'],
    ['was closed as it went out is sent again', 'keep-alive'],
  ])('a request that goes alone and whose connection %s', async (_, connection) => {
    const { save, requests, arrived, refuse, pausePasses } = await held();
    const files = [save('refused')];
    await arrived(1);
    await refuse(0, { Connection: connection });
    files.push(...['a', 'b', 'c'].map((name) => save(name)));
    await pausePasses(2);
    requests[1]?.socket.resetAndDestroy();
    for (let answered = 2; answered < 6; answered += 1) {
      await expect.poll(() => requests.length).toBeGreaterThan(answered);
      requests[answered]?.answer();
    }
    expect(await results(files)).toEqual(Array(4).fill('downloaded'));
  });
});

test('tries are counted anew when one has brought 1 MiB, and each asks for the rest alone', async () => {
  const piece = 1 << 20;
  const file = content(3 * piece + 9);
  const { server, run } = await against(
    (socket, request) => {
      const start = rangeStart(request) ?? 0;
      const fields = { ETag: '"v1"', 'Content-Length': file.length - start, Connection: 'close' };
      const range = { 'Content-Range': `bytes ${start}-${file.length - 1}/${file.length}` };
      const first = Buffer.from(start === 0 ? head(200, fields) : head(206, { ...fields, ...range }));
      sendAndEnd(socket, Buffer.concat([first, file.subarray(start, start + piece)]), 'FIN');
    },
    { retries: 1 },
  );
  expect(await run.save()).toMatchObject({ result: 'resumed', bytes: file.length, attempts: 4 });
  expect(server.requests.map(rangeStart)).toEqual([undefined, 1, 2, 3].map((n) => n && n * piece));
});

test.each(['close', 'keep-alive'])('a length of 0 is an empty file, on a connection to %s', async (connection) => {
  const { run } = await against(
    (socket) => void socket.write(head(200, { 'Content-Length': 0, Connection: connection })),
  );
  expect(await run.save()).toMatchObject({ result: 'downloaded', bytes: 0, verifiedLength: true });
  expect(await run.read()).toHaveLength(0);
  const writer = memoryWriter();
  expect(await run.pipe(writer)).toMatchObject({ result: 'downloaded', bytes: 0 });
  expect(writer.bytes()).toHaveLength(0);
});

test('nothing until the end of the connection is no file, and may be better next time', async () => {
  const { server, run } = await against((socket) => void socket.end(head(200)), { retries: 1 });
  expect((await run.save()).error).toMatchObject({ exitStatus: 9, message: expect.stringMatching(/empty/) });
  expect(server.requests).toHaveLength(2);
  expect(await run.names()).toEqual([]);
});
