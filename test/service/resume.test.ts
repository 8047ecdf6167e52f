import { describe, expect, test } from 'vitest';
import {
  type Fields,
  type Framing,
  first,
  framed,
  head,
  rangeStart,
  sendAndEnd,
  sendFile,
  whole,
} from '../servers/answers.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { content, type Run, runAgainst, startRun } from './transfer-fixture.ts';

// A transfer never lies: a download resumes the same version of a file or starts again.
const OLD = content(2_400_000);
const NEW = content(2_300_000);
const HALF = 1_700_000;
const V1 = { ETag: '"v1"' };
const MODIFIED = { 'Last-Modified': 'Tue, 01 Apr 2025 10:00:00 GMT' };
const LONG_AGO = { ...MODIFIED, Date: 'Wed, 02 Apr 2025 10:00:00 GMT' };
const JUST_NOW = { ...MODIFIED, Date: 'Tue, 01 Apr 2025 10:00:00 GMT' };

/**
 * Starts a server whose first response is the old file, cut. Returns the run after the one that was cut, whose process
 * has ended.
 */
async function runAfterCut(
  fields: Fields,
  then: Script,
  { cut = HALF, framing = 'length', retries = 0 }: { cut?: number; framing?: Framing; retries?: number } = {},
) {
  const { server, run } = await runAgainst(first(framed(OLD, framing, fields).upTo(cut), then));
  expect((await run.save()).error).toMatchObject({ exitStatus: 9, retryable: true });
  return { server, run: await startRun(server.url, { directory: run.directory, retries }) };
}

const answer = (status: number, fields: Fields, body: Buffer | string = ''): string | Buffer =>
  Buffer.concat([Buffer.from(head(status, { 'Content-Length': body.length, ...fields })), Buffer.from(body)]);
const reply =
  (bytes: string | Buffer): Script =>
  (socket) =>
    void socket.write(bytes);
/** Returns a script that answers a range with `bytes`, and a request without one with the new file. */
const onRange =
  (bytes: string | Buffer): Script =>
  (socket, request) =>
    rangeStart(request) === undefined ? sendFile(socket, request, NEW, '"v2"') : void socket.write(bytes);
const rest = (file: Buffer, from = HALF, to = file.length) => file.subarray(from, to);
const range = (from: number, last: number, total: number | string) => ({
  'Content-Range': `bytes ${from}-${last}/${total}`,
});
const EXACT = range(HALF, OLD.length - 1, OLD.length);

async function expectWhole(run: Run, file: Buffer): Promise<void> {
  expect((await run.read()).equals(file)).toBe(true);
  expect(await run.names()).toEqual(['primary.htm']);
}

describe('a file of the same version is resumed', () => {
  test.each<[string, Fields, string]>([
    ['by its ETag', V1, '"v1"'],
    ['by a strong date', LONG_AGO, MODIFIED['Last-Modified']],
  ])('%s', async (_, fields, validator) => {
    const { server, run } = await runAfterCut(fields, reply(answer(206, { ...fields, ...EXACT }, rest(OLD))));
    expect(await run.names()).toHaveLength(1);
    const outcome = await run.save();
    expect(outcome).toMatchObject({ result: 'resumed', bytes: OLD.length, resumedBytes: HALF, attempts: 1 });
    expect(server.requests.at(-1)?.headers).toMatchObject({ range: `bytes=${HALF}-`, 'if-range': validator });
    await expectWhole(run, OLD);
  });

  test('with a 416 if the part is already complete', async () => {
    const { bytes, headBytes } = framed(OLD, 'chunked', V1);
    const { run } = await runAfterCut(V1, whole(OLD), { cut: bytes.length - headBytes - 5, framing: 'chunked' });
    expect(await run.save()).toMatchObject({ result: 'resumed', bytes: OLD.length, resumedBytes: OLD.length });
    await expectWhole(run, OLD);
  });

  test('if its length was unknown', async () => {
    const { run } = await runAfterCut(V1, whole(OLD), { cut: 1_500_000, framing: 'chunked' });
    const outcome = await run.save();
    expect(outcome).toMatchObject({ result: 'resumed', bytes: OLD.length });
    expect(outcome.resumedBytes).toBeGreaterThan(1_400_000);
    await expectWhole(run, OLD);
  });

  test('by one run after another if each range is cut', async () => {
    const { server, run: second } = await runAfterCut(V1, (socket, request) => {
      const start = rangeStart(request) ?? 0;
      if (start > 2_200_000) return sendFile(socket, request, OLD, '"v1"');
      const fields = { ...V1, ...range(start, OLD.length - 1, OLD.length), 'Content-Length': OLD.length - start };
      sendAndEnd(socket, Buffer.concat([Buffer.from(head(206, fields)), rest(OLD, start, start + 300_000)]), 'FIN');
    });
    const third = await startRun(server.url, { directory: second.directory });
    for (const run of [second, third]) {
      expect((await run.save()).error?.exitStatus).toBe(9);
      expect(await run.names()).toHaveLength(1);
    }
    const run = await startRun(server.url, { directory: second.directory });
    expect(await run.save()).toMatchObject({ result: 'resumed', resumedBytes: 2_300_000 });
    expect(server.requests.map((request) => rangeStart(request))).toEqual([undefined, 1_700_000, 2_000_000, 2_300_000]);
    await expectWhole(run, OLD);
  });
});

test('a part remains after a temporary failure, too', async () => {
  const { run } = await runAfterCut(V1, reply(answer(503, {})));
  expect((await run.save()).error?.exitStatus).toBe(7);
  expect(await run.names()).toHaveLength(1);
});

