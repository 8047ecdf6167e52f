import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ownerOf, partName, recordName } from '../../src/transfer/part/owner.ts';
import { type Fields, framed, head, rangeStart, sendAndEnd, sendFile } from '../servers/answers.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content, mortal, type Run, startRun, temporaryDirectory } from './transfer-fixture.ts';

// Proof 2 of a transfer that never lies: what is resumed is the same file, or it is fetched anew.
const OLD = content(1_400_000);
const NEW = content(1_300_000);
const HELD = 700_000;
const V1 = { ETag: '"v1"' };
const LONG_AGO = { 'Last-Modified': 'Tue, 01 Apr 2025 10:00:00 GMT', Date: 'Wed, 02 Apr 2025 10:00:00 GMT' };
const JUST_NOW = { 'Last-Modified': 'Tue, 01 Apr 2025 10:00:00 GMT', Date: 'Tue, 01 Apr 2025 10:00:00 GMT' };

/** A server whose first answer is the old file, cut; and the run that it breaks off, whose process is dead by now. */
async function brokenOff(first: Fields, then: Script, cut = HELD, framing: 'length' | 'chunked' = 'length') {
  const server = await startScripted((socket, request) => {
    if (request.index > 0) return then(socket, request);
    const { bytes, headBytes } = framed(OLD, framing, first);
    sendAndEnd(socket, bytes.subarray(0, headBytes + cut), 'FIN');
  });
  onTestFinished(() => server.close());
  const process = mortal();
  const run = await startRun(server.url, { pid: process.pid });
  const outcome = await run.save();
  expect(outcome.error).toMatchObject({ exitStatus: 9, retryable: true });
  await process.die();
  return { server, directory: run.directory };
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

async function expectWhole(run: Run, file: Buffer): Promise<void> {
  expect((await readFile(join(run.directory, 'primary.htm'))).equals(file)).toBe(true);
  expect(await run.names()).toEqual(['primary.htm']);
}

const rest = (file: Buffer, from = HELD, to = file.length) => file.subarray(from, to);
const range = (from: number, last: number, total: number | string) => ({
  'Content-Range': `bytes ${from}-${last}/${total}`,
});

describe('the same file: only what is missing is moved', () => {
  test.each<[string, Fields, Fields, string]>([
    ['by its ETag', V1, V1, '"v1"'],
    ['by a date that is strong', LONG_AGO, LONG_AGO, LONG_AGO['Last-Modified']],
  ])('%s', async (_, first, second, validator) => {
    const { server, directory } = await brokenOff(
      first,
      reply(answer(206, { ...second, ...range(HELD, OLD.length - 1, OLD.length) }, rest(OLD))),
    );
    const run = await startRun(server.url, { directory });
    expect(await run.names()).toHaveLength(2);
    const outcome = await run.save();
    expect(outcome).toMatchObject({ result: 'resumed', bytes: OLD.length, resumedBytes: HELD, attempts: 1 });
    expect(server.requests.at(-1)?.headers).toMatchObject({ range: `bytes=${HELD}-`, 'if-range': validator });
    await expectWhole(run, OLD);
  });

  test('all of it was there already: 416 with the same total', async () => {
    const { server, directory } = await brokenOff(
      V1,
      reply(answer(416, { ...V1, 'Content-Range': `bytes */${OLD.length}` })),
      framed(OLD, 'chunked', V1).bytes.length - framed(OLD, 'chunked', V1).headBytes - 5,
      'chunked',
    );
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'resumed', bytes: OLD.length, resumedBytes: OLD.length });
    await expectWhole(run, OLD);
  });

  test('of unknown length: the rest tells it', async () => {
    const { server, directory } = await brokenOff(
      V1,
      (socket, request) => sendFile(socket, request, OLD, '"v1"'),
      500_000,
      'chunked',
    );
    const run = await startRun(server.url, { directory });
    const outcome = await run.save();
    expect(outcome).toMatchObject({ result: 'resumed', bytes: OLD.length });
    expect(outcome.resumedBytes).toBeGreaterThan(400_000);
    await expectWhole(run, OLD);
  });
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
    [
      '206 shorter than its range',
      answer(206, { ...V1, ...range(HELD, OLD.length - 1, OLD.length) }, rest(OLD, HELD, OLD.length - 1)),
    ],
    ['206 in several parts', answer(206, { ...V1, 'Content-Type': 'multipart/byteranges; boundary=b' }, '--b--')],
    ['416 that says nothing', answer(416, {})],
  ])('%s', async (_, second) => {
    const { server, directory } = await brokenOff(V1, onRange(second));
    const run = await startRun(server.url, { directory });
    const outcome = await run.save();
    expect(outcome.error).toBeUndefined();
    expect(outcome).toMatchObject({ result: 'downloaded', resumedBytes: 0, bytes: NEW.length });
    await expectWhole(run, NEW);
  });

  test.each<[string, Fields]>([
    ['no validator', {}],
    ['a weak ETag', { ETag: 'W/"v1"' }],
    ['a weak ETag beside a strong date', { ETag: 'W/"v1"', ...LONG_AGO }],
    ['a date that is not strong', JUST_NOW],
    ['a date without the answer’s own', { 'Last-Modified': LONG_AGO['Last-Modified'] }],
  ])('%s: nothing is kept, no range is asked for', async (_, first) => {
    const { server, directory } = await brokenOff(first, (socket, request) => sendFile(socket, request, NEW, '"v2"'));
    const run = await startRun(server.url, { directory });
    expect(await run.names()).toEqual([]);
    expect(await run.save()).toMatchObject({ result: 'downloaded', resumedBytes: 0 });
    expect(server.requests.at(-1)?.headers.range).toBeUndefined();
    await expectWhole(run, NEW);
  });

  test('a body of under 1 MiB is not worth keeping', async () => {
    const small = OLD.subarray(0, 1 << 20);
    const server = await startScripted((socket) => {
      const { bytes } = framed(small, 'length', V1);
      sendAndEnd(socket, bytes.subarray(0, 900_000), 'FIN');
    });
    const run = await startRun(server.url);
    expect((await run.save()).error).toBeDefined();
    expect(await run.names()).toEqual([]);
    await server.close();
  });
});

