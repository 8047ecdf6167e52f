import { execFile } from 'node:child_process';
import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { link, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { GatheredFile } from '../../src/disk/gathered-file.ts';
import { Places } from '../../src/transfer/places.ts';
import { partNames } from '../../src/transfer/sinks/part/part-name.ts';
import { framed } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';
import { bundled } from './checksums-processes.ts';
import { startRun, temporaryDirectory, tenant } from './transfer-fixture.ts';

// Many directories below the one that the user named: few open, none behind a link, made and flushed together.
const run = promisify(execFile);
const strace = await run('strace', ['-f', '-o', '/dev/null', 'true']).then(
  () => true,
  () => false,
);
const linux = process.platform === 'linux';

/** Puts a file into each of some directories below one, some at a time, and says "saved N" of each. */
const PROGRAM = `
  import { writeSync } from 'node:fs';
  import { uptime } from 'node:os';
  import { Places } from './src/transfer/places.ts';
  import { PartFile } from './src/transfer/sinks/part/part-file.ts';
  const [directory = '', count = '', jobs = '', name = ''] = process.argv.slice(2);
  const { pid, platform } = process;
  const isRunning = () => true;
  const places = new Places({ hostname: 'h', pid, platform, uid: process.geteuid?.(), root: undefined, isRunning, uptime, now: Date.now, monotonic: () => performance.now() });
  const identity = { base_url: 'http://h/', accession_no: 'a', file_name: name };
  const { signal } = new AbortController();
  const put = async (place) => {
    const nextSerial = () => places.nextSerial();
    await place.leftovers.claim(name, identity);
    const part = await PartFile.create({ ...place, final: name, owner: places.owner, uid: places.uid, nextSerial, identity });
    await part.begin(undefined, 1);
    await part.write([Buffer.from('x')]);
    await part.commit({ exclusive: true }, signal);
  };
  const folders = Array.from({ length: Number(count) }, (_, index) => 'year/f' + index).values();
  const work = async () => {
    for (const below of folders) {
      await places.use({ directory, below, make: true }, put);
      writeSync(1, 'saved ' + below + '.\\n');
    }
  };
  await Promise.all(Array.from({ length: Number(jobs) }, work));
  await places.close();
`;
let program = '';

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'filings-places-'));
  program = await bundled(folder, 'put', PROGRAM);
  return () => rm(folder, { recursive: true, force: true });
});

function placesHere(): Places {
  const places = new Places(tenant());
  onTestFinished(() => places.close());
  return places;
}

