import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { readReport } from '../program/batch.ts';
import { accession, type Filings, type Instead, startArchive } from '../servers/archive.ts';
import { test as base, type Workplace } from './program.ts';

// A line of a report or a done list is true even after a power cut: all that it claims was flushed before it was
// written. Here the program writes a log of its calls; test/prove/power-cut cuts the power.

/** A system call that changes the disk, or flushes. Its times are steps of one clock. */
interface Call {
  readonly name: 'mkdir' | 'link' | 'write' | 'flush';
  readonly path: string;
  /** The bytes that were written. */
  readonly text: string;
  readonly began: number;
  /** Undefined if the call has failed, or had not returned at the end of the program. */
  readonly ended?: number;
}

/** Writes the log to $CALLS at the end. */
const WATCHED = `const fs = require('node:fs');
const { writeFileSync } = fs;
const [calls, paths] = [[], new Map()];
let clock = 0;
const begin = (name, path, text = '') => {
  const call = { name, path: String(path), text, began: clock++ };
  calls.push(call);
  return () => { call.ended = clock++; };
};
// Each gives what notes the end of a call, with its result.
const WATCH = {
  open: (path) => (fd) => paths.set(fd, path),
  mkdir: (path) => begin('mkdir', path),
  link: (_, to) => begin('link', to),
  rename: (_, to) => begin('link', to),
  fsync: (fd) => begin('flush', paths.get(fd)),
  write: (fd, bytes) => begin('write', paths.get(fd), String(bytes)),
  writev: (fd, chunks) => begin('write', paths.get(fd)),
};
// Proxies, since util.promisify() looks for symbols of these functions.
const watch = (object, name, apply) => { object[name] = new Proxy(object[name], { apply }); };
for (const [name, seen] of Object.entries(WATCH)) {
  if (fs[name + 'Sync']) watch(fs, name + 'Sync', (call, self, args) => {
    const end = seen(...args);
    const result = call(...args);
    end(result);
    return result;
  });
  watch(fs, name, (call, self, args) => {
    const [end, done] = [seen(...args), args.pop()];
    setImmediate(call, ...args, (error, ...results) => {
      if (!error) end(...results);
      done(error, ...results);
    });
  });
}
for (const name of ['mkdir', 'rename']) watch(fs.promises, name, async (call, self, args) => {
  const end = WATCH[name](...args);
  const result = await call(...args);
  end(result);
  return result;
});
watch(fs.promises, 'open', async (call, self, [path, ...rest]) => {
  const handle = await call(path, ...rest);
  watch(handle, 'sync', async (sync) => {
    const end = begin('flush', path);
    await sync.call(handle);
    end();
  });
  return handle;
});
process.on('exit', () => writeFileSync(process.env.CALLS, JSON.stringify(calls)));`;

const [A, B, C] = [accession(1), accession(2), accession(3)];
const FILINGS: Filings = {
  [A]: { 'ex1.htm': 'one', 'ex2.htm': 'x'.repeat(70_000), 'primary.htm': 'a' },
  [B]: { 'ex1.htm': 'other', 'ex2.htm': '' },
  [C]: { 'ex.htm': 'third' },
};
const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
/** The README's mirror of many filings, as it is written. */
const MIRROR = /^filings (download -i accessions\.txt .*--checksums.*)$/m.exec(README)?.[1] ?? '';
const [DONE, REPORT] = ['mirror.done', 'mirror.jsonl'];

/** The calls of a run, in their order. */
function logOf(calls: readonly Call[]) {
  /** Calls of one kind on a path. */
  const on = (name: Call['name'], path: string) => calls.filter((call) => call.name === name && call.path === path);
  return {
    calls,
    on,
    /** Expects a flush of a path that begins after one call and ends before another begins. Returns that flush. */
    expectFlushed(path: string, after: Call | undefined, before: Call): Call | undefined {
      const isBetween = ({ began, ended = Number.POSITIVE_INFINITY }: Call) =>
        began > (after?.ended ?? -1) && ended < before.began;
      const flush = on('flush', path).find(isBetween);
      expect(flush, `${path} is flushed before ${before.text}`).toBeDefined();
      return flush;
    },
    /** Returns the write of a line that has a text. */
    writeOf(path: string, text: string): Call {
      const write = on('write', path).find((call) => call.text.includes(text));
      expect(write, `${path} has ${text}`).toBeDefined();
      return write as Call;
    },
  };
}

