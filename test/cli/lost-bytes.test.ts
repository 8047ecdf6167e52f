import type { Stats } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { head, sendFile, whole } from '../servers/answers.ts';
import { type SeenRequest, scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, type Running, serviceAt, until, type Workplace, workplace } from './program.ts';

// A disk may lose bytes of a failed flush. A run cannot see the loss, so later runs must not resume these files.

const NAMES = ['a.htm', 'b.htm', 'c.htm', 'd.htm'];
const FILES = new Map(NAMES.map((name) => [name, content(2_000_000)]));
const GET = ['download', ACCESSION, ...NAMES, '-j', '4', '--retries', '0', '--failed', '../failed'];

/** The calls of one kind that fail, counted from 1. A failed flush of a file also zeroes its first page. */
interface Fault {
  readonly call:
    | 'flush'
    | 'end of a flush'
    | 'flush of a directory'
    | 'write of the last byte'
    | 'write of a record'
    | 'write of the failed list';
  readonly first: number;
  readonly last: number;
}

const FAILING_DISK = `const fs = require('node:fs');
const { open, writeFile } = fs.promises;
const fault = JSON.parse(process.env.FAULT);
let calls = 0;
const fails = (call) => call === fault.call && ++calls >= fault.first && calls <= fault.last;
const error = (syscall) => Object.assign(new Error('EIO'), { code: 'EIO', errno: -5, syscall });
const { fsync, writev, writevSync } = fs;
fs.fsync = (fd, done) => {
  if (fails('end of a flush')) {
    process.stderr.write('a flush hangs\\n');
    return setInterval(() => {}, 1000);
  }
  if (!fails('flush')) return fsync(fd, done);
  fs.writeSync(fd, Buffer.alloc(4096), 0, 4096, 0);
  setImmediate(() => done(error('fsync')));
};
fs.promises.open = async (path, flags, ...rest) => {
  const handle = await open(path, flags, ...rest);
  const isDirectory = (flags & fs.constants.O_DIRECTORY) !== 0;
  if (isDirectory && fails('flush of a directory')) handle.sync = async () => { throw error('fsync'); };
  const isFailedList = String(path).includes('/failed.');
  if (isFailedList && fails('write of the failed list')) handle.writeFile = async () => { throw error('write'); };
  return handle;
};
fs.promises.writeFile = async (path, ...rest) => {
  if (String(path).endsWith('.resume') && fails('write of a record')) throw error('write');
  return writeFile(path, ...rest);
};
const failsAtLastByte = ([chunk]) => chunk.length === 1 && fails('write of the last byte');
fs.writevSync = (fd, chunks, position) => {
  if (failsAtLastByte(chunks)) throw error('write');
  return writevSync(fd, chunks, position);
};
// Must be a proxy, because util.promisify() looks for a symbol of this function.
fs.writev = new Proxy(writev, {
  apply(_, self, [fd, chunks, position, done]) {
    if (!failsAtLastByte(chunks)) return writev(fd, chunks, position, done);
    setImmediate(() => done(error('write')));
  },
});`;

/** A service that sends all but the last byte of each file, until the test ends the response. */
async function startService() {
  const ends = new Map<string, { finish(): void; cut(): void }>();
  let isGood = false;
  const waiting: (() => void)[] = [];
  const server = await scripted(async (socket, request) => {
    const name = nameIn(request);
    const body = FILES.get(name) as Buffer;
    if (isGood) {
      // Answers when all files are requested: each part has been claimed by then.
      await new Promise<void>((answer) => {
        waiting.push(answer);
        if (waiting.length === NAMES.length) for (const each of waiting) each();
      });
      return sendFile(socket, request, body, '"v1"');
    }
    socket.write(head(200, { 'Content-Length': body.length, ETag: '"v1"' }));
    socket.write(body.subarray(0, -1));
    ends.set(name, { finish: () => socket.write(body.subarray(-1)), cut: () => socket.destroy() });
  });
  return {
    env: serviceAt(server.url),
    finish: (name: string) => ends.get(name)?.finish(),
    cut: (name: string) => ends.get(name)?.cut(),
    recover() {
      isGood = true;
    },
    /** The ranges of the requests since `recover`. */
    ranges: () => server.requests.slice(NAMES.length).map(({ headers }) => headers.range),
  };
}

type Service = Awaited<ReturnType<typeof startService>>;

const nameIn = ({ path }: SeenRequest) => new URL(path, 'http://service').searchParams.get('file_name') ?? '';

/** An environment in which the program runs on a failing disk. */
async function failing({ home }: Workplace, fault: Fault) {
  const hook = join(home, 'failing-disk.cjs');
  await writeFile(hook, FAILING_DISK);
  return { NODE_OPTIONS: `--require ${hook}`, FAULT: JSON.stringify(fault) };
}

const partsIn = async (place: Workplace) => (await place.names()).filter((name) => name.startsWith('.'));

/** Waits until the program has written all but the last byte of each file after the time `since`. */
async function haveParts(place: Workplace, since = 0): Promise<void> {
  await until(async () => {
    const parts = (await partsIn(place)).filter((name) => name.endsWith('.part'));
    const stats = await Promise.all(parts.map((name) => stat(join(place.path, name)).catch(() => undefined)));
    const isWritten = (each: Stats | undefined) => each?.size === 1_999_999 && each.mtimeMs > since;
    return stats.length === NAMES.length && stats.every(isWritten);
  });
}