function openBelow(directory: string): number {
  const isBelow = (fd: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(directory);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc/self/fd').filter(isBelow).length;
}

describe('how many are open', () => {
  test('1,000 directories under ulimit -n 400', async () => {
    const directory = await temporaryDirectory();
    const line = `ulimit -n 400 && exec ${process.execPath} ${program} ${directory} 1000 16 a`;
    const { stdout } = await run('sh', ['-c', line]);
    expect(stdout.match(/saved/g)).toHaveLength(1000);
    expect(readdirSync(join(directory, 'year'))).toHaveLength(1000);
  });

  test.runIf(linux)('at most 256, used last; those in use stay, and what was closed is opened again', async () => {
    const directory = await temporaryDirectory();
    const places = placesHere();
    const make = true;
    await places.use({ directory, below: 'kept', make }, async (kept) => {
      for (let index = 0; index < 400; index += 1) {
        const where = { directory, below: `f${index}`, make };
        await places.use(where, async (place) => writeFile(place.directory.entry('a'), `${index}`));
      }
      expect(openBelow(directory)).toBe(256);
      await writeFile(kept.directory.entry('a'), 'kept');
    });
    expect(await readFile(join(directory, 'kept', 'a'), 'utf8')).toBe('kept');
    const first = { directory, below: 'f0', make: false };
    expect(await places.use(first, (place) => readFile(place.directory.entry('a'), 'utf8'))).toBe('0');
    expect(openBelow(directory)).toBe(256);
  });

  test.runIf(linux)('all that work at once, if those are more; no more than 256 when they have ended', async () => {
    const directory = await temporaryDirectory();
    const places = placesHere();
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let working = 0;
    const all = Array.from({ length: 300 }, (_, index) =>
      places.use({ directory, below: `f${index}`, make: true }, async () => {
        working += 1;
        if (working === 300) end();
        await ended;
      }),
    );
    await ended;
    expect(openBelow(directory)).toBeGreaterThanOrEqual(300);
    await Promise.all(all);
    await places.use({ directory, below: 'f0', make: false }, async () => {});
    while (openBelow(directory) > 256) await new Promise((resolve) => setImmediate(resolve));
    await places.close();
    expect(openBelow(directory)).toBe(0);
  });

  test('one that could not be had is tried again', async () => {
    const directory = await temporaryDirectory();
    const places = placesHere();
    const where = { directory, below: 'a/b', make: false };
    await expect(places.use(where, async () => {})).rejects.toMatchObject({ code: 'local_io' });
    await mkdir(join(directory, 'a', 'b'), { recursive: true });
    expect(await places.use(where, async () => 'there')).toBe('there');
  });
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
    const places = placesHere();
    const refused = await places.use({ directory, below, make: true }, async () => {}).catch((error) => error);
    expect(refused).toMatchObject({ code: 'local_io', stopsRun: false });
    expect(refused.message).toMatch(/^\/.*\/acc: cannot write there: it is (a link|no directory)$/);
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(await places.use({ directory, below: 'other', make: true }, async () => 'fine')).toBe('fine');
  });

  test('links to the directory that was named are the user’s own', async () => {
    const [directory, folder] = [await temporaryDirectory(), await temporaryDirectory()];
    const named = join(folder, 'link');
    await symlink(directory, named);
    await placesHere().use({ directory: named, below: 'a', make: true }, async () => {});
    expect(readdirSync(directory)).toEqual(['a']);
  });

  test.runIf(linux)(
    'a link put in the place of a directory while it is closed, or in the named one’s place',
    async () => {
      const [folder, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
      const directory = join(folder, 'named');
      await mkdir(directory);
      const places = placesHere();
      const make = true;
      await places.use({ directory, below: 'acc', make }, async () => {});
      for (let index = 0; index < 256; index += 1) {
        await places.use({ directory, below: `year/f${index}`, make }, async () => {});
      }
      await rename(join(directory, 'acc'), join(directory, 'moved'));
      await symlink(elsewhere, join(directory, 'acc'));
      await rename(directory, join(folder, 'old'));
      await symlink(elsewhere, directory);
      await expect(places.use({ directory, below: 'acc', make }, async () => {})).rejects.toThrow('it is a link');
      await places.use({ directory, below: 'new', make }, async () => {});
      expect(readdirSync(elsewhere)).toEqual([]);
      expect(readdirSync(join(folder, 'old'))).toContain('new');
    },
  );
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

  test('several runs at the same moment: one of them makes it, the others take it as it is', async () => {
    const directory = await temporaryDirectory();
    const several = Array.from({ length: 4 }, placesHere);
    for (let index = 0; index < 20; index += 1) {
      const where = { directory, below: `f${index}`, make: true };
      const made = several.map((places) => places.use(where, async (place) => place.directory.isNew));
      expect((await Promise.all(made)).filter((isNew) => isNew)).toHaveLength(1);
    }
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

describe('what earlier runs left', () => {
  const NAME = 'a.htm';
  const identity = { base_url: 'http://h/', accession_no: 'a', file_name: NAME };

  /** A directory with so many other entries, a finished file, and the name of a dead run's part. */
  async function crowded(others = 1500) {
    const directory = await temporaryDirectory();
    for (let index = 0; index < others; index += 1) await writeFile(join(directory, `other${index}`), '');
    await writeFile(join(directory, NAME), 'x');
    const places = placesHere();
    const deadPart = (name: string) => partNames(name, { ...places.owner, pid: 1, started: '1' }, '1').part;
    const part = join(directory, deadPart(NAME));
    const place = await places.at(directory, false);
    const sweep = () => place.leftovers.sweepBeside(NAME, lstatSync(join(directory, NAME)));
    return { directory, part, place, deadPart, sweep };
  }
  const isThere = (path: string) => readdirSync(dirname(path)).includes(path.slice(dirname(path).length + 1));

  test('in a directory of many entries, a file that is there is reason to look when it has a second name', async () => {
    const { directory, part, sweep } = await crowded();
    await writeFile(part, 'x');
    await sweep();
    expect(isThere(part)).toBe(true);
    await rm(part);
    await link(join(directory, NAME), part);
    await sweep();
    expect(isThere(part)).toBe(false);
  });

  test('so is a file that is fetched; it is read once', async () => {
    const { directory, part, place, deadPart } = await crowded();
    await writeFile(part, 'x');
    expect(await place.leftovers.claim(NAME, identity)).toBeUndefined();
    expect(isThere(part)).toBe(false);
    const later = join(directory, deadPart('b.htm'));
    await writeFile(later, 'x');
    await place.leftovers.claim('b.htm', identity);
    expect(isThere(later)).toBe(true);
  });

  test('one of few entries is read for any file that is there', async () => {
    const { directory, sweep, part } = await crowded(3);
    await writeFile(part, 'x');
    await sweep();
    expect(readdirSync(directory).sort()).toEqual([NAME, 'other0', 'other1', 'other2']);
  });

  test('a new one is not read: nobody has left anything in it', async () => {
    const directory = await temporaryDirectory();
    const { deadPart } = await crowded(0);
    await placesHere().use({ directory, below: 'new', make: true }, async (place) => {
      const part = join(directory, 'new', deadPart(NAME));
      await writeFile(part, 'x');
      await place.leftovers.claim(NAME, identity);
      expect(isThere(part)).toBe(true);
    });
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
    const folder = /mkdir\("\/proc\/self\/fd\/\d+\/(f\d+)"/.exec(line)?.[1];
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

test('what is made to tell the time in a directory is gone before that is closed', async () => {
  const path = await temporaryDirectory();
  const places = new Places(tenant({ heartbeatMs: 1 }));
  const { directory, heartbeat, leftovers } = await places.at(path, false);
  const { handle } = await directory.create(leftovers.partNamesFor('kept'), 0o600);
  const file = GatheredFile.over(handle);
  const nextName = leftovers.partNamesFor('probed');
  // Asked for its name, the file is about to be made.
  await new Promise<void>((resolve) => {
    heartbeat.add(file, () => {
      resolve();
      return nextName();
    });
  });
  heartbeat.remove(file);
  await places.close();
  await file.close();
  expect(readdirSync(path)).toEqual([expect.stringContaining('.kept.')]);
});
