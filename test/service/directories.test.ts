import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Directories } from '../../src/transfer/directories.ts';
import { framed } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';
import { bundled } from './checksums-processes.ts';
import { processInfo, startRun, temporaryDirectory } from './transfer-fixture.ts';

// Many directories below the one that the user named: none behind a link, made and flushed together.
const run = promisify(execFile);
const strace = await run('strace', ['-f', '-o', '/dev/null', 'true']).then(
  () => true,
  () => false,
);

/** Puts a file into each of some directories below one, some at a time, or finds it there, and says "saved N" of each. */
const PROGRAM = `
  import { lstatSync, writeSync } from 'node:fs';
  import { Directories } from './src/transfer/directories.ts';
  import { PartFile } from './src/transfer/part/part-file.ts';
  const [directory = '', count = '', jobs = '', final = ''] = process.argv.slice(2);
  const { pid, platform } = process;
  const directories = new Directories({ hostname: 'h', pid, platform, uid: process.geteuid?.(), isRunning: () => true, now: Date.now, random: Math.random });
  const identity = { base_url: 'http://h/', accession_no: 'a', file_name: final };
  const { signal } = new AbortController();
  const put = async (place) => {
    const there = lstatSync(place.directory.entry(final), { throwIfNoEntry: false });
    if (there) return place.directory.settle(there.ctimeMs);
    const part = await PartFile.open({ ...place, final, identity, ifExists: 'error', signal });
    await part.begin({ validator: undefined, total: 1, address: undefined });
    await part.write([Buffer.from('x')]);
    await part.finish();
  };
  const folders = Array.from({ length: Number(count) }, (_, index) => 'year/f' + index).values();
  const work = async () => {
    for (const below of folders) {
      await put(await directories.at({ directory, below, make: true }));
      writeSync(1, 'saved ' + below + '.\\n');
    }
  };
  await Promise.all(Array.from({ length: Number(jobs) }, work));
`;
let program = '';

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'filings-directories-'));
  program = await bundled(folder, 'put', PROGRAM);
  return () => rm(folder, { recursive: true, force: true });
});

const directoriesHere = () => new Directories(processInfo());

test('2,000 directories under ulimit -n 200', async () => {
  const directory = await temporaryDirectory();
  const line = `ulimit -n 200 && exec ${process.execPath} ${program} ${directory} 2000 16 a`;
  const { stdout } = await run('sh', ['-c', line]);
  expect(stdout.match(/saved/g)).toHaveLength(2000);
  expect(readdirSync(join(directory, 'year'))).toHaveLength(2000);
});

test('one that could not be had is tried again', async () => {
  const directory = await temporaryDirectory();
  const directories = directoriesHere();
  const where = { directory, below: 'a/b', make: false };
  await expect(directories.at(where)).rejects.toMatchObject({ code: 'local_io' });
  await mkdir(join(directory, 'a', 'b'), { recursive: true });
  expect((await directories.at(where)).directory.path).toBe(join(directory, 'a/b'));
});