/** Runs the program again. Fails unless it requests complete files and gets them. */
async function expectFreshFiles(place: Workplace, service: Service, env = {}): Promise<void> {
  service.recover();
  const { exitCode, stderr } = await place.filings([...GET, '-q'], { ...service.env, ...env });
  expect([exitCode, stderr]).toEqual([0, '']);
  for (const [name, body] of FILES) expect([name, (await place.read(name)).equals(body)]).toEqual([name, true]);
  expect(await place.names()).toEqual(NAMES);
  expect(service.ranges()).toEqual(NAMES.map(() => undefined));
}

type Act = (service: Service, running: Running) => unknown;
const finish: Act = (service) => service.finish('a.htm');
const stop: Act = (_, running) => running.kill('SIGTERM');
const ALL = { first: 1, last: 99 };

test.each<[string, Fault, number, Act]>([
  ['each flush fails', { call: 'flush', ...ALL }, 8, finish],
  ['the flush of one file fails', { call: 'flush', first: 1, last: 1 }, 8, finish],
  ['the flush of the directory fails', { call: 'flush of a directory', ...ALL }, 8, finish],
  ['a write fails', { call: 'write of the last byte', ...ALL }, 8, finish],
  ['each flush fails after a signal', { call: 'flush', ...ALL }, 143, stop],
  ['the last flush fails after a signal', { call: 'flush', first: 4, last: 4 }, 143, stop],
  // Each record is written once before the first byte and once when its part is kept.
  ['a record cannot be written again', { call: 'write of a record', first: 8, last: 8 }, 143, stop],
  [
    'a flush fails when a part is already kept',
    { call: 'flush', first: 2, last: 2 },
    8,
    async (service, running) => {
      service.cut('a.htm');
      await until(() => running.stderr().includes('a.htm'));
      service.finish('b.htm');
    },
  ],
  [
    'a write fails at the very end',
    { call: 'write of the failed list', ...ALL },
    3,
    (service) => {
      for (const name of NAMES) service.cut(name);
    },
  ],
])('keeps no part if %s, and the next run downloads the files afresh', async (_, fault, status, act) => {
  const [place, service] = [await workplace(), await startService()];
  const running = place.start(GET, { ...service.env, ...(await failing(place, fault)) });
  await haveParts(place);
  await act(service, running);
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(status);
  expect(await partsIn(place)).toEqual([]);
  if (status === 8) expect(stderr).not.toMatch(/stopped at/);
  await expectFreshFiles(place, service);
});

test('keeps no part if a checksum cannot be written', async () => {
  const [place, server] = [
    await workplace(),
    await scripted((socket, request) => {
      const body = Buffer.alloc(nameIn(request) === 'a.htm' ? 2_000_000 : 100);
      socket.write(head(200, { 'Content-Length': body.length, ETag: '"v1"' }));
      // The first file is cut, and its part is kept.
      if (body.length > 100) socket.end(body.subarray(0, -1));
      else socket.write(body);
    }),
  ];
  const limit = 2000;
  await writeFile(join(place.path, 'SHA256SUMS'), `#${'x'.repeat(limit * 1024 - 2)}\n`);
  const line = `download ${ACCESSION} a.htm b.htm -j 1 --retries 0 --checksums`;
  const { exitCode, stderr } = await place.shell(`ulimit -f ${limit}; $FILINGS ${line}`, serviceAt(server.url));
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/SHA256SUMS: cannot write/);
  expect(await place.names()).toEqual(['SHA256SUMS', 'b.htm']);
});

test('a second signal during the flushes leaves nothing that the next run resumes', async () => {
  const [place, service] = [await workplace(), await startService()];
  const fault: Fault = { call: 'end of a flush', ...ALL };
  const running = place.start(GET, { ...service.env, ...(await failing(place, fault)) });
  await haveParts(place);
  running.kill('SIGTERM');
  await until(() => running.stderr().split('a flush hangs').length > NAMES.length);
  running.kill('SIGTERM');
  expect((await running.ended).exitCode).toBe(143);
  expect((await partsIn(place)).filter((name) => name.endsWith('.resume'))).toEqual([]);
  await expectFreshFiles(place, service);
});

test('writes nothing to a pipe if the flush of the spooled file fails', async () => {
  const [place, server] = [await workplace(), await scripted(whole(content(2_000_000)))];
  const env = { ...serviceAt(server.url), ...(await failing(place, { call: 'flush', ...ALL })) };
  const { exitCode, stdout, stderr } = await place.filings(['download', ACCESSION, 'a.htm', '-o', '-', '--spool'], env);
  expect([exitCode, stdout.length], stderr).toEqual([8, 0]);
});

/** Leaves the parts of a killed run. Returns the time of their last write. */
async function killed(place: Workplace, service: Service): Promise<number> {
  const running = place.start(GET, service.env);
  await haveParts(place);
  running.kill('SIGKILL');
  await running.ended;
  const parts = await Promise.all((await partsIn(place)).map((name) => stat(join(place.path, name))));
  return Math.max(...parts.map(({ mtimeMs }) => mtimeMs));
}

test('keeps no part if the flush of one part of a killed run fails', async () => {
  const [place, service] = [await workplace(), await startService()];
  const since = await killed(place, service);
  const fault: Fault = { call: 'flush', first: 1, last: 1 };
  const running = place.start(GET, { ...service.env, ...(await failing(place, fault)) });
  await haveParts(place, since);
  running.kill('SIGTERM');
  expect((await running.ended).exitCode).toBe(143);
  expect(await partsIn(place)).toEqual([]);
});

test('does not resume the part of a killed run if its flush fails', async () => {
  const [place, service] = [await workplace(), await startService()];
  await killed(place, service);
  // Each part is claimed and flushed before the first file is complete.
  await expectFreshFiles(place, service, await failing(place, { call: 'flush', first: 1, last: NAMES.length }));
});