// What a 200 says of itself is held against what is known (interface page, "Only a 200 without Content-Range").
describe('a 200 that is not the whole file', () => {
  test('with Content-Range: exit 9, one request, no file', async () => {
    const half = answer(200, { ...V1, ...range(0, HELD - 1, OLD.length) }, OLD.subarray(0, HELD));
    const server = await startScripted(reply(half));
    onTestFinished(() => server.close());
    const run = await startRun(server.url, { retries: 2 });
    expect((await run.save()).error).toMatchObject({
      exitStatus: 9,
      message: expect.stringMatching(/200 with Content-Range/),
    });
    expect(server.requests).toHaveLength(1);
    expect(await run.names()).toEqual([]);
  });

  test.each<[string, string | Buffer]>([
    ['a length', answer(200, V1, NEW)],
    ['chunks', framed(NEW, 'chunked', V1).bytes],
  ])('of another length under the same strong ETag, told by %s: exit 9, no file', async (_, second) => {
    const { server, directory } = await brokenOff(V1, reply(second));
    const run = await startRun(server.url, { directory });
    expect((await run.save()).error?.exitStatus).toBe(9);
    expect(server.requests).toHaveLength(2);
    await expect(readFile(join(directory, 'primary.htm'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

// A validator belongs to one resource: behind a redirect that leads elsewhere the same one is another file's.
describe('a redirect that leads elsewhere the second time', () => {
  const redirected =
    (paths: readonly string[], first: Buffer): Script =>
    (socket, request) => {
      const nth = request.index >> 1;
      if (request.path.startsWith('/v1/')) {
        socket.write(head(302, { Location: `${paths[nth] ?? paths.at(-1)}?sign=${nth}`, 'Content-Length': 0 }));
      } else if (request.index === 1) sendAndEnd(socket, first, 'FIN');
      else sendFile(socket, request, request.path.startsWith('/old') ? OLD : NEW, '"v1"');
    };
  const cut = framed(OLD, 'length', V1).bytes.subarray(0, HELD);

  test.each([0, 2])('joins nothing, with %i retries', async (retries) => {
    const server = await startScripted(redirected(['/old', '/new'], cut));
    onTestFinished(() => server.close());
    const first = mortal();
    const run = await startRun(server.url, { retries, pid: first.pid });
    await run.save();
    await first.die();
    const again = await startRun(server.url, { directory: run.directory });
    expect((await again.save()).error).toBeUndefined();
    await expectWhole(again, NEW);
  });

  test.each([0, 2])('to the same address with another query it is resumed, with %i retries', async (retries) => {
    const server = await startScripted(redirected(['/old'], cut));
    onTestFinished(() => server.close());
    const first = mortal();
    const run = await startRun(server.url, { retries, pid: first.pid });
    const { result } = await run.save();
    await first.die();
    const again =
      retries > 0 ? result : (await (await startRun(server.url, { directory: run.directory })).save()).result;
    expect(again).toBe('resumed');
    await expectWhole(run, OLD);
  });
});

describe('a range that goes wrong again', () => {
  test('is gone on with by the next run, and the next', async () => {
    const { server, directory } = await brokenOff(V1, (socket, request) => {
      const start = rangeStart(request) ?? 0;
      if (start > 1_200_000) return sendFile(socket, request, OLD, '"v1"');
      const fields = { ...V1, ...range(start, OLD.length - 1, OLD.length), 'Content-Length': OLD.length - start };
      const bytes = Buffer.concat([Buffer.from(head(206, fields)), OLD.subarray(start, start + 300_000)]);
      sendAndEnd(socket, bytes, 'FIN');
    });
    for (let round = 0; round < 2; round += 1) {
      const process = mortal();
      const run = await startRun(server.url, { directory, pid: process.pid });
      expect((await run.save()).error?.exitStatus).toBe(9);
      await process.die();
      expect(await run.names()).toHaveLength(2);
    }
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'resumed', resumedBytes: 1_300_000 });
    expect(server.requests.map((request) => rangeStart(request))).toEqual([undefined, 700_000, 1_000_000, 1_300_000]);
    await expectWhole(run, OLD);
  });

  test.each<[string, Script]>([
    // Its framing is sound and says "the end", but its range promised more.
    [
      'a chunked 206 that is too short',
      (socket) =>
        void socket.write(
          framed(rest(OLD, HELD, OLD.length - 9), 'chunked', { ...V1, ...range(HELD, OLD.length - 1, OLD.length) }, 206)
            .bytes,
        ),
    ],
  ])('%s: no file', async (_, then) => {
    const { server, directory } = await brokenOff(V1, then);
    const run = await startRun(server.url, { directory });
    expect((await run.save()).error?.exitStatus).toBe(9);
    expect(await run.names()).not.toContain('primary.htm');
  });

  test.each<[string, string | Buffer, number]>([
    [
      'a coding that nobody asked for',
      answer(206, { ...V1, ...range(HELD, OLD.length - 1, OLD.length), 'Content-Encoding': 'gzip' }, rest(OLD)),
      9,
    ],
    ['404', answer(404, {}, '{"title":"gone"}'), 5],
    ['401', answer(401, {}), 4],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 9],
  ])('%s ends it', async (_, second, exit) => {
    const { server, directory } = await brokenOff(V1, reply(second));
    const run = await startRun(server.url, { directory });
    expect((await run.save()).error?.exitStatus).toBe(exit);
    expect(await run.names()).not.toContain('primary.htm');
  });

  test('more bytes than the file has are not written, and the part is of no use', async () => {
    const fields = { ...V1, ...range(HELD, OLD.length - 1, OLD.length), 'Transfer-Encoding': 'chunked' };
    const body = Buffer.concat([rest(OLD), Buffer.from('xxxxx')]);
    const chunked = Buffer.concat([
      Buffer.from(`${head(206, fields)}${body.length.toString(16)}\r\n`),
      body,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    const { server, directory } = await brokenOff(V1, reply(chunked));
    const run = await startRun(server.url, { directory, retries: 3 });
    expect((await run.save()).error).toMatchObject({ exitStatus: 9, retryable: false });
    expect(server.requests).toHaveLength(2);
    expect(await run.names()).toEqual([]);
  });

  test('206 unasked is not a file', async () => {
    const server = await startScripted(reply(answer(206, { ...V1, ...range(0, 9, 10) }, '0123456789')));
    const run = await startRun(server.url);
    expect((await run.save()).error?.exitStatus).toBe(9);
    expect(await run.names()).toEqual([]);
    await server.close();
  });
});

describe('whose part it is', () => {
  const later: Script = (socket, request) => sendFile(socket, request, OLD, '"v1"');

  test('another service’s, filing’s or file’s part is not this file’s', async () => {
    for (const [mine, other] of [
      ['http://127', 'http://128'],
      ['-000001', '-000009'],
      ['primary', 'secondary'],
    ] as const) {
      const { server, directory } = await brokenOff(V1, later);
      const names = await (await startRun(server.url, { directory })).names();
      const record = join(directory, names.find((name) => name.endsWith('.resume')) ?? '');
      const { request, ...others } = JSON.parse(await readFile(record, 'utf8'));
      expect(request).toContain(mine);
      await writeFile(record, `${JSON.stringify({ v: 1, request: request.replace(mine, other), ...others })}\n`);
      const run = await startRun(server.url, { directory });
      expect(await run.save()).toMatchObject({ result: 'downloaded', resumedBytes: 0 });
      await expectWhole(run, OLD);
    }
  });

  test('hopeless ones of dead processes are swept, whatever they are', async () => {
    const server = await startScripted(later);
    const directory = await temporaryDirectory();
    const process = mortal();
    const owner = ownerOf(process.pid, 'test', globalThis.process.platform);
    await process.die();
    const part = (id: string) => join(directory, partName('primary.htm', owner, `0000000${id}`));
    const record = (id: string) => join(directory, recordName('primary.htm', `0000000${id}`));
    await writeFile(part('1'), 'no record');
    await writeFile(part('3'), '');
    await writeFile(record('3'), '{}');
    const precious = join(await temporaryDirectory(), 'precious');
    await writeFile(precious, 'precious');
    await symlink(precious, part('4'));
    await writeFile(record('4'), '{}');
    await writeFile(join(directory, partName('primary.htm', owner, '00000005', 'lock')), '');
    await writeFile(join(directory, '.primary.htm.part'), 'of somebody else');
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'downloaded' });
    expect((await run.names()).sort()).toEqual(['.primary.htm.part', 'primary.htm']);
    expect(await readFile(precious, 'utf8')).toBe('precious');
    await server.close();
  });

  test('a skip sweeps them too', async () => {
    const { server, directory } = await brokenOff(V1, later);
    await writeFile(join(directory, 'primary.htm'), 'here already');
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'skipped' });
    expect(await run.names()).toEqual(['primary.htm']);
  });

  test('of several, the largest is gone on with and the others are swept', async () => {
    const { server, directory } = await brokenOff(V1, later);
    const resume = (await (await startRun(server.url, { directory })).names()).find((name) => name.endsWith('.resume'));
    const process = mortal();
    const owner = ownerOf(process.pid, 'test', globalThis.process.platform);
    await process.die();
    await writeFile(join(directory, partName('primary.htm', owner, '7zzzzzzz')), OLD.subarray(0, HELD + 1000));
    const record = await readFile(join(directory, resume ?? ''));
    await writeFile(join(directory, recordName('primary.htm', '7zzzzzzz')), record);
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'resumed', resumedBytes: HELD + 1000 });
    await expectWhole(run, OLD);
  });

  test('two runs at once: one goes on with it, the other begins anew, both are right', async () => {
    // The first is answered when the second has asked, too: both are in the middle of it.
    let bothAsked = () => {};
    const both = new Promise<void>((resolve) => {
      bothAsked = resolve;
    });
    const { server, directory } = await brokenOff(V1, async (socket, request) => {
      if (request.index === 2) bothAsked();
      await both;
      await later(socket, request);
    });
    const first = (await startRun(server.url, { directory, ifExists: 'overwrite' })).save();
    while (server.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    const run = await startRun(server.url, { directory, ifExists: 'overwrite', pid: mortal().pid });
    const outcomes = await Promise.all([first, run.save()]);
    expect(outcomes.map(({ error }) => error)).toEqual([undefined, undefined]);
    expect(outcomes.map(({ result }) => result)).toEqual(['resumed', 'downloaded']);
    await expectWhole(run, OLD);
  });

  test('two runs that reach for it at once: one of them gets it at most, both are right', async () => {
    const { server, directory } = await brokenOff(V1, later);
    const runs = await Promise.all([
      startRun(server.url, { directory, ifExists: 'overwrite' }),
      startRun(server.url, { directory, ifExists: 'overwrite', pid: mortal().pid }),
    ]);
    const outcomes = await Promise.all(runs.map((run) => run.save()));
    expect(outcomes.map(({ error }) => error)).toEqual([undefined, undefined]);
    expect(outcomes.filter(({ result }) => result === 'resumed').length).toBeLessThan(2);
    await expectWhole(runs[0] as Run, OLD);
  });
});
