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

// Proof 2 of a transfer that never lies: what is resumed is the same file, or it is fetched anew.
const OLD = content(1_400_000);
const NEW = content(1_300_000);
const HELD = 700_000;
const V1 = { ETag: '"v1"' };
const MODIFIED = { 'Last-Modified': 'Tue, 01 Apr 2025 10:00:00 GMT' };
const LONG_AGO = { ...MODIFIED, Date: 'Wed, 02 Apr 2025 10:00:00 GMT' };
const JUST_NOW = { ...MODIFIED, Date: 'Tue, 01 Apr 2025 10:00:00 GMT' };

/** A server whose first answer is the old file, cut; and the run behind the one that it broke off, whose process is dead by now. */
async function brokenOff(
  fields: Fields,
  then: Script,
  { cut = HELD, framing = 'length', retries = 0 }: { cut?: number; framing?: Framing; retries?: number } = {},
) {
  const { server, run } = await runAgainst(first(framed(OLD, framing, fields).upTo(cut), then));
  expect((await run.save()).error).toMatchObject({ exitStatus: 9, retryable: true });
  run.die();
  return { server, run: await startRun(server.url, { directory: run.directory, retries }) };
}

const answer = (status: number, fields: Fields, body: Buffer | string = ''): string | Buffer =>
  Buffer.concat([Buffer.from(head(status, { 'Content-Length': body.length, ...fields })), Buffer.from(body)]);
const reply =
  (bytes: string | Buffer): Script =>
  (socket) =>
    void socket.write(bytes);
/** Answers the range with something, and the whole with the new file. */
const onRange =
  (bytes: string | Buffer): Script =>
  (socket, request) =>
    rangeStart(request) === undefined ? sendFile(socket, request, NEW, '"v2"') : void socket.write(bytes);
const rest = (file: Buffer, from = HELD, to = file.length) => file.subarray(from, to);
const range = (from: number, last: number, total: number | string) => ({
  'Content-Range': `bytes ${from}-${last}/${total}`,
});
const EXACT = range(HELD, OLD.length - 1, OLD.length);

async function expectWhole(run: Run, file: Buffer): Promise<void> {
  expect((await run.read()).equals(file)).toBe(true);
  expect(await run.names()).toEqual(['primary.htm']);
}

describe('the same file: only what is missing is asked for', () => {
  test.each<[string, Fields, string]>([
    ['by its ETag', V1, '"v1"'],
    ['by a date that is strong', LONG_AGO, MODIFIED['Last-Modified']],
  ])('%s', async (_, fields, validator) => {
    const { server, run } = await brokenOff(fields, reply(answer(206, { ...fields, ...EXACT }, rest(OLD))));
    expect(await run.names()).toHaveLength(2);
    const outcome = await run.save();
    expect(outcome).toMatchObject({ result: 'resumed', bytes: OLD.length, resumedBytes: HELD, attempts: 1 });
    expect(server.requests.at(-1)?.headers).toMatchObject({ range: `bytes=${HELD}-`, 'if-range': validator });
    await expectWhole(run, OLD);
  });

  test('all of it was there already: 416 with the same total', async () => {
    const { bytes, headBytes } = framed(OLD, 'chunked', V1);
    const { run } = await brokenOff(V1, whole(OLD), { cut: bytes.length - headBytes - 5, framing: 'chunked' });
    expect(await run.save()).toMatchObject({ result: 'resumed', bytes: OLD.length, resumedBytes: OLD.length });
    await expectWhole(run, OLD);
  });

  test('of unknown length: the rest tells it', async () => {
    const { run } = await brokenOff(V1, whole(OLD), { cut: 500_000, framing: 'chunked' });
    const outcome = await run.save();
    expect(outcome).toMatchObject({ result: 'resumed', bytes: OLD.length });
    expect(outcome.resumedBytes).toBeGreaterThan(400_000);
    await expectWhole(run, OLD);
  });

  test('a range that breaks off is resumed by the next run, and the next', async () => {
    const { server, run: second } = await brokenOff(V1, (socket, request) => {
      const start = rangeStart(request) ?? 0;
      if (start > 1_200_000) return sendFile(socket, request, OLD, '"v1"');
      const fields = { ...V1, ...range(start, OLD.length - 1, OLD.length), 'Content-Length': OLD.length - start };
      sendAndEnd(socket, Buffer.concat([Buffer.from(head(206, fields)), rest(OLD, start, start + 300_000)]), 'FIN');
    });
    const third = await startRun(server.url, { directory: second.directory });
    for (const run of [second, third]) {
      expect((await run.save()).error?.exitStatus).toBe(9);
      run.die();
      expect(await run.names()).toHaveLength(2);
    }
    const run = await startRun(server.url, { directory: second.directory });
    expect(await run.save()).toMatchObject({ result: 'resumed', resumedBytes: 1_300_000 });
    expect(server.requests.map((request) => rangeStart(request))).toEqual([undefined, 700_000, 1_000_000, 1_300_000]);
    await expectWhole(run, OLD);
  });
});

test('a part stays after a temporary failure, too', async () => {
  const { run } = await brokenOff(V1, reply(answer(503, {})));
  expect((await run.save()).error?.exitStatus).toBe(7);
  expect(await run.names()).toHaveLength(2);
});

