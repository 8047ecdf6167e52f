import { execFileSync } from 'node:child_process';
import { existsSync, statSync, utimesSync } from 'node:fs';
import { chown, link, lstat, mkdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Owner, ownerText } from '../../src/disk/owner/owner.ts';
import { ownerOf } from '../../src/disk/owner/processes.ts';
import { Places } from '../../src/transfer/places.ts';
import { namesOf, parsePartName, partNames } from '../../src/transfer/sinks/part/part-name.ts';
import { flushedLine, recordLine } from '../../src/transfer/sinks/part/resume-record.ts';
import { takeOver } from '../../src/transfer/sinks/part/take-over.ts';
import { head, rangeStart, sendFile } from '../servers/answers.ts';
import { type Script, type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { ACCESSION, content, mortal, startRun, temporaryDirectory, tenant } from './transfer-fixture.ts';

// Whose part it is: what is known to be dead is taken over, what may have an owner is copied, what lives is left alone.
const NAME = 'primary.htm';
const FILE = content(3_000_000);
const FLUSHED = 1_600_000;
/** Two million bytes were written, and what was not flushed is zeros, as after a power cut. */
const TORN = Buffer.concat([FILE.subarray(0, FLUSHED), Buffer.alloc(400_000)]);
const MINUTE = 60_000;
const ELSEWHERE: Owner = { host: '11111111', boot: '22222222', namespace: '33333333', pid: 7, started: '1' };
const here = (more: Partial<Owner> = {}): Owner => ({ ...ownerOf(process.pid, 'test', process.platform), ...more });

async function serve(script: Script): Promise<ScriptedServer> {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return server;
}
const whole: Script = (socket, request) => sendFile(socket, request, FILE, '"v1"');

interface Planted {
  readonly owner?: Owner;
  readonly bytes?: Buffer;
  /** False: no record. */
  readonly flushed?: number | false;
  readonly minutes?: number;
  readonly serial?: string;
}

/** Puts a part of another run into a directory, last touched some minutes ago; gives its names. */
async function plant(directory: string, url: string, planted: Planted = {}) {
  const { owner = ELSEWHERE, bytes = TORN, flushed = FLUSHED, minutes = 11, serial = '1' } = planted;
  const names = partNames(NAME, owner, serial);
  const [part, resume] = [join(directory, names.part), join(directory, names.resume)];
  await writeFile(part, bytes);
  const identity = { base_url: new URL(url).href, accession_no: ACCESSION, file_name: NAME };
  const of = { validator: { kind: 'etag', value: '"v1"' }, total: FILE.length, address: `${url}/v1/download` } as const;
  const line = recordLine({ v: 1, ...identity, ...of });
  if (flushed !== false) await writeFile(resume, `${line}${flushed > 0 ? flushedLine(flushed) : ''}`);
  const time = new Date(Date.now() - minutes * MINUTE);
  await utimes(part, time, time);
  return { part, resume, names: [names.part, names.resume] };
}

async function expectWhole(directory: string): Promise<void> {
  expect((await readFile(join(directory, NAME))).equals(FILE)).toBe(true);
}

describe('a part of another machine', () => {
  test('untouched for ten minutes: what was flushed is copied, the rest is zeros; the original goes when the file stands', async () => {
    const directory = await temporaryDirectory();
    let stands = false;
    let original = '';
    const server = await serve((socket, request) => {
      stands = existsSync(original) && statSync(original).size === TORN.length;
      return whole(socket, request);
    });
    const { part, names } = await plant(directory, server.url);
    original = part;
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'resumed', saved: FLUSHED, bytes: FILE.length });
    expect(stands).toBe(true);
    await expectWhole(directory);
    expect(await run.names()).toEqual([NAME]);
    expect(names.some((name) => existsSync(join(directory, name)))).toBe(false);
  });

  test('untouched for nine minutes: it is left alone', async () => {
    const server = await serve(whole);
    const directory = await temporaryDirectory();
    const { names } = await plant(directory, server.url, { minutes: 9 });
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'downloaded', saved: 0 });
    await expectWhole(directory);
    expect((await run.names()).sort()).toEqual([...names, NAME].sort());
  });

  test('what it says is flushed, and it has not, does not count', async () => {
    const server = await serve(whole);
    const directory = await temporaryDirectory();
    await plant(directory, server.url, { bytes: FILE.subarray(0, 1_000_000) });
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'resumed', saved: 1_000_000 });
    await expectWhole(directory);
  });

  test.each<[string, Planted]>([
    ['nothing is flushed', { flushed: 0 }],
    ['there is no record', { flushed: false }],
    ['it is larger than the file', { bytes: Buffer.concat([FILE, Buffer.from('x')]) }],
  ])('untouched for ten minutes, and %s: swept', async (_, planted) => {
    const server = await serve(whole);
    const directory = await temporaryDirectory();
    await plant(directory, server.url, planted);
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'downloaded', saved: 0 });
    await expectWhole(directory);
    expect(await run.names()).toEqual([NAME]);
  });

  test('the copy is gone on with, too, when this run fails; the original stays till the file stands', async () => {
    let healthy = false;
    const server = await serve((socket, request) => {
      if (healthy) return whole(socket, request);
      const start = rangeStart(request) ?? 0;
      const range = { 'Content-Range': `bytes ${start}-${FILE.length - 1}/${FILE.length}` };
      socket.write(head(206, { ETag: '"v1"', 'Content-Length': FILE.length - start, ...range }));
      socket.end(FILE.subarray(start, start + 100_000));
    });
    const directory = await temporaryDirectory();
    const { names } = await plant(directory, server.url);
    const process = mortal();
    const first = await startRun(server.url, { directory, pid: process.pid });
    expect((await first.save()).error?.exitStatus).toBe(9);
    await process.die();
    expect(await first.names()).toHaveLength(4);
    expect(await first.names()).toEqual(expect.arrayContaining(names));
    healthy = true;
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'resumed', saved: FLUSHED + 100_000 });
    await expectWhole(directory);
    expect(await run.names()).toEqual([NAME]);
  });

  test('whose owner wakes up while it is copied: the copy is of no use', async () => {
    const directory = await temporaryDirectory();
    const url = 'http://127.0.0.1/';
    const { part, names } = await plant(directory, url);
    const places = new Places(tenant());
    onTestFinished(() => places.close());
    const identity = { base_url: url, accession_no: ACCESSION, file_name: NAME };
    const { owner, uid } = places;
    const place = { ...(await places.at(directory, false)), final: NAME, owner, uid, nextSerial: () => '9', identity };
    const leftover = await place.leftovers.claim(NAME, identity);
    expect(leftover).toMatchObject({ standing: 'abandoned', bytes: FLUSHED });
    // Asked between two blocks of the copy.
    const { signal } = new AbortController();
    const asleep = new AbortController().signal;
    asleep.throwIfAborted = () => utimesSync(part, new Date(), new Date());
    if (!leftover) return;
    expect(await takeOver(place, leftover, asleep)).toBeUndefined();
    expect(await (await startRun(url, { directory })).names()).toEqual(expect.arrayContaining(names));
    const old = new Date(Date.now() - 11 * MINUTE);
    await utimes(part, old, old);
    const copy = await takeOver(place, leftover, signal);
    expect(copy?.held.bytes).toBe(FLUSHED);
    await copy?.discard();
    expect((await (await startRun(url, { directory })).names()).sort()).toEqual([...names].sort());
  });
});

