import { chown, link, lstat, mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { workingPartName } from '../../src/disk/part-name.ts';
import { FilingsError } from '../../src/errors.ts';
import { makeFooter } from '../../src/transfer/footer.ts';
import { first, framed, head, rangeStart, sendFile, whole } from '../servers/answers.ts';
import { type SeenRequest, scripted } from '../servers/scripted.ts';
import { ACCESSION, content, type RunOptions, startRun } from './transfer-fixture.ts';

// A run writes a part that no other run reads. A run that is stopped keeps its part, with a footer, for a later run.

const FILE = content(2_000_000);
const HALF = 1_500_000;
const NAME = 'primary.htm';
const KEPT = '.primary.htm.filings-resume';
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

/** Cuts the first response in the middle, and then sends what is asked for. */
const cutOnce = () => first(framed(FILE, 'length', { ETag: '"v1"' }).upTo(HALF), whole(FILE));

/** A directory in which a run kept a part. */
async function kept() {
  const server = await scripted(cutOnce());
  const run = await startRun(server.url);
  await run.save();
  expect(await run.names()).toEqual([KEPT]);
  const { directory } = run;
  return {
    server,
    directory,
    path: join(directory, KEPT),
    next: (options: RunOptions = {}) => startRun(server.url, { directory, ...options }),
  };
}

type Kept = Awaited<ReturnType<typeof kept>>;

/** The starts of the ranges that were requested after the first response. */
const ranges = (server: { readonly requests: readonly SeenRequest[] }) =>
  server.requests.slice(1).map((request) => rangeStart(request));

describe('a kept part', () => {
  test('ends in a footer that says what its bytes are', async () => {
    const { server, path } = await kept();
    const bytes = await readFile(path);
    const json = JSON.stringify({
      version: 1,
      baseUrl: new URL(server.url).href,
      accession: ACCESSION,
      fileName: NAME,
      address: new URL('v1/download', server.url).href,
      validator: { kind: 'etag', value: '"v1"' },
      total: FILE.length,
      bytes: HALF,
    });
    expect(bytes.subarray(0, HALF).equals(FILE.subarray(0, HALF))).toBe(true);
    expect(bytes.toString('utf8', HALF)).toBe(`${json}${`${json.length}`.padStart(8, '0')}filings-kept-1`);
  });

  test('is resumed by one of several runs at once, and all of them end with the whole file', async () => {
    const { server, next, directory } = await kept();
    const outcomes = await Promise.all(Array.from({ length: 10 }, async () => (await next()).save()));
    expect(outcomes.map(({ result }) => result)).not.toContain('failed');
    expect(ranges(server).filter((start) => start === HALF)).toHaveLength(1);
    expect(await readdir(directory)).toEqual([NAME]);
    expect((await readFile(join(directory, NAME))).equals(FILE)).toBe(true);
  });

  const changed = (change: (text: string) => string) => (bytes: Buffer) =>
    Buffer.from(change(bytes.toString('latin1')), 'latin1');
  test.each`
    fault                                    | change
    ${'a byte less'}                         | ${(bytes: Buffer) => bytes.subarray(0, -1)}
    ${'no footer'}                           | ${(bytes: Buffer) => bytes.subarray(0, HALF)}
    ${'a byte more before its footer'}       | ${(bytes: Buffer) => Buffer.concat([Buffer.of(0), bytes])}
    ${'no byte'}                             | ${() => Buffer.alloc(0)}
    ${'another mark'}                        | ${changed((text) => text.replace(/1$/, '2'))}
    ${'another version of the format'}       | ${changed((text) => text.replace('"version":1', '"version":2'))}
    ${'another file name'}                   | ${changed((text) => text.replace('primary.htm"', 'primarx.htm"'))}
    ${'another accession number'}            | ${changed((text) => text.replace(ACCESSION, '0001234567-24-000002'))}
    ${'another base URL'}                    | ${changed((text) => text.replace('"baseUrl":"http:', '"baseUrl":"HTTP:'))}
    ${'a validator that no header may hold'} | ${changed((text) => text.replace(String.raw`\"v1\"`, String.raw`\"\n\"`))}
    ${'a total below its bytes'}             | ${changed((text) => text.replace('"total":2000000', '"total":1000000'))}
    ${'zeros in its footer'}                 | ${changed((text) => text.replace(/.{100}(?=\d{8}filings)/, '\0'.repeat(100)))}
  `('with $fault is removed, and the file is downloaded from byte 0', async ({ change }) => {
    const { server, path, next, directory } = await kept();
    await writeFile(path, change(await readFile(path)));
    expect(await (await next()).save()).toMatchObject({ result: 'downloaded' });
    expect([ranges(server), await readdir(directory)]).toEqual([[undefined], [NAME]]);
  });

  test.for`
    what               | change
    ${'a second link'} | ${({ path, directory }: Kept) => link(path, join(directory, 'second'))}
    ${'a link for it'} | ${({ path }: Kept) => rename(path, `${path}.x`).then(() => symlink(`${path}.x`, path))}
    ${'a directory'}   | ${({ path }: Kept) => rm(path).then(() => mkdir(path))}
    ${'another owner'} | ${({ path }: Kept) => chown(path, 12345, 12345)}
  `('with $what is not used', async (row: { what: string; change: (kept: Kept) => unknown }, { skip }) => {
    skip(row.what === 'another owner' && process.geteuid?.() !== 0);
    const place = await kept();
    await row.change(place);
    expect(await (await place.next()).save()).toMatchObject({ result: 'downloaded' });
    expect(ranges(place.server)).toEqual([undefined]);
  });

  test('is young before it gets another name, under which other runs remove old parts', async () => {
    const { path, next } = await kept();
    await utimes(path, 1, 1);
    const run = await next();
    const { nameOperations } = run.directories;
    const ages: number[] = [];
    const rename = async (from: string, to: string) => {
      if (from === path) ages.push(Date.now() - (await lstat(from)).mtimeMs);
      return nameOperations.rename(from, to);
    };
    Object.assign(run.directories, { nameOperations: { ...nameOperations, rename } });
    expect(await run.save()).toMatchObject({ result: 'resumed' });
    expect(ages.map((age) => age < HOUR_MS)).toEqual([true]);
  });

  test('is not resumed if another run replaces it by its own at that moment', async () => {
    const { server, path, next, directory } = await kept();
    const run = await next();
    const { nameOperations } = run.directories;
    const rename = async (from: string, to: string) => {
      if (from === path) await rm(path).then(() => writeFile(path, 'another part'));
      return nameOperations.rename(from, to);
    };
    Object.assign(run.directories, { nameOperations: { ...nameOperations, rename } });
    expect(await run.save()).toMatchObject({ result: 'downloaded' });
    expect([ranges(server), await readdir(directory)]).toEqual([[undefined], [NAME]]);
    expect((await run.read()).equals(FILE)).toBe(true);
  });

  test('is removed when the file exists, and a failure to remove it does not matter', async () => {
    const { next, directory, path } = await kept();
    await writeFile(join(directory, NAME), FILE);
    expect(await (await next()).save()).toMatchObject({ result: 'skipped' });
    expect(await readdir(directory)).toEqual([NAME]);
    await mkdir(path);
    expect(await (await next()).save()).toMatchObject({ result: 'skipped' });
  });
});

test('a part that another run keeps during the download is removed with the own one', async () => {
  const server = await scripted(async (socket, request) => {
    await writeFile(join(run.directory, KEPT), 'of another run');
    sendFile(socket, request, FILE, '"v1"');
  });
  const run = await startRun(server.url);
  expect([(await run.save()).result, await run.names()]).toEqual(['downloaded', [NAME]]);
});

test('nothing is kept beside a file that has the final name by then', async () => {
  const stop = new AbortController();
  const server = await scripted(async (socket) => {
    socket.write(framed(FILE, 'length', { ETag: '"v1"' }).upTo(HALF));
    while ((await run.partBytes()) < HALF) await new Promise((resolve) => setTimeout(resolve, 1));
    await writeFile(join(run.directory, NAME), FILE);
    stop.abort(new FilingsError('interrupted', 'interrupted', { stopsRun: true }));
  });
  const run = await startRun(server.url, { signal: stop.signal });
  expect(await run.save()).toMatchObject({ result: 'unfinished', keptBytes: 0 });
  expect(await run.names()).toEqual([NAME]);
});

// A network file system repeats a rename whose answer was lost, and then finds the old name missing.
test('no footer is written into a file that already has its final name', async () => {
  const run = await startRun((await scripted(whole(FILE))).url, { ifExists: 'overwrite' });
  const { nameOperations } = run.directories;
  const rename = async (from: string, to: string) => {
    await nameOperations.rename(from, to);
    throw Object.assign(new Error('done before'), { code: 'ENOENT' });
  };
  Object.assign(run.directories, { nameOperations: { ...nameOperations, rename } });
  expect((await run.save()).error?.exitStatus).toBe(7);
  expect((await run.read()).equals(FILE)).toBe(true);
});

test('nothing is kept with a credential in the file name or the address', async () => {
  for (const secret of [NAME, 'v1/download']) {
    const run = await startRun((await scripted(cutOnce())).url, { secret });
    expect((await run.save()).error?.exitStatus).toBe(9);
    expect(await run.names()).toEqual([]);
  }
});

test('a body that ends like a kept part is not cut', async () => {
  const request = { baseUrl: 'x', accession: ACCESSION, fileName: NAME };
  const body = Buffer.concat([FILE, Buffer.from(makeFooter(request, { bytes: FILE.length }))]);
  const server = await scripted((socket, request) => sendFile(socket, request, body, '"v1"'));
  const run = await startRun(server.url);
  expect(await run.save()).toMatchObject({ result: 'downloaded', bytes: body.length });
  expect((await run.read()).equals(body)).toBe(true);
});

test('a part that somebody removes during the download fails for this time, and stays away', async () => {
  const server = await scripted(async (socket, request) => {
    socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
    socket.write(FILE.subarray(0, HALF));
    while ((await run.names()).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    for (const name of await run.names()) await rm(join(run.directory, name));
    if (request.index === 0) socket.write(FILE.subarray(HALF));
    else socket.destroy();
  });
  const run = await startRun(server.url);
  for (const exitStatus of [7, 9]) {
    expect((await run.save()).error).toMatchObject({ exitStatus, stopsRun: false });
    expect(await run.names()).toEqual([]);
  }
});

test('a part is never written into an existing file, not even into one that has its random name', async () => {
  const { server, directory, next } = await kept();
  const path = join(directory, workingPartName('other.htm', 0.5));
  await writeFile(path, 'mine');
  const run = await next({ world: { random: () => 0.5 } });
  expect((await run.save('other.htm')).error?.exitStatus).toBe(8);
  expect([await readFile(path, 'utf8'), server.requests.length]).toEqual(['mine', 2]);
});

const part = '.primary.htm.abcd1234.filings-part';
test.each`
  fate                               | ageMs               | left
  ${'is left alone on the same day'} | ${DAY_MS - HOUR_MS} | ${[part, NAME]}
  ${'is removed a day later'}        | ${DAY_MS + HOUR_MS} | ${[NAME]}
`(
  'a part of a killed run $fate, whatever the clock says, and never resumed',
  async ({ ageMs, left }: { ageMs: number; left: string[] }) => {
    for (const wrongMs of [-10 * DAY_MS, 10 * DAY_MS]) {
      const { server, path, next, directory } = await kept();
      await rename(path, join(directory, part));
      const time = new Date(Date.now() - ageMs);
      await utimes(join(directory, part), time, time);
      const run = await next({ world: { now: () => Date.now() + wrongMs } });
      expect(await run.save()).toMatchObject({ result: 'downloaded' });
      expect([ranges(server), (await readdir(directory)).sort()]).toEqual([[undefined], left]);
    }
  },
);
