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

const emptyResponse = (status: number, fields: Fields = {}) => head(status, { 'Content-Length': 0, ...fields });
const responseWith = (body: string, fields: Fields) => head(200, { 'Content-Length': body.length, ...fields }) + body;

const against = (script: Script, options: RunOptions = {}) => runAgainst(script, { retries: 5, ...options });

test('retries a 503 until the request succeeds', async () => {
  const { server, run } = await against((socket, request) => {
    if (request.index < 5) socket.write(emptyResponse(503, AT_ONCE));
    else sendFile(socket, request, FILE, '"v1"');
  });
  expect(await run.save()).toMatchObject({ result: 'downloaded', attempts: 6 });
  expect(server.requests[0]?.headers).toMatchObject({ 'accept-encoding': 'identity', 'user-agent': 'test' });
});

test('reports the 503 after the last retry', async () => {
  const retries = 3;
  const { server, run } = await against((socket) => void socket.write(emptyResponse(503, AT_ONCE)), { retries });
  const error = { exitStatus: 7, problem: { status: 503 } };
  expect(await run.save()).toMatchObject({ result: 'failed', attempts: retries + 1, error });
  expect(server.requests).toHaveLength(retries + 1);
  expect(await run.names()).toEqual([]);
});

test.each<[exit: number, what: string, bytes: string]>([
  ...Object.entries({ 401: 4, 404: 5, 416: 6, 501: 7, 206: 9 }).map(([status, exit]): [number, string, string] => {
    return [exit, status, emptyResponse(Number(status), { ...AT_ONCE, Connection: 'close' })];
  }),
  [9, 'an empty chunked body', `${head(200, { 'Transfer-Encoding': 'chunked' })}0\r\n\r\n`],
  [9, 'problem details under 200', responseWith('{"title":"x"}', { 'Content-Type': 'application/problem+json' })],
  [9, 'an unrequested coding', responseWith('abc', { 'Content-Encoding': 'gzip' })],
  [9, 'the coding br', responseWith('abc', { 'Content-Encoding': 'br' })],
])('ends with exit status %i after one request: %s', async (exit, _, bytes) => {
  const { server, run } = await against((socket) => void socket.write(bytes));
  expect((await run.save()).error?.exitStatus).toBe(exit);
  expect(server.requests).toHaveLength(1);
  expect(await run.names()).toEqual([]);
});

test.each<[string, string]>([
  ['the coding identity', responseWith('abc', { 'Content-Encoding': 'identity' })],
  ['the coding Identity, twice', responseWith('abc', { 'Content-Encoding': 'Identity, identity' })],
])('saves a response as a file: %s', async (_, bytes) => {
  const { run } = await against((socket) => void socket.write(bytes));
  expect(await run.save()).toMatchObject({ result: 'downloaded' });
});

describe('Retry-After', () => {
  test('over the maximum stops the run and reports the time', async () => {
    const endless: Script = (socket) => void socket.write(emptyResponse(429, { 'Retry-After': '9'.repeat(20) }));
    const { server, run } = await against(endless, { maxRetryAfterMs: 60_000 });
    const { error } = await run.save();
    const hint = expect.stringMatching(/longer than --max-retry-after \(60 s\).* --rate 1\/s/);
    expect(error).toMatchObject({ exitStatus: 7, stopsRun: true, hint });
    expect(error?.retryAt).toBeGreaterThan(Date.now() + 3_000_000);
    expect(server.requests).toHaveLength(1);
  });

  /** Starts a run whose limiter has a clock of its own, against a service that answers when the test says so. */
  async function setUpOnClock() {
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
    const waitForRequests = (count: number) => expect.poll(() => requests.length).toBe(count);
    return {
      save: run.save,
      requests,
      waitForRequests,
      /** Refuses a request and waits until its file waits for the retry. */
      async refuse(index: number, fields: Fields = {}) {
        const before = retries;
        requests[index]?.socket.write(emptyResponse(429, { 'Retry-After': 1, ...fields }));
        await expect.poll(() => retries).toBe(before + 1);
        await pass(0);
      },
      /** Lets the pause pass, and checks that exactly `count` requests have arrived then. */
      async pausePasses(count: number) {
        await pass(999);
        expect(requests).toHaveLength(count - 1);
        await pass(1);
        await waitForRequests(count);
        // A further request would have reached the server before this connection does.
        await listens(server.port);
        expect(requests).toHaveLength(count);
      },
    };
  }
  const results = async (files: readonly Promise<Outcome>[]) => (await Promise.all(files)).map(({ result }) => result);

  test.each([
    ['is reset, the others follow', 'close'],
    ['was closed before, it is sent again', 'keep-alive'],
  ])('if the connection of the request that goes alone %s', async (_, connection) => {
    const { save, requests, waitForRequests, refuse, pausePasses } = await setUpOnClock();
    const files = [save('refused')];
    await waitForRequests(1);
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

test('retries are counted from zero after 1 MiB of progress, and each requests only the rest', async () => {
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

test.each(['close', 'keep-alive'])('a length of 0 is an empty file on a connection to %s', async (connection) => {
  const { run } = await against(
    (socket) => void socket.write(head(200, { 'Content-Length': 0, Connection: connection })),
  );
  expect(await run.save()).toMatchObject({ result: 'downloaded', bytes: 0, verifiedLength: true });
  expect(await run.read()).toHaveLength(0);
  const writer = memoryWriter();
  expect(await run.pipe(writer)).toMatchObject({ result: 'downloaded', bytes: 0 });
  expect(writer.bytes()).toHaveLength(0);
});

test('an empty response without a length is not a file and is retried', async () => {
  const { server, run } = await against((socket) => void socket.end(head(200)), { retries: 1 });
  expect((await run.save()).error).toMatchObject({ exitStatus: 9, message: expect.stringMatching(/empty/) });
  expect(server.requests).toHaveLength(2);
  expect(await run.names()).toEqual([]);
});
