import { describe, expect } from 'vitest';
import { filings } from '../program/run.ts';
import { head, sendFile } from '../servers/answers.ts';
import { type SeenRequest, scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { allow, HELD_FLUSHES } from './held-flushes.ts';
import {
  ACCESSION,
  test as base,
  HELD_CLOCK,
  type Running,
  serviceAt,
  TELLS_SIGTERM,
  type Workplace,
} from './program.ts';

// A disk may lose the bytes of a failed write or flush. The kernel reports that once, and nobody can see the loss
// afterwards, so no later run may resume these bytes.

const NAMES = ['a.htm', 'b.htm', 'c.htm', 'd.htm'];
const FILES = new Map(NAMES.map((name) => [name, content(2_000_000)]));
const GET = ['download', ACCESSION, ...NAMES, '-j', '4', '--retries', '0', '--failed', '../failed'];

/** The calls of one kind that fail, counted from 1. A failed flush of a file also zeroes its first page. */
interface Fault {
  readonly call: 'flush' | 'end of a flush' | 'flush of a directory' | 'write of the last byte';
  readonly first?: number;
  readonly last?: number;
}

const FAILING_DISK = `const fs = require('node:fs');
const { open } = fs.promises;
const fault = JSON.parse(process.env.FAULT);
let calls = 0;
const fails = (call) => call === fault.call && ++calls >= (fault.first ?? 1) && calls <= (fault.last ?? 99);
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
const test = base.extend('service', startService);

const nameIn = ({ path }: SeenRequest) => new URL(path, 'http://service').searchParams.get('file_name') ?? '';

/** Starts the program on a failing disk. Returns when it has written all but the last byte of each file. */
async function startFailing(place: Workplace, service: Service, fault: Fault): Promise<Running> {
  const hook = await place.hook(HELD_CLOCK, FAILING_DISK);
  const running = place.start(GET, { ...service.env, ...hook, FAULT: JSON.stringify(fault) });
  await place.haveParts(running, 1_999_999, NAMES.length);
  return running;
}

const isKept = (name: string) => name.endsWith('.filings-resume');

/** Runs the program again. Fails unless it gets all files, and resumes exactly the kept ones. */
async function expectCompleted(place: Workplace, service: Service): Promise<void> {
  const before = await place.parts();
  service.recover();
  const { exitCode, stderr } = await filings([...GET, '-q'], { cwd: place.path, env: service.env });
  expect([exitCode, stderr]).toEqual([0, '']);
  for (const [name, body] of FILES) expect([name, (await place.read(name)).equals(body)]).toEqual([name, true]);
  expect(await place.names()).toEqual([...before.filter((name) => !isKept(name)), ...NAMES]);
  expect(service.ranges().filter(Boolean)).toHaveLength(before.filter(isKept).length);
}

type Act = (service: Service, running: Running) => unknown;
const finish: Act = (service) => service.finish('a.htm');
const stop: Act = (_, running) => running.kill('SIGTERM');
const cutAndFinish: Act = async (service, running) => {
  service.cut('a.htm');
  await running.says('a.htm');
  service.finish('b.htm');
};
const flush = (first: number, last = first): Fault => ({ call: 'flush', first, last });

describe('only parts whose own writes and flushes succeeded are kept', () => {
  test.for`
    when                                     | fault                                 | act             | status | kept
    ${'each flush fails'}                    | ${flush(1, 99)}                       | ${finish}       | ${8}   | ${''}
    ${'the flush of one file fails'}         | ${flush(1)}                           | ${finish}       | ${8}   | ${'bcd'}
    ${'the flush of the directory fails'}    | ${{ call: 'flush of a directory' }}   | ${finish}       | ${8}   | ${'bcd'}
    ${'a write fails'}                       | ${{ call: 'write of the last byte' }} | ${finish}       | ${8}   | ${'bcd'}
    ${'a flush fails after a part was kept'} | ${flush(2)}                           | ${cutAndFinish} | ${8}   | ${'acd'}
    ${'nothing fails after a signal'}        | ${flush(99)}                          | ${stop}         | ${143} | ${'abcd'}
    ${'each flush fails after a signal'}     | ${flush(1, 99)}                       | ${stop}         | ${143} | ${''}
    ${'the last flush fails after a signal'} | ${flush(4)}                           | ${stop}         | ${143} | ${'...'}
  `('if $when', async ({ fault, act, status, kept }: Row, { place, service }) => {
    const running = await startFailing(place, service, fault);
    await act(service, running);
    const { exitCode, stderr } = await running.ended;
    expect(exitCode, stderr).toBe(status);
    const names = [...kept].map((letter) => `\\.${letter}\\.htm\\.filings-resume`);
    expect((await place.parts()).join(' ')).toMatch(new RegExp(`^${names.join(' ')}$`));
    await expectCompleted(place, service);
  });
});

interface Row {
  readonly fault: Fault;
  readonly act: Act;
  readonly status: number;
  /** The first letters of the files whose parts are kept. A dot is any letter. */
  readonly kept: string;
}

describe('flushes that hang after a signal', () => {
  const hang: Fault = { call: 'end of a flush' };

  test('are given up after a time, and nothing is kept', async ({ place, service }) => {
    const running = await startFailing(place, service, hang);
    running.kill('SIGTERM');
    await running.says('a flush hangs', NAMES.length);
    expect(await place.passUntilEnd(running)).toMatchObject({ exitCode: 143 });
    expect(await place.names()).toEqual([]);
    await expectCompleted(place, service);
  });

  test('are ended by a second signal, and nothing is kept', async ({ place, service }) => {
    const running = await startFailing(place, service, hang);
    running.kill('SIGTERM');
    await running.says('a flush hangs', NAMES.length);
    await place.pass(600);
    running.kill('SIGTERM');
    expect((await running.ended).exitCode).toBe(143);
    expect((await place.parts()).map(isKept)).toEqual(NAMES.map(() => false));
    await expectCompleted(place, service);
  });
});

test('two signals within half a second, as timeout sends them, are one request to stop', async ({ place }) => {
  const server = await scripted((socket) => {
    socket.write(head(200, { 'Content-Length': 3_000_000, ETag: '"v1"' }));
    socket.write(content(2_000_000));
  });
  const hook = await place.hook(HELD_CLOCK, TELLS_SIGTERM, HELD_FLUSHES);
  const running = place.start(['download', ACCESSION, 'a.htm'], { ...serviceAt(server.url), ...hook });
  await place.haveParts(running, 2_000_000);
  for (const times of [1, 2]) {
    running.kill('SIGTERM');
    await running.says('SIGTERM arrives', times);
  }
  await allow(place.path, 'go');
  const { exitCode, stderr } = await running.ended;
  expect([exitCode, await place.names()], stderr).toEqual([143, ['.a.htm.filings-resume']]);
});
