import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { identifySelf, type Owner, partName, recordName } from '../../src/transfer/part/owner.ts';
import { recordText } from '../../src/transfer/part/record.ts';
import { head, whole } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import {
  ACCESSION,
  content,
  processInfo,
  type Run,
  type RunOptions,
  runAgainst,
  socketAt,
  startRun,
  temporaryDirectory,
} from './transfer-fixture.ts';

// A part of an ended process is resumed or removed. A part that may have an owner is left alone for a day.
const NAME = 'primary.htm';
const FILE = content(3_000_000);
const PART_BYTES = 2_000_000;
const HOUR = 3_600_000;
const HERE = identifySelf(process.pid, processInfo()) as Owner;
const ELSEWHERE: Owner = { machine: '1111111111111111', pid: 7, startTime: '1' };
const DEAD = { ...HERE, pid: 0x7ffffff };
const good = whole(FILE);

/** Starts a service in a directory. Returns functions that plant parts of other runs there and start a run. */
async function setUp() {
  const server = await scripted(good);
  const directory = await temporaryDirectory();
  const ownRequest = `${server.url}/ ${ACCESSION} ${NAME}`;
  /** Puts a part of another run and its record into the directory, with a modification time some hours ago. */
  async function plant(owner?: Owner, { hours = 0, bytes = PART_BYTES, id = 'a1b2c3d4', request = ownRequest } = {}) {
    const names = [partName(NAME, owner, id), recordName(NAME, id)];
    const [part = '', record = ''] = names.map((name) => join(directory, name));
    const validator = { kind: 'etag', value: '"v1"' } as const;
    await writeFile(part, FILE.subarray(0, bytes));
    const address = `${server.url}/v1/download`;
    await writeFile(record, recordText(request, { address, validator, total: FILE.length }));
    const time = new Date(Date.now() - hours * HOUR);
    for (const path of [part, record]) await utimes(path, time, time);
    return { part, record, names };
  }
  const ranges = () => server.requests.map(({ headers }) => headers.range);
  const run = (options: RunOptions = {}) => startRun(server.url, { directory, ...options });
  return { directory, ownRequest, plant, ranges, run };
}

/** Runs among the planted files and expects the whole file. Returns the other names in the directory. */
async function otherNames(run: Run): Promise<string[]> {
  expect((await run.save()).error).toBeUndefined();
  expect((await run.read()).equals(FILE)).toBe(true);
  return (await run.names()).filter((name) => name !== NAME).sort();
}

describe('a part that may still have an owner', () => {
  test.each<[string, Owner | undefined, number, 'stays' | 'goes']>([
    ['of another machine, boot or namespace', ELSEWHERE, 23, 'stays'],
    ['of another machine, boot or namespace', ELSEWHERE, 25, 'goes'],
    ['of an owner that cannot be read', undefined, 23, 'stays'],
    ['of an owner that cannot be read', undefined, 25, 'goes'],
    ['of a live process', HERE, 100_000, 'stays'],
  ])('%s (%o), unmodified for %i hours, is never resumed and %s', async (_, owner, hours, fate) => {
    const { plant, ranges, run } = await setUp();
    const { names } = await plant(owner, { hours });
    expect(await otherNames(await run())).toEqual(fate === 'stays' ? names.sort() : []);
    expect(ranges()).toEqual([undefined]);
    // A run that skips the file treats the part and its record the same.
    await plant(owner, { hours });
    expect(await otherNames(await run())).toEqual(fate === 'stays' ? names.sort() : []);
  });

  test.each([
    [23, 1],
    [25, 0],
  ])('is assumed for a record without a part: after %i hours %i remain', async (hours, remaining) => {
    const { plant, run } = await setUp();
    await rm((await plant(DEAD, { hours })).part);
    expect(await otherNames(await run())).toHaveLength(remaining);
  });
});