// Which answer is of which use is decided in resume.ts, whose own table is longer.
describe('anything else: from byte 0, and never a mixture', () => {
  test.each<[string, string | Buffer]>([
    ['changed, whole answer', answer(200, { ETag: '"v2"' }, NEW)],
    ['206 of the changed file', answer(206, { ETag: '"v2"', ...range(HELD, NEW.length - 1, NEW.length) }, rest(NEW))],
    [
      '206 that starts early',
      answer(206, { ...V1, ...range(HELD - 1, OLD.length - 1, OLD.length) }, rest(OLD, HELD - 1)),
    ],
    ['206 shorter than its range', answer(206, { ...V1, ...EXACT }, rest(OLD, HELD, OLD.length - 1))],
    ['206 in several parts', answer(206, { ...V1, 'Content-Type': 'multipart/byteranges; boundary=b' }, '--b--')],
    ['416 that says nothing', answer(416, {})],
  ])('%s', async (_, second) => {
    const { run } = await brokenOff(V1, onRange(second));
    expect(await run.save()).toMatchObject({ result: 'downloaded', resumedBytes: 0, bytes: NEW.length });
    await expectWhole(run, NEW);
  });

  test.each<[string, Fields]>([
    ['no validator', {}],
    ['a weak ETag beside a strong date', { ETag: 'W/"v1"', ...LONG_AGO }],
    ['a date that is not strong', JUST_NOW],
  ])('%s: nothing is left, no range is asked for', async (_, fields) => {
    const { server, run } = await brokenOff(fields, whole(NEW, '"v2"'));
    expect(await run.names()).toEqual([]);
    expect(await run.save()).toMatchObject({ result: 'downloaded', resumedBytes: 0 });
    expect(server.requests.at(-1)?.headers.range).toBeUndefined();
    await expectWhole(run, NEW);
  });

  test('of a body of up to 1 MiB nothing is left', async () => {
    const { run } = await runAgainst(first(framed(OLD.subarray(0, 1 << 20), 'length', V1).upTo(900_000), whole(NEW)));
    expect((await run.save()).error).toBeDefined();
    expect(await run.names()).toEqual([]);
  });
});

// A validator belongs to one resource: behind a redirect that leads elsewhere the same one is another file's.
describe.each([0, 2])('a redirect that leads elsewhere the second time, with %i retries', (retries) => {
  const cut = framed(OLD, 'length', V1).bytes.subarray(0, HELD);
  /** Where each request is sent on to; the first file breaks off. Gives how it ends, in this run or by the next. */
  async function ends(paths: readonly string[]) {
    const server = await scripted((socket, request) => {
      const nth = request.index >> 1;
      if (request.path.startsWith('/v1/')) {
        socket.write(head(302, { Location: `${paths[nth] ?? paths.at(-1)}?sign=${nth}`, 'Content-Length': 0 }));
      } else if (request.index === 1) sendAndEnd(socket, cut, 'FIN');
      else sendFile(socket, request, request.path.startsWith('/old') ? OLD : NEW, '"v1"');
    });
    const run = await startRun(server.url, { retries });
    const outcome = await run.save();
    run.die();
    const next = await startRun(server.url, { directory: run.directory });
    return { run, outcome: retries > 0 ? outcome : await next.save() };
  }

  test('joins nothing', async () => {
    const { run, outcome } = await ends(['/old', '/new']);
    expect(outcome).toMatchObject({ result: 'downloaded', resumedBytes: 0 });
    await expectWhole(run, NEW);
  });

  test('but for its query: it is resumed', async () => {
    const { run, outcome } = await ends(['/old']);
    expect(outcome.result).toBe('resumed');
    await expectWhole(run, OLD);
  });
});

describe('an answer that is no file', () => {
  test.each<[string, Fields, Buffer, number]>([
    ['200 with Content-Range', range(0, HELD - 1, OLD.length), OLD.subarray(0, HELD), 200],
    ['206 unasked', range(0, 9, 10), OLD.subarray(0, 10), 206],
  ])('%s: exit 9, one request', async (_, fields, body, status) => {
    const { server, run } = await runAgainst(reply(answer(status, { ...V1, ...fields }, body)), { retries: 2 });
    expect((await run.save()).error?.exitStatus).toBe(9);
    expect([server.requests.length, await run.names()]).toEqual([1, []]);
  });

  const more = Buffer.concat([OLD, Buffer.from('xxxxx')]);
  test.each<[string, string | Buffer, number]>([
    ['of another length under the same strong ETag', answer(200, V1, NEW), 9],
    ['more bytes than the file has', framed(rest(more), 'chunked', { ...V1, ...EXACT }, 206).bytes, 9],
    ['a coding that nobody asked for', answer(206, { ...V1, ...EXACT, 'Content-Encoding': 'gzip' }, rest(OLD)), 9],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 9],
    ['404', answer(404, {}, '{"title":"gone"}'), 5],
    ['401', answer(401, {}), 4],
  ])('%s, to a range: it is not tried again', async (_, second, exit) => {
    const { server, run } = await brokenOff(V1, reply(second), { retries: 2 });
    expect((await run.save()).error).toMatchObject({ exitStatus: exit, retryable: false });
    expect([server.requests.length, await run.names()]).toEqual([2, []]);
  });

  // Their framing is sound and says "the end"; by what is known of the file there is more.
  test.each<[string, Buffer]>([
    ['a 206', framed(rest(OLD, HELD, OLD.length - 9), 'chunked', { ...V1, ...EXACT }, 206).bytes],
    ['a 200 under the same strong ETag', framed(NEW, 'chunked', V1).bytes],
  ])('%s in chunks that is too short: no file', async (_, short) => {
    const { run } = await brokenOff(V1, reply(short));
    expect((await run.save()).error?.exitStatus).toBe(9);
    expect(await run.names()).not.toContain('primary.htm');
  });
});
