import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { head, sendFile } from '../servers/answers.ts';
import { type SeenRequest, scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { allow, holdFlushes } from './held-flushes.ts';
import { ACCESSION, type Running, serviceAt, until, type Workplace, workplace } from './program.ts';

// A disk may lose the bytes of a failed write or flush. The kernel reports that once, and nobody can see the loss
// afterwards, so no later run may resume these bytes.

const NAMES = ['a.htm', 'b.htm', 'c.htm', 'd.htm'];
const FILES = new Map(NAMES.map((name) => [name, content(2_000_000)]));
const GET = ['download', ACCESSION, ...NAMES, '-j', '4', '--retries', '0', '--failed', '../failed'];

/** The calls of one kind that fail, counted from 1. A failed flush of a file also zeroes its first page. */
interface Fault {
  readonly call: 'flush' | 'end of a flush' | 'flush of a directory' | 'write of the last byte';
  readonly first: number;
  readonly last: number;
}

const FAILING_DISK = `const fs = require('node:fs');
const { open } = fs.promises;
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
  return handle;
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

/** Waits until the program has written all but the last byte of each file. */
async function haveParts(place: Workplace): Promise<void> {
  await until(async () => {
    const stats = await Promise.all((await partsIn(place)).map((name) => stat(place.at(name)).catch(() => undefined)));
    return stats.filter((each) => each?.size === 1_999_999).length === NAMES.length;
  });
}

const isKept = (name: string) => name.endsWith('.filings-resume');

/** Runs the program again. Fails unless it gets all files, and resumes exactly the kept ones. */
async function expectCompleted(place: Workplace, service: Service): Promise<void> {
  const before = await partsIn(place);
  service.recover();
  const { exitCode, stderr } = await place.filings([...GET, '-q'], service.env);
  expect([exitCode, stderr]).toEqual([0, '']);
  for (const [name, body] of FILES) expect([name, (await place.read(name)).equals(body)]).toEqual([name, true]);
  expect(await place.names()).toEqual([...before.filter((name) => !isKept(name)), ...NAMES]);
  expect(service.ranges().filter(Boolean)).toHaveLength(before.filter(isKept).length);
}

type Act = (service: Service, running: Running) => unknown;
const finish: Act = (service) => service.finish('a.htm');
const stop: Act = (_, running) => running.kill('SIGTERM');
const ALL = { first: 1, last: 99 };

test.each<[what: string, fault: Fault, status: number, act: Act, kept: string]>([
  ['each flush fails', { call: 'flush', ...ALL }, 8, finish, ''],
  ['the flush of one file fails', { call: 'flush', first: 1, last: 1 }, 8, finish, 'bcd'],
  ['the flush of the directory fails', { call: 'flush of a directory', ...ALL }, 8, finish, 'bcd'],
  ['a write fails', { call: 'write of the last byte', ...ALL }, 8, finish, 'bcd'],
  ['nothing fails after a signal', { call: 'flush', first: 99, last: 99 }, 143, stop, 'abcd'],
  ['each flush fails after a signal', { call: 'flush', ...ALL }, 143, stop, ''],
  ['the last flush fails after a signal', { call: 'flush', first: 4, last: 4 }, 143, stop, '...'],
  [
    'a flush fails when a part is already kept',
    { call: 'flush', first: 2, last: 2 },
    8,
    async (service, running) => {
      service.cut('a.htm');
      await until(() => running.stderr().includes('a.htm'));
      service.finish('b.htm');
    },
    'acd',
  ],
])('if %s, only parts whose own writes and flushes succeeded are kept', async (_, fault, status, act, kept) => {
  const [place, service] = [await workplace(), await startService()];
  const running = place.start(GET, { ...service.env, ...(await failing(place, fault)) });
  await haveParts(place);
  await act(service, running);
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(status);
  const parts = await partsIn(place);
  expect(parts.join(' ')).toMatch(new RegExp(`^${[...kept].map((a) => `\\.${a}\\.htm\\.filings-resume`).join(' ')}$`));
  await expectCompleted(place, service);
});

test.each([
  ['that hang are given up after two seconds, and nothing is kept', undefined],
  ['are ended by a second signal, and nothing is kept', 'SIGTERM'],
] as const)('flushes after a signal %s', async (_, second) => {
  const [place, service] = [await workplace(), await startService()];
  const fault: Fault = { call: 'end of a flush', ...ALL };
  const running = place.start(GET, { ...service.env, ...(await failing(place, fault)) });
  await haveParts(place);
  running.kill('SIGTERM');
  await until(() => running.stderr().split('a flush hangs').length > NAMES.length);
  if (second) {
    // Within half a second it would be the same request.
    await new Promise((resolve) => setTimeout(resolve, 600));
    running.kill(second);
  }
  expect((await running.ended).exitCode).toBe(143);
  const parts = await partsIn(place);
  expect([parts.filter(isKept), parts.length]).toEqual([[], second ? NAMES.length : 0]);
  await expectCompleted(place, service);
});

test('two signals within half a second, as timeout sends them, are one request to stop', async () => {
  const server = await scripted((socket) => {
    socket.write(head(200, { 'Content-Length': 3_000_000, ETag: '"v1"' }));
    socket.write(content(2_000_000));
  });
  const place = await workplace();
  const env = { ...serviceAt(server.url), ...(await holdFlushes(place.path)) };
  const running = place.start(['download', ACCESSION, 'a.htm'], env);
  const size = async () =>
    (await Promise.all((await partsIn(place)).map((name) => stat(place.at(name)))))[0]?.size ?? 0;
  await until(async () => (await size()) === 2_000_000);
  running.kill('SIGTERM');
  // The footer shows that the first signal has arrived.
  await until(async () => (await size()) > 2_000_000);
  running.kill('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 100));
  await allow(place.path, 'go');
  const { exitCode, stderr } = await running.ended;
  expect([exitCode, await place.names()], stderr).toEqual([143, ['.a.htm.filings-resume']]);
});
