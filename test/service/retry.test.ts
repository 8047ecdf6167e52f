import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Fields, framed, head, rangeStart, sendAndEnd, sendFile } from '../servers/answers.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content, memoryWriter, type RunOptions, startRun } from './transfer-fixture.ts';

const FILE = content(5000);
const AT_ONCE = { 'Retry-After': 0 };

const says = (status: number, fields: Fields = {}) => head(status, { 'Content-Length': 0, ...fields });

async function against(script: Script, options: RunOptions = {}) {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return { server, run: await startRun(server.url, { retries: 5, ...options }) };
}

describe('an answer that may be better next time', () => {
  test.each([408, 425, 429, 500, 502, 503, 504])('%i is asked again until it is', async (status) => {
    const { server, run } = await against((socket, request) => {
      if (request.index < 5) socket.write(says(status, AT_ONCE));
      else sendFile(socket, request, FILE, '"v1"');
    });
    expect(await run.save()).toMatchObject({ result: 'downloaded', attempts: 6 });
    expect(server.requests).toHaveLength(6);
  });

  test('is asked as often as allowed, and then tells itself', async () => {
    const { server, run } = await against((socket) => void socket.write(says(503, AT_ONCE)), { retries: 3 });
    const outcome = await run.save();
    expect(outcome).toMatchObject({
      result: 'failed',
      attempts: 4,
      error: { exitStatus: 7, problem: { status: 503 } },
    });
    expect(server.requests).toHaveLength(4);
    expect(await run.names()).toEqual([]);
  });

  test('is not asked again without retries', async () => {
    const { server, run } = await against((socket) => void socket.write(says(503, AT_ONCE)), { retries: 0 });
    expect((await run.save()).error?.exitStatus).toBe(7);
    expect(server.requests).toHaveLength(1);
  });
});

test.each<[number, number]>([
  [401, 4],
  [404, 5],
  [416, 6],
  [501, 7],
  [204, 9],
  [206, 9],
  [304, 9],
  [599, 7],
])('%i is final: exit %i after one request', async (status, exit) => {
  const { server, run } = await against(
    (socket) => void socket.write(says(status, { ...AT_ONCE, Connection: 'close' })),
  );
  expect((await run.save()).error?.exitStatus).toBe(exit);
  expect(server.requests).toHaveLength(1);
});

describe('a wait asked for that is over the cap', () => {
  const soon = new Date(Date.now() + 3_600_000).toUTCString();
  test.each([
    ['a year', 31_536_000],
    ['a date', soon],
    ['a number that leads beyond every date', '99999999999999999999'],
  ])('%s: stops the run and tells when', async (_, value) => {
    const { server, run } = await against((socket) => void socket.write(says(429, { 'Retry-After': value })), {
      maxRetryAfterMs: 60_000,
    });
    const { error } = await run.save();
    expect(error).toMatchObject({ exitStatus: 7, stopsRun: true, hint: expect.stringContaining('--max-retry-after') });
    expect(error?.retryAt).toBeGreaterThan(Date.now() + 3_000_000);
    expect(server.requests).toHaveLength(1);
  });

  test.each(['-1', 'soon', ''])('%j is as absent', async (value) => {
    const { run } = await against((socket) => void socket.write(says(429, { 'Retry-After': value })), { retries: 0 });
    expect((await run.save()).error?.retryAt).toBeUndefined();
  });
});