describe('a part of an ended process', () => {
  test('is resumed even in a directory of many entries, and those of other files remain', async () => {
    const { directory, plant, ranges, run } = await setUp();
    for (let count = 0; count < 2000; count += 1) await writeFile(join(directory, `${'x'.repeat(40)}${count}`), '');
    await plant(DEAD);
    const other = partName('other.htm', DEAD, 'a1b2c3d4');
    await writeFile(join(directory, other), 'x');
    expect((await otherNames(await run())).filter((name) => name.startsWith('.'))).toEqual([other]);
    expect(ranges()).toEqual([`bytes=${PART_BYTES}-`]);
  });

  test('is resumed if it is the largest one, and all others are removed', async () => {
    const { directory, plant, ranges, run } = await setUp();
    await plant(DEAD, { id: '00000001', bytes: PART_BYTES - 1000 });
    await plant(DEAD, { id: '00000002' });
    await plant(DEAD, { id: '00000003', bytes: PART_BYTES - 2000 });
    await writeFile(join(directory, partName(NAME, DEAD, '00000004', 'lock')), '');
    await writeFile(join(directory, '.primary.htm.part'), 'of somebody else');
    expect(await otherNames(await run())).toEqual(['.primary.htm.part']);
    expect(ranges()).toEqual([`bytes=${PART_BYTES}-`]);
  });

  test.each<[string, (record: string, part: string) => Promise<unknown>]>([
    ['the record is a link', async (record) => rename(record, `${record}x`).then(() => symlink(`${record}x`, record))],
    ['the record is a socket', async (record) => rm(record).then(() => socketAt(record))],
    ['the record has 98 MB', (record) => writeFile(record, Buffer.alloc(98_000_000, '\n'), { flag: 'a' })],
    ['the record is invalid', (record) => writeFile(record, '{}')],
    ['there is no record', (record) => rm(record)],
    ['the part is larger than its file', (_, part) => writeFile(part, Buffer.concat([FILE, Buffer.from('x')]))],
    ['the part is empty', (_, part) => writeFile(part, '')],
    ['the part is a link', (_, part) => rename(part, `${part}x`).then(() => symlink(`${part}x`, part))],
  ])('is removed without being resumed if %s', async (_, change) => {
    const { plant, ranges, run } = await setUp();
    const { part, record, names } = await plant(DEAD);
    await change(record, part);
    expect((await otherNames(await run())).filter((name) => names.includes(name))).toEqual([]);
    expect(ranges()).toEqual([undefined]);
  });

  test('is removed by a run that skips the file', async () => {
    const { directory, plant, run } = await setUp();
    await plant(DEAD);
    await writeFile(join(directory, NAME), FILE);
    expect(await otherNames(await run())).toEqual([]);
  });

  test.each([
    ['another service', /^\S+/, 'http://elsewhere.example/'],
    ['another filing', ACCESSION, '0001234567-24-000009'],
    ['another file', NAME, 'secondary.htm'],
  ])('is removed without being resumed if it is of %s', async (_, own, other) => {
    const { ownRequest, plant, ranges, run } = await setUp();
    await plant(DEAD, { request: ownRequest.replace(own, other) });
    expect(await otherNames(await run())).toEqual([]);
    expect(ranges()).toEqual([undefined]);
  });

  test('is resumed by at most one of two runs at once, and both get the right file', async () => {
    const { plant, run } = await setUp();
    await plant(DEAD);
    const runs = await Promise.all([run({ ifExists: 'overwrite' }), run({ ifExists: 'overwrite' })]);
    const outcomes = await Promise.all(runs.map((each) => each.save()));
    expect(outcomes.map(({ error }) => error)).toEqual([undefined, undefined]);
    expect(outcomes.filter(({ result }) => result === 'resumed').length).toBeLessThan(2);
    expect(await otherNames(await run())).toEqual([]);
  });
});

/**
 * Starts a run that has received all but the last byte of its first response. Returns the paths of its part and record,
 * `finish`, which sends that byte, and `cut`, which ends the connection instead.
 */