// resume.ts decides on the use of a response. The table of test/unit/resume.test.ts is longer than this one.
describe('a file that cannot be resumed is downloaded from byte 0', () => {
  test.each<[string, string | Buffer]>([
    ['a 200 of the new version', answer(200, { ETag: '"v2"' }, NEW)],
    [
      'a 206 that starts early',
      answer(206, { ...V1, ...range(HALF - 1, OLD.length - 1, OLD.length) }, rest(OLD, HALF - 1)),
    ],
    ['a 416 without a range', answer(416, {})],
  ])('after %s', async (_, response) => {
    const { run } = await runAfterCut(V1, onRange(response));
    expect(await run.save()).toMatchObject({ result: 'downloaded', resumedBytes: 0, bytes: NEW.length });
    await expectWhole(run, NEW);
  });

  test.each<[string, Fields]>([
    ['no validator', {}],
    ['a weak ETag beside a strong date', { ETag: 'W/"v1"', ...LONG_AGO }],
    ['a date that is not strong', JUST_NOW],
  ])('without a part and a range request if it has %s', async (_, fields) => {
    const { server, run } = await runAfterCut(fields, whole(NEW, '"v2"'));
    expect(await run.names()).toEqual([]);
    expect(await run.save()).toMatchObject({ result: 'downloaded', resumedBytes: 0 });
    expect(server.requests.at(-1)?.headers.range).toBeUndefined();
    await expectWhole(run, NEW);
  });

  test.each([
    ['without a part up to 1 MiB', 1 << 20, 0],
    ['with a part over 1 MiB', (1 << 20) + 1, 1],
  ])('%s', async (_, cut, parts) => {
    const { run } = await runAfterCut(V1, whole(NEW), { cut });
    expect(await run.names()).toHaveLength(parts);
  });
});

// A validator belongs to one resource. After a redirect to another path, the same validator is that of another file.
describe.each([0, 2])('a second redirect, with %i retries', (retries) => {
  const cut = framed(OLD, 'length', V1).bytes.subarray(0, HALF);
  /**
   * Redirects each request to its path and cuts the first file. Returns the outcome of this run or, without retries, of
   * the next one.
   */
  async function downloadTwice(paths: readonly string[]) {
    const server = await scripted((socket, request) => {
      const nth = request.index >> 1;
      if (request.path.startsWith('/v1/')) {
        socket.write(head(302, { Location: `${paths[nth] ?? paths.at(-1)}?sign=${nth}`, 'Content-Length': 0 }));
      } else if (request.index === 1) sendAndEnd(socket, cut, 'FIN');
      else sendFile(socket, request, request.path.startsWith('/old') ? OLD : NEW, '"v1"');
    });
    const run = await startRun(server.url, { retries });
    const outcome = await run.save();
    const next = await startRun(server.url, { directory: run.directory });
    return { run, outcome: retries > 0 ? outcome : await next.save() };
  }

  test('to another path starts the download again', async () => {
    const { run, outcome } = await downloadTwice(['/old', '/new']);
    expect(outcome).toMatchObject({ result: 'downloaded', resumedBytes: 0 });
    await expectWhole(run, NEW);
  });

  test('to the same path with another query resumes the download', async () => {
    const { run, outcome } = await downloadTwice(['/old']);
    expect(outcome.result).toBe('resumed');
    await expectWhole(run, OLD);
  });
});

describe('a response that is not a file', () => {
  test.each<[string, Fields, Buffer, number]>([
    ['a 200 with Content-Range', range(0, HALF - 1, OLD.length), OLD.subarray(0, HALF), 200],
    ['an unrequested 206', range(0, 9, 10), OLD.subarray(0, 10), 206],
  ])('is refused with exit status 9 after one request: %s', async (_, fields, body, status) => {
    const { server, run } = await runAgainst(reply(answer(status, { ...V1, ...fields }, body)), { retries: 2 });
    expect((await run.save()).error?.exitStatus).toBe(9);
    expect([server.requests.length, await run.names()]).toEqual([1, []]);
  });

  const more = Buffer.concat([OLD, Buffer.from('xxxxx')]);
  test.each<[string, string | Buffer, number]>([
    ['of another length under the same strong ETag', answer(200, V1, NEW), 9],
    ['more bytes than the file has', framed(rest(more), 'chunked', { ...V1, ...EXACT }, 206).bytes, 9],
    ['an unrequested coding', answer(206, { ...V1, ...EXACT, 'Content-Encoding': 'gzip' }, rest(OLD)), 9],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 9],
    ['404', answer(404, {}, '{"title":"gone"}'), 5],
    ['401', answer(401, {}), 4],
  ])('to a range request is not retried: %s', async (_, response, exit) => {
    const { server, run } = await runAfterCut(V1, reply(response), { retries: 2 });
    expect((await run.save()).error).toMatchObject({ exitStatus: exit, retryable: false });
    expect([server.requests.length, await run.names()]).toEqual([2, []]);
  });

  // The framing is valid and complete, but the file is known to be longer.
  test.each<[string, Buffer]>([
    ['a 206', framed(rest(OLD, HALF, OLD.length - 9), 'chunked', { ...V1, ...EXACT }, 206).bytes],
    ['a 200 under the same strong ETag', framed(NEW, 'chunked', V1).bytes],
  ])('is not saved if its chunks end too early: %s', async (_, short) => {
    const { run } = await runAfterCut(V1, reply(short));
    expect((await run.save()).error?.exitStatus).toBe(9);
    expect(await run.names()).not.toContain('primary.htm');
  });
});