/**
 * Runs the mirror's command line in the workplace, or one like it. Returns the log of its run. While
 * `primary.htm` is requested, another run puts a file there.
 */
const test = base.extend('mirror', async ({ place }: { place: Workplace }) => {
  const instead: Instead = (_, { name }) => {
    if (name === 'primary.htm') writeFileSync(place.at(name), 'of another run');
    return false;
  };
  const archive = await startArchive(FILINGS, { instead });
  await place.write('accessions.txt', `${A}\n${B}\n${C}\n`);
  const log = join(place.home, 'calls.json');
  const env = { ...archive.env, ...(await place.hook(WATCHED)), CALLS: log };
  return async (more = '', line = MIRROR) => {
    const { exitCode, stderr } = await place.shell(`$FILINGS ${line} ${more}`, env);
    expect(exitCode, stderr).toBe(0);
    const calls = JSON.parse(readFileSync(log, 'utf8')) as Call[];
    return logOf(calls.map((call) => ({ ...call, path: call.path.replace(/\/\.?$/, '') })));
  };
});

/** Each file that the mirror downloads: its filing, folder and name, and its line in the report. */
function chosen({ at }: Workplace, { writeOf }: ReturnType<typeof logOf>) {
  return Object.entries(FILINGS).flatMap(([number, files]) => {
    const names = Object.keys(files).filter((name) => name.startsWith('ex'));
    return names.map((name) => {
      const line = writeOf(at(REPORT), `"mirror/${number}/${name}"`);
      return { number, folder: at(`mirror/${number}`), name, line };
    });
  });
}

/** Expects that of each filing the checksums are flushed, and the report's lines are written, before its done line. */
function expectDoneLast(log: ReturnType<typeof logOf>, place: Workplace, done: string, isNew = true): void {
  for (const { number, folder, line } of chosen(place, log)) {
    const doneLine = log.writeOf(place.at(done), number);
    const writes = log.on('write', `${folder}/SHA256SUMS`);
    log.expectFlushed(`${folder}/SHA256SUMS`, writes.at(-1), doneLine);
    // The name of a new SHA256SUMS, too.
    log.expectFlushed(folder, isNew ? writes[0] : undefined, doneLine);
    expect(line.ended).toBeLessThan(doneLine.began);
  }
}

test('keygen flushes each new key, and then its name', async ({ place, mirror }) => {
  const log = await mirror('', 'token keygen --alg ES256 --out key.pem --public key.pub');
  const flushes = log.calls.filter(({ name }) => name === 'flush').map(({ path }) => path.slice(place.path.length));
  expect(flushes).toEqual(['/key.pem', '', '/key.pub', '']);
});

test('config set flushes new directories before the file gets its name', async ({ place, mirror }) => {
  const log = await mirror('', 'config set jobs 8');
  const folders = ['.config', '.config/filings'].map((name) => join(place.home, name));
  const [named] = log.on('link', `${folders[1]}/config.json`) as [Call];
  for (const folder of folders) log.expectFlushed(dirname(folder), log.on('mkdir', folder)[0], named);
});

const results = async (place: Workplace) => readReport(await place.read(REPORT)).files.map(({ result }) => result);