async function nearlyDone(options: RunOptions = {}, { sha256 = '', body = FILE, etag = '"v1"' } = {}) {
  let [finish, cut] = [() => {}, () => {}];
  const { run } = await runAgainst((socket, request) => {
    if (request.index > 0) return good(socket, request);
    socket.write(head(200, { ETag: etag, 'Content-Length': body.length }));
    socket.write(body.subarray(0, -1));
    finish = () => socket.write(body.subarray(-1));
    cut = () => socket.destroy();
  }, options);
  const ended = run.save(NAME, sha256 || undefined);
  const folder = join(run.directory, options.below ?? '');
  const path = async (kind: string) => {
    const names = await readdir(folder).catch(() => []);
    return join(folder, names.find((name) => name.endsWith(kind)) ?? 'none');
  };
  const size = async () => (await stat(await path('.part')).catch(() => undefined))?.size;
  while ((await size()) !== body.length - 1) await new Promise((resolve) => setTimeout(resolve, 5));
  return { run, ended, folder, part: await path('.part'), record: await path('.resume'), finish, cut };
}

describe('during a download', () => {
  test('a deleted record has no effect', async () => {
    const { run, ended, record, finish } = await nearlyDone();
    await rm(record);
    finish();
    expect(await ended).toMatchObject({ result: 'downloaded', attempts: 1, bytes: FILE.length });
    expect(await run.names()).toEqual([NAME]);
  });

  test('a deleted record and a new version lead to a download of the new version', async () => {
    const old = { body: content(FILE.length), etag: '"v0"' };
    const { run, ended, record, cut } = await nearlyDone({ retries: 1 }, old);
    await rm(record);
    cut();
    expect(await ended).toMatchObject({ result: 'downloaded', attempts: 2, resumedBytes: 0 });
    expect(await otherNames(run)).toEqual([]);
  });

  test('a directory in place of the record does not keep a useless part', async () => {
    const { run, ended, record, finish } = await nearlyDone({}, { sha256: '0'.repeat(64) });
    await rm(record);
    await mkdir(record);
    finish();
    expect((await ended).error).toMatchObject({ code: 'integrity', retryable: false });
    expect((await run.names()).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('a deleted directory and a closed connection are a retryable error', async () => {
    const { ended, folder, cut } = await nearlyDone({ below: 'a' });
    await rm(folder, { recursive: true });
    cut();
    expect((await ended).error).toMatchObject({ code: 'integrity', retryable: true });
  });

  test.each(['', createHash('sha256').update(FILE).digest('hex')])(
    'a deleted part is downloaded again (hash: %s)',
    async (sha256) => {
      const { run, ended, part, finish } = await nearlyDone({}, { sha256 });
      await rm(part);
      finish();
      expect(await ended).toMatchObject({ result: 'downloaded', attempts: 2, bytes: FILE.length });
      expect(await otherNames(run)).toEqual([]);
    },
  );

  test('a deleted part is not downloaded again if the file exists by now', async () => {
    const { run, ended, part, finish } = await nearlyDone();
    await rm(part);
    await writeFile(join(run.directory, NAME), FILE);
    finish();
    expect(await ended).toMatchObject({ result: 'skipped', attempts: 1 });
  });

  test.each<[string, (folder: string) => Promise<unknown>]>([
    ['is renamed', (folder) => rename(folder, `${folder}.moved`)],
    ['is removed', (folder) => rm(folder, { recursive: true })],
    ['is replaced', (folder) => rename(folder, `${folder}.moved`).then(() => mkdir(folder))],
  ])('the file is downloaded again to the right path if its directory %s', async (_, change) => {
    for (const ifExists of ['skip', 'overwrite'] as const) {
      const { run, ended, folder, finish } = await nearlyDone({ below: 'a/b', ifExists });
      await change(folder);
      finish();
      expect(await ended).toMatchObject({ result: 'downloaded', attempts: 2, path: join(folder, NAME) });
      expect(await readdir(folder)).toEqual([NAME]);
      expect((await run.read()).equals(FILE)).toBe(true);
      expect(existsSync(join(run.directory, 'a/b.moved', NAME))).toBe(false);
    }
  });
});
