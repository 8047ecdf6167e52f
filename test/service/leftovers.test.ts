import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Owner, ownerOf, partName, recordName } from '../../src/transfer/part/owner.ts';
import { recordText } from '../../src/transfer/part/record.ts';
import { head, sendFile } from '../servers/answers.ts';
import { type Script, type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { ACCESSION, content, type Run, startRun, temporaryDirectory } from './transfer-fixture.ts';

// Whose part it is: what is known to be dead is resumed or removed, what may have an owner is left alone for a day.
const NAME = 'primary.htm';
const FILE = content(3_000_000);
const HELD = 2_000_000;
const HOUR = 3_600_000;
const HERE = ownerOf(process.pid, 'test', process.platform) as Owner;
const ELSEWHERE: Owner = { machine: '1111111111111111', pid: 7, started: '1' };
const DEAD = { ...HERE, pid: 0x7ffffff };

async function serve(script: Script): Promise<ScriptedServer> {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return server;
}
const whole: Script = (socket, request) => sendFile(socket, request, FILE, '"v1"');

/** Puts a part of another run and its record into a directory, last touched some hours ago. */
async function plant(
  directory: string,
  url: string,
  owner: Owner | undefined,
  { hours = 0, bytes = FILE.subarray(0, HELD) } = {},
) {
  const names = [partName(NAME, owner, 'a1b2c3d4'), recordName(NAME, 'a1b2c3d4')];
  const [part = '', record = ''] = names.map((name) => join(directory, name));
  await writeFile(part, bytes);
  const request = `${new URL(url).href} ${ACCESSION} ${NAME}`;
  const validator = { kind: 'etag', value: '"v1"' } as const;
  const address = `${new URL(url).origin}/v1/download`;
  await writeFile(record, recordText(request, { address, validator, total: FILE.length }));
  const time = new Date(Date.now() - hours * HOUR);
  for (const path of [part, record]) await utimes(path, time, time);
  return { part, record, names };
}

/** What a run makes of what was planted, whose file is whole then; gives what is beside that. */
async function beside(run: Run): Promise<string[]> {
  expect((await run.save()).error).toBeUndefined();
  expect((await readFile(join(run.directory, NAME))).equals(FILE)).toBe(true);
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
    const server = await serve(whole);
    const directory = await temporaryDirectory();
    const { names } = await plant(directory, server.url, owner, { hours });
    const run = await startRun(server.url, { directory });
    expect(await beside(run)).toEqual(fate === 'stays' ? names.sort() : []);
    expect(server.requests.map(({ headers }) => headers.range)).toEqual([undefined]);
    // A skip deals with them, too.
    const again = await plant(directory, server.url, owner, { hours });
    expect(await beside(await startRun(server.url, { directory }))).toEqual(fate === 'stays' ? again.names.sort() : []);
  });

  test('a record without its part is removed after a day', async () => {
    const server = await serve(whole);
    for (const [hours, left] of [
      [23, 1],
      [25, 0],
    ] as const) {
      const directory = await temporaryDirectory();
      const { part } = await plant(directory, server.url, DEAD, { hours });
      await rm(part);
      expect(await beside(await startRun(server.url, { directory }))).toHaveLength(left);
    }
  });
});

describe('what a process that has ended left', () => {
  test('it is resumed; another file’s stays', async () => {
    const server = await serve(whole);
    const directory = await temporaryDirectory();
    await plant(directory, server.url, DEAD);
    const other = partName('other.htm', DEAD, 'a1b2c3d4');
    await writeFile(join(directory, other), 'x');
    expect(await beside(await startRun(server.url, { directory }))).toEqual([other]);
    expect(server.requests.map(({ headers }) => headers.range)).toEqual([`bytes=${HELD}-`]);
  });

  test('it is found in a directory of many entries, too', async () => {
    const server = await serve(whole);
    const directory = await temporaryDirectory();
    for (let count = 0; count < 3000; count += 1) await writeFile(join(directory, `${'x'.repeat(40)}${count}`), '');
    await plant(directory, server.url, DEAD);
    expect(await (await startRun(server.url, { directory })).save()).toMatchObject({
      result: 'resumed',
      resumedBytes: HELD,
    });
  });

  test.each<[string, (record: string, part: string) => Promise<unknown>]>([
    ['the record is a FIFO', async (record) => rm(record).then(() => execFileSync('mkfifo', [record]))],
    ['the record is a link', async (record) => rename(record, `${record}x`).then(() => symlink(`${record}x`, record))],
    ['the record has 98 MB', (record) => writeFile(record, Buffer.alloc(98_000_000, '\n'), { flag: 'a' })],
    ['there is no record', (record) => rm(record)],
    ['the part is larger than its file', (_, part) => writeFile(part, Buffer.concat([FILE, Buffer.from('x')]))],
    ['the part is empty', (_, part) => writeFile(part, '')],
    ['the part is a link', (_, part) => rename(part, `${part}x`).then(() => symlink(`${part}x`, part))],
  ])('%s: it is of no use, and goes', async (_, change) => {
    const server = await serve(whole);
    const directory = await temporaryDirectory();
    const { part, record, names } = await plant(directory, server.url, DEAD);
    await change(record, part);
    const left = await beside(await startRun(server.url, { directory }));
    expect(left.filter((name) => names.includes(name))).toEqual([]);
    expect(server.requests.map(({ headers }) => headers.range)).toEqual([undefined]);
  });
});