test('tries are counted anew when one has brought 1 MiB', async () => {
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

describe('a success that is no file', () => {
  test.each<[string, string]>([
    ['an empty chunked body', `${head(200, { 'Transfer-Encoding': 'chunked' })}0\r\n\r\n`],
    [
      'problem details under 200',
      `${head(200, { 'Content-Type': 'application/problem+json', 'Content-Length': 13 })}{"title":"x"}`,
    ],
    ['a coding nobody asked for', `${head(200, { 'Content-Encoding': 'gzip', 'Content-Length': 3 })}abc`],
    ['brotli', `${head(200, { 'Content-Encoding': 'br', 'Content-Length': 3 })}abc`],
  ])('%s: exit 9 after one request', async (_, bytes) => {
    const { server, run } = await against((socket) => void socket.write(bytes));
    expect((await run.save()).error?.exitStatus).toBe(9);
    expect(server.requests).toHaveLength(1);
    expect(await run.names()).toEqual([]);
  });

  test.each(['identity', 'Identity', 'identity, identity'])('the coding %s is none', async (coding) => {
    const { run } = await against((socket) => {
      socket.write(`${head(200, { 'Content-Encoding': coding, 'Content-Length': 3 })}abc`);
    });
    expect(await run.save()).toMatchObject({ result: 'downloaded', bytes: 3 });
  });
});

test.each(['close', 'keep-alive'])('a length of 0 is an empty file, on a connection to %s', async (connection) => {
  const { run } = await against(
    (socket) => void socket.write(head(200, { 'Content-Length': 0, Connection: connection })),
  );
  expect(await run.save()).toMatchObject({ result: 'downloaded', bytes: 0, verifiedLength: true });
  expect((await readFile(join(run.directory, 'primary.htm'))).length).toBe(0);
  expect(await run.names()).toEqual(['primary.htm']);
  const writer = memoryWriter();
  expect(await run.pipe(writer)).toMatchObject({ result: 'downloaded', bytes: 0 });
  expect(writer.bytes().length).toBe(0);
});

test('nothing until the end of the connection is no file, and may be better next time', async () => {
  const { server, run } = await against((socket) => void socket.end(head(200)), { retries: 1 });
  expect((await run.save()).error).toMatchObject({ exitStatus: 9, message: expect.stringMatching(/empty/) });
  expect(server.requests).toHaveLength(2);
  expect(await run.names()).toEqual([]);
});

test('whatever the content type says, the status decides', async () => {
  const { run } = await against((socket) => {
    const body = '{"title":"Not Found","status":404}';
    socket.write(`${head(200, { 'Content-Type': 'application/json', 'Content-Length': body.length })}${body}`);
  });
  expect(await run.save()).toMatchObject({ result: 'downloaded' });
});

test('identity is asked for, with a name of our own', async () => {
  const { server, run } = await against((socket, request) => sendFile(socket, request, FILE, '"v1"'));
  await run.save();
  expect(server.requests[0]?.headers).toMatchObject({ 'accept-encoding': 'identity', 'user-agent': 'test' });
});

test('a broken body is asked for again, with its rest', async () => {
  const { server, run } = await against((socket, request) => {
    if (request.index > 0) return sendFile(socket, request, FILE, '"v1"');
    const { bytes } = framed(FILE, 'length', { ETag: '"v1"' });
    sendAndEnd(socket, bytes.subarray(0, bytes.length - 1000), 'FIN');
  });
  // What came before the break is not asked for again.
  expect(await run.save()).toMatchObject({ result: 'resumed', attempts: 2, resumedBytes: 4000 });
  expect(server.requests[1]?.headers.range).toBe('bytes=4000-');
});

test('a wait that the service asks for holds for every file of the run', async () => {
  const times: number[] = [];
  let askedAt = 0;
  const { run } = await against(async (socket, request) => {
    times.push(performance.now());
    if (request.index > 0) return sendFile(socket, request, FILE, '"v1"');
    askedAt = performance.now();
    socket.write(says(429, { 'Retry-After': 1 }));
  });
  const first = run.save('a');
  while (askedAt === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 200));
  const others = await Promise.all([first, run.save('b'), run.save('c')]);
  expect(others.map(({ result }) => result)).toEqual(['downloaded', 'downloaded', 'downloaded']);
  // Not before the wait was over, whichever came first.
  expect(Math.min(...times.slice(1)) - askedAt).toBeGreaterThan(950);
});