describe('what is in the way below the directory that was named', () => {
  test.each<[string, string, (path: string, elsewhere: string) => Promise<unknown>]>([
    ['a link in the place of a directory', 'acc', (path, elsewhere) => symlink(elsewhere, path)],
    ['a link on the way to it', 'acc/deep', (path, elsewhere) => symlink(elsewhere, path)],
    ['a link that leads nowhere', 'acc', (path) => symlink('nowhere', path)],
    ['a file', 'acc', (path) => writeFile(path, '')],
  ])('%s: refused, for that one alone', async (_, below, plant) => {
    const [directory, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
    await plant(join(directory, 'acc'), elsewhere);
    const directories = directoriesHere();
    const refused = await directories.at({ directory, below, make: true }).catch((error) => error);
    expect(refused).toMatchObject({ code: 'local_io', stopsRun: false });
    expect(refused.message).toMatch(/^\/.*\/acc: cannot write there: it is (a link|no directory)$/);
    expect(readdirSync(elsewhere)).toEqual([]);
    await directories.at({ directory, below: 'other', make: true });
  });

  test('links to the directory that was named are the user’s own', async () => {
    const [directory, folder] = [await temporaryDirectory(), await temporaryDirectory()];
    const named = join(folder, 'link');
    await symlink(directory, named);
    await directoriesHere().at({ directory: named, below: 'a', make: true });
    expect(readdirSync(directory)).toEqual(['a']);
  });
});

test('a file of a batch: into a new directory, skipped there, refused behind a link', async () => {
  const [directory, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
  const server = await startScripted((socket) => void socket.end(framed(Buffer.from('bytes'), 'length').bytes));
  onTestFinished(() => server.close());
  const below = 'year/acc';
  expect(await (await startRun(server.url, { directory, below })).save()).toMatchObject({ result: 'downloaded' });
  const again = await startRun(server.url, { directory, below });
  expect(await again.save()).toMatchObject({ result: 'skipped', bytes: 5, attempts: 0 });
  expect(await readFile(join(directory, below, 'primary.htm'), 'utf8')).toBe('bytes');
  await symlink(elsewhere, join(directory, 'link'));
  const refused = await (await startRun(server.url, { directory, below: 'link' })).save();
  expect(refused).toMatchObject({ result: 'failed', attempts: 0, error: { code: 'local_io', stopsRun: false } });
  expect([readdirSync(elsewhere), server.requests.length]).toEqual([[], 1]);
});

describe('making them', () => {
  test('several processes at once: each is made, nobody fails', async () => {
    const directory = await temporaryDirectory();
    const several = ['a', 'b', 'c'].map((name) => run(process.execPath, [program, directory, '200', '8', name]));
    await Promise.all(several);
    const folders = readdirSync(join(directory, 'year'));
    expect(folders).toHaveLength(200);
    for (const folder of folders) expect(readdirSync(join(directory, 'year', folder)).sort()).toEqual(['a', 'b', 'c']);
  });

  test.runIf(strace)('the entry of each is flushed before its file is saved, many by one flush (strace)', async () => {
    const directory = await temporaryDirectory();
    const log = join(await temporaryDirectory(), 'log');
    const calls = ['-f', '-y', '-s', '100', '-o', log, '-e', 'trace=mkdir,fsync,write'];
    const injected = ['-e', 'inject=fsync:delay_enter=100000'];
    await run('strace', [...calls, ...injected, process.execPath, program, directory, '96', '32', 'a']);
    const { made, flushes, unflushed } = readLog(await readFile(log, 'utf8'), join(directory, 'year'));
    expect([made, unflushed]).toEqual([96, []]);
    expect(flushes).toBeGreaterThan(0);
    expect(flushes).toBeLessThan(48);
  });

  test.runIf(strace)('one whose entry can’t be flushed: its file is not saved (strace)', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'year'));
    const path = ['-P', join(directory, 'year'), '-e', 'inject=fsync:error=EIO'];
    const all = ['-f', '-o', '/dev/null', '-e', 'trace=fsync', ...path];
    const ended = await run('strace', [...all, process.execPath, program, directory, '1', '1', 'a']).catch(
      (error) => error,
    );
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toContain('the disk reported an error');
  });
});

describe.runIf(strace)('what another run made is on disk before it is passed over (strace)', () => {
  const TEN_MINUTES = 600_000;
  /** Flushes while a run passes over what another one has made, so long ago. */
  async function flushes(ago: number): Promise<number> {
    const directory = await temporaryDirectory();
    await run(process.execPath, [program, directory, '8', '1', 'a']);
    const then = new Date(Date.now() - ago);
    const folders = readdirSync(join(directory, 'year')).map((name) => `year/${name}`);
    for (const folder of [...folders, 'year', '.']) await utimes(join(directory, folder), then, then);
    const log = join(await temporaryDirectory(), 'log');
    await run('strace', [
      '-f',
      '-y',
      '-o',
      log,
      '-e',
      'trace=fsync',
      process.execPath,
      program,
      directory,
      '8',
      '1',
      'a',
    ]);
    return (await readFile(log, 'utf8')).split('\n').filter((line) => line.includes(`<${directory}`)).length;
  }

  test('a young one once, with the one that it is in', async () => {
    expect(await flushes(3000)).toBe(10);
  });

  test('one that is long there not at all', async () => {
    expect(await flushes(TEN_MINUTES + 1000)).toBe(0);
  });
});

/** How many directories were made in one, how often it was flushed, and what was saved without having been flushed. */
function readLog(log: string, parent: string) {
  const waiting = new Set<string>();
  const inFlight = new Map<string, Set<string>>();
  const flushed = new Set<string>();
  const unflushed: string[] = [];
  let [made, flushes] = [0, 0];
  for (const line of log.split('\n')) {
    const [pid = ''] = line.split(' ');
    const folder = /mkdir\(".*\/(f\d+)"/.exec(line)?.[1];
    const saved = /"saved year\/(f\d+)\./.exec(line)?.[1];
    if (folder !== undefined) {
      made += 1;
      waiting.add(folder);
    }
    if (line.includes(`fsync(`) && line.includes(`<${parent}>`)) {
      flushes += 1;
      inFlight.set(pid, new Set(waiting));
    }
    if (/fsync.*= 0/.test(line)) for (const done of inFlight.get(pid) ?? []) flushed.add(done);
    if (/fsync.*= 0/.test(line)) inFlight.delete(pid);
    if (saved !== undefined && !flushed.has(saved)) unflushed.push(saved);
  }
  return { made, flushes, unflushed };
}