describe('a part of this machine', () => {
  test.each<[string, Partial<Owner>]>([
    ['its start can’t be read', { started: undefined }],
    ['it is this very process', {}],
  ])('of a process that runs, and %s: never touched, however old', async (_, more) => {
    const server = await serve(whole);
    const directory = await temporaryDirectory();
    const { names } = await plant(directory, server.url, { owner: here(more), minutes: 100_000 });
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'downloaded' });
    await expectWhole(directory);
    expect((await run.names()).sort()).toEqual([...names, NAME].sort());
  });

  test.each<[string, Partial<Owner>, number, 'downloaded' | 'resumed']>([
    ['its boot can’t be read, of just now', { boot: undefined }, 9, 'downloaded'],
    ['its boot can’t be read, untouched', { boot: undefined }, 11, 'resumed'],
    ['its namespace can’t be read, of just now', { namespace: undefined }, 9, 'downloaded'],
    ['its namespace can’t be read, untouched', { namespace: undefined }, 11, 'resumed'],
    ['of another boot, though changed since this one', { boot: '00000000' }, 9, 'downloaded'],
    ['of another boot, and not changed since this one', { boot: '00000000' }, 17, 'resumed'],
  ])('of no process that runs, and %s: flushed bytes at most', async (_, more, minutes, result) => {
    const server = await serve(whole);
    const directory = await temporaryDirectory();
    await plant(directory, server.url, { owner: here({ pid: 0x7ffffff, ...more }), minutes });
    const run = await startRun(server.url, { directory, uptime: () => 16 * 60 });
    expect(await run.save()).toMatchObject({ result, saved: result === 'resumed' ? FLUSHED : 0 });
    await expectWhole(directory);
  });
});