/** A server that sends all but the last byte of the first answer, and that when it is told. */
async function paused() {
  let goOn = () => {};
  const released = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const server = await serve(async (socket, request) => {
    if (request.index > 0) return whole(socket, request);
    socket.write(head(200, { ETag: '"v1"', 'Content-Length': FILE.length }));
    socket.write(FILE.subarray(0, -1));
    await released;
    socket.write(FILE.subarray(-1));
  });
  return { server, goOn };
}

/** A run that has got all but the last byte, and the paths of its part and record. */
async function nearlyDone(url: string, options: Parameters<typeof startRun>[1] = {}, sha256?: string) {
  const run = await startRun(url, options);
  const ended = run.save(NAME, sha256);
  const folder = join(run.directory, options.below ?? '');
  const path = async (kind: string) => {
    const names = await readdir(folder).catch(() => []);
    return join(folder, names.find((name) => name.endsWith(kind)) ?? 'none');
  };
  const size = async () => (await stat(await path('.part')).catch(() => undefined))?.size;
  while ((await size()) !== FILE.length - 1) await new Promise((resolve) => setTimeout(resolve, 5));
  return { run, ended, part: await path('.part'), record: await path('.resume') };
}

describe('files beside a file go away while it comes', () => {
  test('its record: that costs nothing', async () => {
    const { server, goOn } = await paused();
    const { run, ended, record } = await nearlyDone(server.url);
    await rm(record);
    goOn();
    expect(await ended).toMatchObject({ result: 'downloaded', attempts: 1, bytes: FILE.length });
    expect(await run.names()).toEqual([NAME]);
  });

  test('its record, and the service has another version: that one is fetched', async () => {
    const old = content(FILE.length);
    let cut = () => {};
    const server = await serve((socket, request) => {
      if (request.index > 0) return whole(socket, request);
      socket.write(head(200, { ETag: '"v0"', 'Content-Length': old.length }));
      socket.write(old.subarray(0, -1));
      cut = () => socket.destroy();
    });
    const { run, ended, record } = await nearlyDone(server.url, { retries: 1 });
    await rm(record);
    cut();
    expect(await ended).toMatchObject({ result: 'downloaded', attempts: 2, resumedBytes: 0 });
    expect(await beside(run)).toEqual([]);
  });

  test.each([['without a hash'], ['with one']])('its part: it is downloaded again (%s)', async (hashed) => {
    const { server, goOn } = await paused();
    const sha256 =
      hashed === 'with one' ? execFileSync('sha256sum', { input: FILE }).toString().slice(0, 64) : undefined;
    const { run, ended, part } = await nearlyDone(server.url, {}, sha256);
    await rm(part);
    goOn();
    expect(await ended).toMatchObject({ result: 'downloaded', attempts: 2, bytes: FILE.length });
    expect(await beside(run)).toEqual([]);
  });

  test('its part, and the file exists by now: it is skipped', async () => {
    const { server, goOn } = await paused();
    const { run, ended, part } = await nearlyDone(server.url);
    await rm(part);
    await writeFile(join(run.directory, NAME), FILE);
    goOn();
    expect(await ended).toMatchObject({ result: 'skipped', attempts: 1 });
  });

  test.each<[string, (folder: string) => Promise<unknown>]>([
    ['is renamed', (folder) => rename(folder, `${folder}.moved`)],
    ['is removed', (folder) => rm(folder, { recursive: true })],
    [
      'is renamed, and another one has its name',
      (folder) => rename(folder, `${folder}.moved`).then(() => mkdir(folder)),
    ],
  ])('its directory %s: it is downloaded again, to where it is said to be', async (_, change) => {
    for (const ifExists of ['skip', 'overwrite'] as const) {
      const { server, goOn } = await paused();
      const { run, ended } = await nearlyDone(server.url, { below: 'a/b', ifExists });
      await change(join(run.directory, 'a/b'));
      goOn();
      expect(await ended).toMatchObject({ result: 'downloaded', attempts: 2, path: join(run.directory, 'a/b', NAME) });
      expect(await readdir(join(run.directory, 'a/b'))).toEqual([NAME]);
      expect((await readFile(join(run.directory, 'a/b', NAME))).equals(FILE)).toBe(true);
      expect(existsSync(join(run.directory, 'a/b.moved', NAME))).toBe(false);
    }
  });
});
