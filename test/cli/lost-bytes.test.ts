import type { Socket } from 'node:net';
import { describe, expect } from 'vitest';
import { filings } from '../program/run.ts';
import { head, sendFile } from '../servers/answers.ts';
import { pump } from '../servers/pump.ts';
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

/** $FAULT names the calls of one kind that fail, such as `flush 1-99`. A failed flush also zeroes a page of its file. */
const FAILING_DISK = `const fs = require('node:fs');
const [, call, first, last] = /(.*) (.*)-(.*)/.exec(process.env.FAULT);
let calls = 0;
const fails = (name) => name === call && ++calls >= first && calls <= last;
const error = (syscall) => Object.assign(new Error('EIO'), { code: 'EIO', errno: -5, syscall });
const { fsync, writevSync } = fs;
const { open } = fs.promises;
fs.fsync = (fd, done) => {
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
fs.writevSync = (fd, chunks, position) => {
  if (chunks[0].length === 1 && fails('write of the last byte')) throw error('write');
  return writevSync(fd, chunks, position);
};`;

/** A service that sends all but the last byte of each file, until it is good. */
async function startService() {
  const sockets = new Map<string, Socket>();
  const state = { isGood: false };
  const server = await scripted((socket, request) => {
    const name = nameIn(request);
    const body = FILES.get(name) as Buffer;
    if (state.isGood) return sendFile(socket, request, body, '"v1"');
    socket.write(head(200, { 'Content-Length': body.length, ETag: '"v1"' }));
    socket.write(body.subarray(0, -1));
    sockets.set(name, socket);
  });
  return {
    env: serviceAt(server.url),
    state,
    finish: (name: string) => sockets.get(name)?.write(FILES.get(name)?.subarray(-1) ?? ''),
    cut: (name: string) => sockets.get(name)?.destroy(),
    /** The number of requests for the rest of a file. */
    resumed: () => server.requests.filter(({ headers }) => headers.range).length,
  };
}

type Service = Awaited<ReturnType<typeof startService>>;
const test = base.extend('service', startService);

const nameIn = ({ path }: SeenRequest) => new URL(path, 'http://service').searchParams.get('file_name') ?? '';

/** Starts the program with hooks. Returns when it has written all but the last byte of each file. */
async function startWith(hooks: string[], fault: string, place: Workplace, { env }: Service): Promise<Running> {
  const running = place.start(GET, { ...env, ...(await place.hook(HELD_CLOCK, ...hooks)), FAULT: fault });
  await place.haveParts(running, 1_999_999, NAMES.length);
  return running;
}

const isKept = (name: string) => name.endsWith('.filings-resume');

/** Runs the program again. Fails unless it gets all files, and resumes exactly the kept ones. */
async function expectCompleted(place: Workplace, service: Service): Promise<void> {
  const before = await place.parts();
  service.state.isGood = true;
  const { exitCode, stderr } = await filings([...GET, '-q'], { cwd: place.path, env: service.env });
  expect([exitCode, stderr]).toEqual([0, '']);
  for (const [name, body] of FILES) expect([name, (await place.read(name)).equals(body)]).toEqual([name, true]);
  expect(await place.names()).toEqual([...before.filter((name) => !isKept(name)), ...NAMES]);
  expect(service.resumed()).toBe(before.filter(isKept).length);
}

type Act = (service: Service, running: Running) => unknown;
const finish: Act = (service) => service.finish('a.htm');
const stop: Act = (_, running) => running.kill('SIGTERM');
const cutAndFinish: Act = async (service, running) => {
  service.cut('a.htm');
  await running.says('a.htm');
  service.finish('b.htm');
};

// The kept parts are named by their first letters. A dot is any letter.
test.for`
  when                                     | fault                           | act             | status | kept
  ${'each flush fails'}                    | ${'flush 1-99'}                 | ${finish}       | ${8}   | ${''}
  ${'the flush of one file fails'}         | ${'flush 1-1'}                  | ${finish}       | ${8}   | ${'bcd'}
  ${'the flush of the directory fails'}    | ${'flush of a directory 1-99'}  | ${finish}       | ${8}   | ${'bcd'}
  ${'a write fails'}                       | ${'write of the last byte 1-1'} | ${finish}       | ${8}   | ${'bcd'}
  ${'a flush fails after a part was kept'} | ${'flush 2-2'}                  | ${cutAndFinish} | ${8}   | ${'acd'}
  ${'nothing fails after a signal'}        | ${'nothing 1-1'}                | ${stop}         | ${143} | ${'abcd'}
  ${'each flush fails after a signal'}     | ${'flush 1-99'}                 | ${stop}         | ${143} | ${''}
  ${'the last flush fails after a signal'} | ${'flush 4-4'}                  | ${stop}         | ${143} | ${'...'}
`('if $when, only parts whose own writes and flushes succeeded are kept', async (row: Row, { place, service }) => {
  const running = await startWith([FAILING_DISK], row.fault, place, service);
  await row.act(service, running);
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(row.status);
  const parts = await place.parts();
  expect(parts.map((name) => name[1]).join('')).toMatch(new RegExp(`^${row.kept}$`));
  expect(parts.filter(isKept)).toEqual(parts);
  await expectCompleted(place, service);
});

type Row = { fault: string; act: Act; status: number; kept: string };

/** The flush in the background fails late, and any other one would succeed. */
const LATE_FAILURE = `const fs = require('node:fs');
const failure = Object.assign(new Error('EIO'), { code: 'EIO', errno: -5, syscall: 'fdatasync' });
fs.fdatasync = (_, done) => setTimeout(done, 1000, failure);
fs.fsync = (_, done) => setImmediate(done);`;

test('the last flush of a large file waits for one in the background, and fails with it', async ({ place }) => {
  const bytes = 129 << 20;
  const server = await scripted((socket) => {
    socket.write(head(200, { 'Content-Length': bytes }));
    pump(socket, bytes);
  });
  const env = { ...serviceAt(server.url), ...(await place.hook(LATE_FAILURE)) };
  const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a.htm'], env);
  expect([exitCode, await place.names()], stderr).toEqual([8, []]);
});

describe('while flushes hang after a signal', () => {
  async function stopped(place: Workplace, service: Service): Promise<Running> {
    const running = await startWith([TELLS_SIGTERM, HELD_FLUSHES], '', place, service);
    running.kill('SIGTERM');
    await running.says('SIGTERM arrives');
    return running;
  }

  test('they are given up after a time, and nothing is kept', async ({ place, service }) => {
    const running = await stopped(place, service);
    expect(await place.passUntilEnd(running)).toMatchObject({ exitCode: 143 });
    expect(await place.names()).toEqual([]);
    await expectCompleted(place, service);
  });

  test('a second signal ends the run, and nothing is kept', async ({ place, service }) => {
    const running = await stopped(place, service);
    await place.pass(600);
    running.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ exitCode: 143 });
    expect((await place.parts()).map(isKept)).toEqual([false, false, false, false]);
    await expectCompleted(place, service);
  });

  test('a second signal within half a second, as timeout sends it, has no effect', async ({ place, service }) => {
    const running = await stopped(place, service);
    await place.pass(400);
    running.kill('SIGTERM');
    await running.says('SIGTERM arrives', 2);
    await allow(place.path, 'go');
    expect(await running.ended).toMatchObject({ exitCode: 143 });
    expect((await place.parts()).map(isKept)).toEqual([true, true, true, true]);
    await expectCompleted(place, service);
  });
});