test('a run that can’t tell itself from a dead one takes none of its names: its record would be taken for its own', async () => {
  // As in containers without /proc, where every run has the same number.
  let names = async (): Promise<string[]> => [];
  let during: string[] = [];
  const server = await serve(async (socket, request) => {
    during = await names();
    whole(socket, request);
  });
  const directory = await temporaryDirectory();
  const serials = ['1', '2', '3', '4', '5'];
  const left = await Promise.all(serials.map((serial) => plant(directory, server.url, { owner: here(), serial })));
  for (const { part } of left) await rm(part);
  const run = await startRun(server.url, { directory });
  names = run.names;
  expect((await run.save()).result).toBe('downloaded');
  const records = left.map(({ names: [, record] }) => record);
  const [part = ''] = during.filter((name) => name.endsWith('.part'));
  expect(parsePartName(part)?.owner).toEqual(here());
  expect(records).not.toContain(part.replace(/part$/, 'resume'));
  expect((await run.names()).sort()).toEqual([...records, NAME].sort());
});

const isRoot = process.geteuid?.() === 0;

describe('what stands in the place of a record is checked', () => {
  test.each<[string, (resume: string) => Promise<unknown>]>([
    ['a FIFO', async (resume) => rm(resume).then(() => execFileSync('mkfifo', [resume]))],
    ['a link', async (resume) => rename(resume, `${resume}x`).then(() => symlink(`${resume}x`, resume))],
    ['a file of two names', async (resume) => link(resume, `${resume}x`)],
    ['a directory', async (resume) => rm(resume).then(() => mkdir(resume))],
    ['a file of 98 MB', async (resume) => writeFile(resume, Buffer.alloc(98_000_000, '\n'), { flag: 'a' })],
  ])('%s: it is of no use', async (_, change) => {
    const server = await serve(whole);
    const directory = await temporaryDirectory();
    const { resume } = await plant(directory, server.url, { owner: here({ pid: 0x7ffffff }) });
    await change(resume);
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'downloaded', saved: 0 });
    await expectWhole(directory);
  });

  test.skipIf(!isRoot)('another user’s: it is of no use', async () => {
    const server = await serve(whole);
    const directory = await temporaryDirectory();
    const { resume } = await plant(directory, server.url, { owner: here({ pid: 0x7ffffff }) });
    await chown(resume, 65534, 65534);
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'downloaded', saved: 0 });
    await expectWhole(directory);
  });

  test.skipIf(!isRoot)('another user’s part is neither used nor removed', async () => {
    const server = await serve(whole);
    const directory = await temporaryDirectory();
    const { part, names } = await plant(directory, server.url, { owner: here({ pid: 0x7ffffff }) });
    await chown(part, 65534, 65534);
    const run = await startRun(server.url, { directory });
    expect(await run.save()).toMatchObject({ result: 'downloaded', saved: 0 });
    expect((await run.names()).sort()).toEqual([...names, NAME].sort());
  });
});

/** A server that sends all but the last byte, and that when it is told. */
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
  const { part, resume } = namesOf(`.${NAME}.${ownerText(here())}.1`);
  const path = (name: string) => join(run.directory, name);
  const size = () =>
    stat(path(part)).then(
      (found) => found.size,
      () => 0,
    );
  while ((await size()) < FILE.length - 1) await new Promise((resolve) => setTimeout(resolve, 5));
  return { run, ended, part: path(part), resume: path(resume) };
}

