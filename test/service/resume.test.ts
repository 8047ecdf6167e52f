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

/**
 * Starts a server whose first response is the old file, cut. Returns the run after the one that was cut, whose process
 * has ended.
 */
async function runAfterCut(
  fields: Fields,
  then: Script,
  { cut = HALF, framing = 'length', retries = -1 }: { cut?: number; framing?: Framing; retries?: number } = {},
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
  test.each`
    by                                                | fields                         | validator
    ${'its ETag'}                                     | ${V1}                          | ${'"v1"'}
    ${'a strong date next to an ETag without quotes'} | ${{ ETag: 'v1', ...LONG_AGO }} | ${MODIFIED['Last-Modified']}
    ${'a strong date'}                                | ${LONG_AGO}                    | ${MODIFIED['Last-Modified']}
  `('by $by', async ({ fields, validator }: { fields: Fields; validator: string }) => {
    const { server, run } = await runAfterCut(fields, reply(answer(206, { ...fields, ...EXACT }, rest(OLD))));
    expect(await run.names()).toHaveLength(1);
    const outcome = await run.save();
    expect(outcome).toMatchObject({ result: 'resumed', bytes: OLD.length, resumedBytes: HALF, attempts: 1 });
    expect(server.requests.at(-1)?.headers).toMatchObject({ range: `bytes=${HALF}-`, 'if-range': validator });
    await expectWhole(run, OLD);
  });

  test('if its length was unknown, with a 416 if the part is already complete', async () => {
    const { bytes, headBytes } = framed(OLD, 'chunked', V1);
    const allButEnd = bytes.length - headBytes - 5;
    for (const cut of [1_500_000, allButEnd]) {
      const { run } = await runAfterCut(V1, whole(OLD), { cut, framing: 'chunked' });
      const outcome = await run.save();
      expect(outcome).toMatchObject({ result: 'resumed', bytes: OLD.length });
      expect(outcome.resumedBytes).toBeGreaterThan(cut === allButEnd ? OLD.length - 1 : 1_400_000);
      await expectWhole(run, OLD);
    }
  });

  test('by one run after another if each range is cut', async () => {
    const { server, run } = await runAfterCut(V1, (socket, request) => {
      const start = rangeStart(request) ?? 0;
      const fields = { ...V1, ...range(start, OLD.length - 1, OLD.length) };
      if (start > 2_200_000) sendFile(socket, request, OLD, '"v1"');
      else socket.end(framed(rest(OLD, start), 'length', fields, 206).upTo(300_000));
    });
    const next = () => startRun(server.url, { directory: run.directory });
    for (const cut of [run, await next()]) expect((await cut.save()).error?.exitStatus).toBe(9);
    expect(await (await next()).save()).toMatchObject({ result: 'resumed', resumedBytes: 2_300_000 });
    expect(server.requests.map((request) => rangeStart(request))).toEqual([undefined, 1_700_000, 2_000_000, 2_300_000]);
    await expectWhole(run, OLD);
  });
});

test('a part remains after a temporary failure, too', async () => {
  const { run } = await runAfterCut(V1, reply(answer(503, {})));
  expect((await run.save()).error?.exitStatus).toBe(7);
  expect(await run.names()).toHaveLength(1);
});

// How a response is used is decided by `decideResume`, whose table is in test/unit/resume.test.ts.
describe('a file that cannot be resumed is downloaded from byte 0', () => {
  test.each`
    what                          | response
    ${'a 200 of the new version'} | ${answer(200, { ETag: '"v2"' }, NEW)}
    ${'a 206 that starts early'}  | ${answer(206, { ...V1, ...range(HALF - 1, OLD.length - 1, OLD.length) }, rest(OLD, HALF - 1))}
    ${'a 416 without a range'}    | ${answer(416, {})}
  `('after $what', async ({ response }: { response: Buffer }) => {
    const { run } = await runAfterCut(V1, onRange(response));
    expect(await run.save()).toMatchObject({ result: 'downloaded', resumedBytes: 0, bytes: NEW.length });
    await expectWhole(run, NEW);
  });

  test('without a part and a range request if its validator is weak', async () => {
    const { server, run } = await runAfterCut({ ETag: 'W/"v1"', ...LONG_AGO }, whole(NEW, '"v2"'));
    expect(await run.names()).toEqual([]);
    expect(await run.save()).toMatchObject({ result: 'downloaded', resumedBytes: 0 });
    expect(server.requests.at(-1)?.headers.range).toBeUndefined();
    await expectWhole(run, NEW);
  });

  test('unless more than 1 MiB of it is there', async () => {
    const partsAfter = async (cut: number) => (await runAfterCut(V1, whole(NEW), { cut })).run.names();
    expect(await partsAfter(1 << 20)).toEqual([]);
    expect(await partsAfter((1 << 20) + 1)).toHaveLength(1);
  });
});

