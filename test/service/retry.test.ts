import type { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { RateLimiter } from '../../src/http/rate-limiter.ts';
import { heldClock } from '../held-clock.ts';
import { type Fields, framed, head, rangeStart, sendAndEnd, sendFile, whole } from '../servers/answers.ts';
import { listens, type Script } from '../servers/scripted.ts';
import { content, memoryWriter, type RunOptions, runAgainst } from './transfer-fixture.ts';

const FILE = content(5000);

const emptyResponse = (status: number, fields: Fields = {}) => head(status, { 'Content-Length': 0, ...fields });

const against = (script: Script, options: RunOptions = {}) => runAgainst(script, { retries: 5, ...options });

test('a request that goes alone after each Retry-After is sent again if its connection was closed before', async () => {
  const { pass, ...clock } = heldClock();
  const requests: { readonly socket: Socket; readonly answer: () => void }[] = [];
  const retry = vi.fn();
  const script: Script = (socket, request) =>
    void requests.push({ socket, answer: () => sendFile(socket, request, FILE, '"v1"') });
  const { server, run } = await against(script, { limiter: new RateLimiter(undefined, clock), retry });
  const files = [run.save('refused')];
  await expect.poll(() => requests.length).toBe(1);
  requests[0]?.socket.write(emptyResponse(429, { 'Retry-After': 1 }));
  await expect.poll(() => retry.mock.calls.length).toBe(1);
  await pass(0);
  files.push(...['a', 'b', 'c'].map((name) => run.save(name)));
  await pass(999);
  expect(requests).toHaveLength(1);
  await pass(1);
  await expect.poll(() => requests.length).toBe(2);
  requests[1]?.socket.write(emptyResponse(429, { 'Retry-After': 1 }));
  await expect.poll(() => retry.mock.calls.length).toBe(2);
  // A further request would have reached the server before this connection does.
  await listens(server.port);
  expect(requests).toHaveLength(2);
  await pass(1000);
  await expect.poll(() => requests.length).toBe(3);
  await listens(server.port);
  expect(requests).toHaveLength(3);
  requests[2]?.socket.resetAndDestroy();
  for (let answered = 3; answered < 7; answered += 1) {
    await expect.poll(() => requests.length).toBeGreaterThan(answered);
    requests[answered]?.answer();
  }
  expect((await Promise.all(files)).map(({ result }) => result)).toEqual(Array(4).fill('downloaded'));
  expect(run.meter.requests).toBe(requests.length);
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

test('a service without ranges that cuts a file after 2 MiB and after 9 bytes in turn makes no progress', async () => {
  const file = content(3 << 20);
  const { server, run } = await against((socket, { index }) => {
    if (index > 9) socket.destroy();
    else socket.end(framed(file, 'length').upTo(index % 2 === 0 ? 2 << 20 : 9));
  });
  expect((await run.save()).error).toMatchObject({ exitStatus: 9 });
  expect(server.requests).toHaveLength(6);
});

test('a file that was refused goes before others that wait since the pause', async () => {
  const { pass, ...clock } = heldClock();
  const sockets: Socket[] = [];
  const retry = vi.fn();
  const { server, run } = await against((socket) => void sockets.push(socket), {
    limiter: new RateLimiter(undefined, clock),
    retry,
  });
  const files = ['first', 'second'].map((name) => run.save(name));
  await expect.poll(() => sockets.length).toBe(2);
  const refuse = async (index: number) => {
    sockets[index]?.write(emptyResponse(429, { 'Retry-After': 1 }));
    await expect.poll(() => retry.mock.calls.length).toBe(index + 1);
    await pass(0);
  };
  await refuse(0);
  files.push(run.save('other'));
  await refuse(1);
  await pass(1000);
  for (let answered = 2; answered < 5; answered += 1) {
    await expect.poll(() => sockets.length).toBeGreaterThan(answered);
    sockets[answered]?.write(emptyResponse(200));
    await pass(0);
  }
  await Promise.all(files);
  const names = server.requests.map(({ path }) => path.replace(/.*=/, ''));
  expect(names).toEqual(['first', 'second', 'first', 'second', 'other']);
});

test('a slow pipe gets a file in small pieces', async () => {
  const { run } = await against(whole(content(8 << 20)));
  let pieces = 0;
  const write = async () => {
    pieces += 1;
    await new Promise((resolve) => setImmediate(resolve));
  };
  expect(await run.pipe({ write, async end() {} })).toMatchObject({ result: 'downloaded' });
  // Most have 64 KiB. The first ones are larger, because it is not known yet what gets them.
  expect(pieces).toBeGreaterThan(50);
});

test.each`
  what                      | fields                                | body
  ${'a length of 0'}        | ${{ 'Content-Length': 0 }}            | ${''}
  ${'the last chunk alone'} | ${{ 'Transfer-Encoding': 'chunked' }} | ${'0\r\n\r\n'}
`('$what is an empty file, on disk and in a pipe, on every connection', async ({ fields, body }) => {
  for (const connection of ['close', 'keep-alive']) {
    const response = head(200, { Connection: connection, ...fields }) + body;
    const { run } = await against((socket) => void socket.write(response));
    expect(await run.save()).toMatchObject({ result: 'downloaded', bytes: 0, verifiedLength: true });
    expect(await run.read()).toHaveLength(0);
    const writer = memoryWriter();
    expect(await run.pipe(writer)).toMatchObject({ result: 'downloaded', bytes: 0 });
    expect(writer.bytes()).toHaveLength(0);
  }
});