describe('files beside a file go away', () => {
  test('a record that is gone when the file is complete costs nothing', async () => {
    const { server, goOn } = await paused();
    const { run, ended, resume } = await nearlyDone(server.url);
    await rm(resume);
    goOn();
    expect(await ended).toMatchObject({ result: 'downloaded', attempts: 1, bytes: FILE.length });
    await expectWhole(run.directory);
    expect(await run.names()).toEqual([NAME]);
  });

  test('a record that is gone when the service has another version: that one is fetched', async () => {
    const old = content(FILE.length);
    let cut = () => {};
    const server = await serve((socket, request) => {
      if (request.index > 0) return whole(socket, request);
      socket.write(head(200, { ETag: '"v0"', 'Content-Length': old.length }));
      socket.write(old.subarray(0, -1));
      cut = () => socket.destroy();
    });
    const { run, ended, resume } = await nearlyDone(server.url, { retries: 1 });
    await rm(resume);
    cut();
    expect(await ended).toMatchObject({ result: 'downloaded', attempts: 2, saved: 0 });
    await expectWhole(run.directory);
    expect(await run.names()).toEqual([NAME]);
  });

  test('a record that is gone when the run is broken off is written anew', async () => {
    const { server } = await paused();
    const interrupt = new AbortController();
    const directory = await temporaryDirectory();
    const { ended, resume } = await nearlyDone(server.url, { directory, signal: interrupt.signal });
    await rm(resume);
    interrupt.abort(new Error('stop'));
    await ended.catch(() => {});
    expect(await readFile(resume, 'utf8')).toMatch(/^\{"v":1,.*\}\n\{"flushed":2999999\}\n$/);
  });

  test.each([['without a hash'], ['with one']])(
    'a part that is gone: the file is fetched anew (%s)',
    async (hashed) => {
      const { server, goOn } = await paused();
      const sha256 =
        hashed === 'with one' ? execFileSync('sha256sum', { input: FILE }).toString().slice(0, 64) : undefined;
      const { run, ended, part } = await nearlyDone(server.url, {}, sha256);
      await rm(part);
      goOn();
      expect(await ended).toMatchObject({ result: 'downloaded', attempts: 2, bytes: FILE.length });
      await expectWhole(run.directory);
      expect(await run.names()).toEqual([NAME]);
    },
  );

  test('a part that is gone, and the file stands by now: it is skipped', async () => {
    const { server, goOn } = await paused();
    const { run, ended, part } = await nearlyDone(server.url);
    await rm(part);
    await writeFile(join(run.directory, NAME), FILE);
    goOn();
    expect(await ended).toMatchObject({ result: 'skipped', attempts: 1 });
  });

  test.each(['skip', 'overwrite'] as const)(
    'what stands in its place is never put under the final name (%s)',
    async (ifExists) => {
      const { server, goOn } = await paused();
      const { run, ended, part } = await nearlyDone(server.url, { ifExists });
      await rm(part);
      await writeFile(part, 'planted');
      goOn();
      expect(await ended).toMatchObject({ result: 'downloaded', attempts: 2 });
      await expectWhole(run.directory);
      expect(await readFile(part, 'utf8')).toBe('planted');
    },
  );
});

describe('heartbeats', () => {
  test('while nothing arrives, an open part is touched by the file system’s clock, flushed, and that is noted', async () => {
    const { server, goOn } = await paused();
    const { run, ended, part, resume } = await nearlyDone(server.url, { heartbeatMs: 10 });
    const noted = async () => (await readFile(resume, 'utf8')).includes('{"flushed":2999999}\n');
    while (!(await noted())) await new Promise((resolve) => setTimeout(resolve, 5));
    for (let round = 0; round < 3; round += 1) {
      await utimes(part, new Date(0), new Date(0));
      while ((await lstat(part)).mtimeMs === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const probe = join(run.directory, 'probe');
    await writeFile(probe, '');
    expect(Math.abs((await lstat(part)).mtimeMs - (await lstat(probe)).mtimeMs)).toBeLessThan(MINUTE);
    await rm(probe);
    goOn();
    expect((await ended).error).toBeUndefined();
    await expectWhole(run.directory);
    expect(await run.names()).toEqual([NAME]);
  });

  test('a run that starts while another machine’s lives leaves its part alone', async () => {
    const { server, goOn } = await paused();
    const { run, ended, part } = await nearlyDone(server.url, {
      heartbeatMs: 10,
      hostname: 'test',
      ifExists: 'overwrite',
    });
    await utimes(part, new Date(0), new Date(0));
    while ((await lstat(part)).mtimeMs === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const other = await startRun(server.url, { directory: run.directory, hostname: 'other', ifExists: 'overwrite' });
    expect(await other.save()).toMatchObject({ result: 'downloaded', saved: 0 });
    expect(existsSync(part)).toBe(true);
    goOn();
    expect(await ended).toMatchObject({ result: 'downloaded', attempts: 1 });
    await expectWhole(run.directory);
    expect(await run.names()).toEqual([NAME]);
  });
});