// A validator belongs to one resource. After a redirect to another path, the same validator is that of another file.
test.each`
  retries | paths               | result          | file
  ${-1}   | ${['/old', '/new']} | ${'downloaded'} | ${NEW}
  ${2}    | ${['/old', '/new']} | ${'downloaded'} | ${NEW}
  ${-1}   | ${['/old']}         | ${'resumed'}    | ${OLD}
  ${2}    | ${['/old']}         | ${'resumed'}    | ${OLD}
`('with $retries retries, a file whose requests are redirected to $paths is $result', async (row) => {
  const { retries, paths, result, file }: { retries: number; paths: string[]; result: string; file: Buffer } = row;
  const server = await scripted((socket, request) => {
    const nth = request.index >> 1;
    if (request.path.startsWith('/v1/')) {
      socket.write(head(302, { Location: `${paths[nth] ?? paths.at(-1)}?sign=${nth}`, 'Content-Length': 0 }));
    } else if (request.index === 1) sendAndEnd(socket, framed(OLD, 'length', V1).upTo(HALF), 'FIN');
    else sendFile(socket, request, request.path.startsWith('/old') ? OLD : NEW, '"v1"');
  });
  const run = await startRun(server.url, { retries });
  const outcome = await run.save();
  // Without retries the next run continues.
  const last = retries > 0 ? outcome : await (await startRun(server.url, { directory: run.directory })).save();
  expect(last).toMatchObject({ result, bytes: file.length });
  await expectWhole(run, file);
});

describe('a response that is not a file', () => {
  test.each`
    what                         | response
    ${'a 200 with a range'}      | ${answer(200, { ...V1, ...range(0, HALF - 1, OLD.length) }, OLD.subarray(0, HALF))}
    ${'a 206 without a request'} | ${answer(206, { ...V1, ...range(0, 9, 10) }, OLD.subarray(0, 10))}
  `('is refused with exit status 9 after one request: $what', async ({ response }: { response: Buffer }) => {
    const { server, run } = await runAgainst(reply(response), { retries: 2 });
    expect((await run.save()).error?.exitStatus).toBe(9);
    expect([server.requests.length, await run.names()]).toEqual([1, []]);
  });

  const more = Buffer.concat([OLD, Buffer.from('xxxxx')]);
  test.each`
    what                               | exit | response
    ${'another length, the same ETag'} | ${9} | ${answer(200, V1, NEW)}
    ${'more bytes than the file has'}  | ${9} | ${framed(rest(more), 'chunked', { ...V1, ...EXACT }, 206).bytes}
    ${'an unrequested coding'}         | ${9} | ${answer(206, { ...V1, ...EXACT, 'Content-Encoding': 'gzip' }, rest(OLD))}
    ${'404'}                           | ${5} | ${answer(404, {}, '{"title":"gone"}')}
  `('to a range request is not retried: $what', async ({ exit, response }: { exit: number; response: Buffer }) => {
    const { server, run } = await runAfterCut(V1, reply(response), { retries: 2 });
    expect((await run.save()).error).toMatchObject({ exitStatus: exit, retryable: false });
    expect([server.requests.length, await run.names()]).toEqual([2, []]);
  });

  // The framing is valid and complete, but the file is known to be longer.
  test.each`
    what                           | short
    ${'a 206'}                     | ${framed(rest(OLD, HALF, OLD.length - 9), 'chunked', { ...V1, ...EXACT }, 206).bytes}
    ${'a 200 under the same ETag'} | ${framed(NEW, 'chunked', V1).bytes}
  `('is not saved if its chunks end too early: $what', async ({ short }: { short: Buffer }) => {
    const { run } = await runAfterCut(V1, reply(short));
    expect((await run.save()).error?.exitStatus).toBe(9);
    expect(await run.names()).not.toContain('primary.htm');
  });
});