describe('the mirror of the README', () => {
  test('writes a line of its books after the flushes of all that the line claims', async ({ place, mirror }) => {
    const { at, path } = place;
    const log = await mirror();
    expect(await results(place)).toEqual(Array(5).fill('downloaded'));
    expectDoneLast(log, place, DONE);
    for (const { folder, name, line } of chosen(place, log)) {
      const [named] = log.on('link', `${folder}/${name}`) as [Call];
      const isPart = (call: Call) => call.path.startsWith(`${folder}/.${name}.`) && call.began < named.began;
      const part = log.calls.findLast(isPart);
      expect(part).toMatchObject({ name: 'flush' });
      const entry = log.writeOf(`${folder}/SHA256SUMS`, `  ${name}`);
      expect(part?.ended).toBeLessThan(entry.began);
      log.expectFlushed(`${folder}/SHA256SUMS`, entry, named);
      log.expectFlushed(folder, named, line);
      log.expectFlushed(at('mirror'), log.on('mkdir', folder)[0], line);
      log.expectFlushed(path, log.on('mkdir', at('mirror'))[0], line);
    }
  });

  test('flushes all new directories above its own before the first line of its report', async ({ place, mirror }) => {
    const log = await mirror('', MIRROR.replace(' mirror ', ' deep/down/mirror '));
    const line = log.writeOf(place.at(REPORT), 'ex1.htm');
    for (const folder of ['deep', 'deep/down', 'deep/down/mirror'].map(place.at))
      log.expectFlushed(dirname(folder), log.on('mkdir', folder)[0], line);
  });

  test('flushes its failed list before that gets its name, and the directory after', async ({ place, mirror }) => {
    const log = await mirror('--failed failed');
    const [named] = log.on('link', place.at('failed')) as [Call];
    const flush = log.calls.find((call) => call.name === 'flush' && call.path.startsWith(place.at('.failed.')));
    expect(flush?.ended).toBeLessThan(named.began);
    expect(log.on('flush', place.path).at(-1)?.began).toBeGreaterThan(Number(named.ended));
  });

  test('flushes a new checksum before its file has its name, and comments after', async ({ place, mirror }) => {
    await mirror();
    const sums = place.at(`mirror/${A}/SHA256SUMS`);
    await place.write(sums, `${await place.read(sums)}`.replace(/^[\da-f]{64} {2}ex1/m, `${'0'.repeat(64)}  ex1`));
    const log = await mirror('--done anew --if-exists overwrite');
    const [named] = log.on('link', place.at(`mirror/${A}/ex1.htm`)) as [Call];
    log.expectFlushed(sums, log.writeOf(sums, '  ex1.htm'), named);
    log.expectFlushed(dirname(sums), named, log.writeOf(sums, '#'));
  });

  test('flushes the name of a file that another run has put there during the download', async ({ place, mirror }) => {
    const log = await mirror('', `download ${A} ex1.htm primary.htm --if-exists skip -j 1 --report ${REPORT}`);
    expect(await results(place)).toEqual(['downloaded', 'skipped']);
    const written = log.calls.findLast(({ path }) => path.startsWith(place.at('.primary.htm.')));
    log.expectFlushed(place.path, written, log.writeOf(place.at(REPORT), 'primary.htm'));
  });

  test('flushes its checksums before it ends, without a done list, too', async ({ place, mirror }) => {
    const log = await mirror('', 'download -i accessions.txt --all --checksums');
    for (const number of [A, B, C]) {
      const sums = place.at(`${number}/SHA256SUMS`);
      const written = Number(log.on('write', sums).at(-1)?.ended);
      expect(log.on('flush', sums).at(-1)?.began).toBeGreaterThan(written);
    }
  });

  test('takes a lost filing from its done list before it downloads it again', async ({ place, mirror }) => {
    await mirror();
    await rm(place.at(`mirror/${A}`), { recursive: true });
    const log = await mirror();
    const [made] = log.on('mkdir', place.at(`mirror/${A}`)) as [Call];
    log.expectFlushed(place.at(DONE), log.writeOf(place.at(DONE), A), made);
  });

  // A file that another run has just named may not be on disk.
  test.for([
    { how: 'and lists nothing anew', unlisted: [], line: MIRROR },
    { how: 'and lists it', unlisted: [A, B, C], line: MIRROR },
    { how: 'without checksums', unlisted: [], line: MIRROR.replace(' --checksums', '') },
  ])('skips a file after the flushes of all that has just changed, $how', async (row, { place, mirror }) => {
    const { unlisted, line } = row;
    await mirror();
    for (const number of unlisted) await rm(place.at(`mirror/${number}/SHA256SUMS`));
    await place.write(REPORT, '');
    const log = await mirror('--done anew', line);
    expect(await results(place)).toEqual(Array(5).fill('skipped'));
    if (line === MIRROR) expectDoneLast(log, place, 'anew', unlisted.length > 0);
    for (const { folder, line } of chosen(place, log))
      for (const flushed of [folder, place.at('mirror'), place.path]) log.expectFlushed(flushed, undefined, line);
  });
});
