import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Owner, ownerOf, partName, recordName } from '../../src/transfer/part/owner.ts';
import { recordText } from '../../src/transfer/part/record.ts';
import { head, whole } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import {
  ACCESSION,
  content,
  type Run,
  type RunOptions,
  runAgainst,
  socketAt,
  startRun,
  temporaryDirectory,
} from './transfer-fixture.ts';

// Whose part it is: what is known to be dead is resumed or removed, what may have an owner is left alone for a day.
const NAME = 'primary.htm';
const FILE = content(3_000_000);
const HELD = 2_000_000;
const HOUR = 3_600_000;
const HERE = ownerOf(process.pid, 'test', process.platform) as Owner;
const ELSEWHERE: Owner = { machine: '1111111111111111', pid: 7, started: '1' };
const DEAD = { ...HERE, pid: 0x7ffffff };
const good = whole(FILE);

/** A service, a directory, and a run there. */
async function place() {
  const server = await scripted(good);
  const directory = await temporaryDirectory();
  const asked = `${server.url}/ ${ACCESSION} ${NAME}`;
  /** Puts a part of another run and its record into the directory, last touched some hours ago. */
  async function plant(owner?: Owner, { hours = 0, bytes = HELD, id = 'a1b2c3d4', request = asked } = {}) {
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
  return { directory, asked, plant, ranges, run };
}

/** What a run makes of what was planted, whose file is whole then; gives what is beside that. */
async function beside(run: Run): Promise<string[]> {
  expect((await run.save()).error).toBeUndefined();
  expect((await run.read()).equals(FILE)).toBe(true);
  return (await run.names()).filter((name) => name !== NAME).sort();
}

describe('what may still have an owner', () => {
  test.each<[string, Owner | undefined, number, 'stays' | 'goes']>([
    ['another machine’s, boot’s or namespace’s', ELSEWHERE, 23, 'stays'],
    ['another machine’s, boot’s or namespace’s', ELSEWHERE, 25, 'goes'],
    ['one that could not be read', undefined, 23, 'stays'],
    ['one that could not be read', undefined, 25, 'goes'],
    ['a live process’s', HERE, 100_000, 'stays'],
  ])('%s (%o), untouched for %i hours, is never resumed and %s', async (_, owner, hours, fate) => {
    const { plant, ranges, run } = await place();
    const { names } = await plant(owner, { hours });
    expect(await beside(await run())).toEqual(fate === 'stays' ? names.sort() : []);
    expect(ranges()).toEqual([undefined]);
    // A skip deals with them, too.
    await plant(owner, { hours });
    expect(await beside(await run())).toEqual(fate === 'stays' ? names.sort() : []);
  });

  test.each([
    [23, 1],
    [25, 0],
  ])('a record without its part, after %i hours: %i is left', async (hours, left) => {
    const { plant, run } = await place();
    await rm((await plant(DEAD, { hours })).part);
    expect(await beside(await run())).toHaveLength(left);
  });
});

describe('what a process that has ended left', () => {
  test('it is resumed, in a directory of many entries, too; another file’s stays', async () => {
    const { directory, plant, ranges, run } = await place();
    for (let count = 0; count < 2000; count += 1) await writeFile(join(directory, `${'x'.repeat(40)}${count}`), '');
    await plant(DEAD);
    const other = partName('other.htm', DEAD, 'a1b2c3d4');
    await writeFile(join(directory, other), 'x');
    expect((await beside(await run())).filter((name) => name.startsWith('.'))).toEqual([other]);
    expect(ranges()).toEqual([`bytes=${HELD}-`]);
  });

  test('of several, the largest is resumed, and the others go, whatever they are', async () => {
    const { directory, plant, ranges, run } = await place();
    await plant(DEAD, { id: '00000001', bytes: HELD - 1000 });
    await plant(DEAD, { id: '00000002' });
    await plant(DEAD, { id: '00000003', bytes: HELD - 2000 });
    await writeFile(join(directory, partName(NAME, DEAD, '00000004', 'lock')), '');
    await writeFile(join(directory, '.primary.htm.part'), 'of somebody else');
    expect(await beside(await run())).toEqual(['.primary.htm.part']);
    expect(ranges()).toEqual([`bytes=${HELD}-`]);
  });

  test.each<[string, (record: string, part: string) => Promise<unknown>]>([
    ['the record is a link', async (record) => rename(record, `${record}x`).then(() => symlink(`${record}x`, record))],
    ['the record is a socket', async (record) => rm(record).then(() => socketAt(record))],
    ['the record has 98 MB', (record) => writeFile(record, Buffer.alloc(98_000_000, '\n'), { flag: 'a' })],
    ['the record is no record', (record) => writeFile(record, '{}')],
    ['there is no record', (record) => rm(record)],
    ['the part is larger than its file', (_, part) => writeFile(part, Buffer.concat([FILE, Buffer.from('x')]))],
    ['the part is empty', (_, part) => writeFile(part, '')],
    ['the part is a link', (_, part) => rename(part, `${part}x`).then(() => symlink(`${part}x`, part))],
  ])('%s: it is of no use, and goes', async (_, change) => {
    const { plant, ranges, run } = await place();
    const { part, record, names } = await plant(DEAD);
    await change(record, part);
    expect((await beside(await run())).filter((name) => names.includes(name))).toEqual([]);
    expect(ranges()).toEqual([undefined]);
  });

  test('a skip removes it', async () => {
    const { directory, plant, run } = await place();
    await plant(DEAD);
    await writeFile(join(directory, NAME), FILE);
    expect(await beside(await run())).toEqual([]);
  });

  test.each([
    ['another service', /^\S+/, 'http://elsewhere.example/'],
    ['another filing', ACCESSION, '0001234567-24-000009'],
    ['another file', NAME, 'secondary.htm'],
  ])('it is of %s: of no use', async (_, own, other) => {
    const { asked, plant, ranges, run } = await place();
    await plant(DEAD, { request: asked.replace(own, other) });
    expect(await beside(await run())).toEqual([]);
    expect(ranges()).toEqual([undefined]);
  });

  test('two runs that reach for it at once: one of them gets it at most, both are right', async () => {
    const { plant, run } = await place();
    await plant(DEAD);
    const runs = await Promise.all([run({ ifExists: 'overwrite' }), run({ ifExists: 'overwrite' })]);
    const outcomes = await Promise.all(runs.map((each) => each.save()));
    expect(outcomes.map(({ error }) => error)).toEqual([undefined, undefined]);
    expect(outcomes.filter(({ result }) => result === 'resumed').length).toBeLessThan(2);
    expect(await beside(await run())).toEqual([]);
  });
});

/**
 * A run that has got all but the last byte of its first answer, and the paths of its part and record. `finish` has that
 * byte sent; `cut` ends the connection instead.
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

describe('files beside a file go away while it comes', () => {
  test('its record: that costs nothing', async () => {
    const { run, ended, record, finish } = await nearlyDone();
    await rm(record);
    finish();
    expect(await ended).toMatchObject({ result: 'downloaded', attempts: 1, bytes: FILE.length });
    expect(await run.names()).toEqual([NAME]);
  });

  test('its record, and the service has another version: that one is fetched', async () => {
    const old = { body: content(FILE.length), etag: '"v0"' };
    const { run, ended, record, cut } = await nearlyDone({ retries: 1 }, old);
    await rm(record);
    cut();
    expect(await ended).toMatchObject({ result: 'downloaded', attempts: 2, resumedBytes: 0 });
    expect(await beside(run)).toEqual([]);
  });

  test('its record, and a directory has its name: a part that is of no use goes all the same', async () => {
    const { run, ended, record, finish } = await nearlyDone({}, { sha256: '0'.repeat(64) });
    await rm(record);
    await mkdir(record);
    finish();
    expect((await ended).error).toMatchObject({ code: 'integrity', retryable: false });
    expect((await run.names()).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('its directory, and the connection ends: the error says so', async () => {
    const { ended, folder, cut } = await nearlyDone({ below: 'a' });
    await rm(folder, { recursive: true });
    cut();
    expect((await ended).error).toMatchObject({ code: 'integrity', retryable: true });
  });

  test.each(['', createHash('sha256').update(FILE).digest('hex')])(
    'its part: it is downloaded again (hash: %s)',
    async (sha256) => {
      const { run, ended, part, finish } = await nearlyDone({}, { sha256 });
      await rm(part);
      finish();
      expect(await ended).toMatchObject({ result: 'downloaded', attempts: 2, bytes: FILE.length });
      expect(await beside(run)).toEqual([]);
    },
  );

  test('its part, and the file exists by now: it is skipped', async () => {
    const { run, ended, part, finish } = await nearlyDone();
    await rm(part);
    await writeFile(join(run.directory, NAME), FILE);
    finish();
    expect(await ended).toMatchObject({ result: 'skipped', attempts: 1 });
  });

  test.each<[string, (folder: string) => Promise<unknown>]>([
    ['is renamed', (folder) => rename(folder, `${folder}.moved`)],
    ['is removed', (folder) => rm(folder, { recursive: true })],
    ['is another one', (folder) => rename(folder, `${folder}.moved`).then(() => mkdir(folder))],
  ])('its directory %s: it is downloaded again, to where it is said to be', async (_, change) => {
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
