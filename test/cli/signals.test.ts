import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { head, sendFile } from '../servers/answers.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, proving, serviceAt, until, type Workplace, workplace } from './program.ts';

const FILE = content(3_000_000);
const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

async function scripted(script: Script) {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return server;
}

/** Shows from outside what leaves no other trace: that the program tries to open the FIFO. */
const TELLS_FIFO = `const fs = require('node:fs');
const { open } = fs;
fs.open = (path, ...rest) => {
  if (String(path).endsWith('/fifo')) process.stderr.write('opens the FIFO\\n');
  return open(path, ...rest);
};`;

/** No write ever ends, as on a disk that does not answer. */
const HANGS_AT_WRITE = `const fs = require('node:fs');
fs.writev = () => {
  process.stderr.write('write hangs\\n');
  setInterval(() => {}, 1000);
};`;

const partly: Script = (socket) => {
  socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
  socket.write(FILE.subarray(0, 2_000_000));
};
const partSizes = async (place: Workplace) => {
  const parts = (await place.names()).filter((name) => name.endsWith('.part'));
  return Promise.all(parts.map(async (part) => (await place.read(part)).length));
};
const isHalf = (size: number | undefined) => size === 2_000_000;

const MOMENTS: readonly [string, Script][] = [
  ['no answer', () => {}],
  ['half a head', (socket) => void socket.write('HTTP/1.1 200 OK\r\n')],
  ['a small body', (socket) => void socket.write(`${head(200, { 'Content-Length': 100, ETag: '"v1"' })}begin`)],
  [
    'a body without a validator',
    (socket) =>
      void socket.write(
        Buffer.concat([Buffer.from(head(200, { 'Content-Length': FILE.length })), FILE.subarray(0, 2_000_000)]),
      ),
  ],
  ['an error body that does not end', (socket) => void socket.write(`${head(404, { 'Content-Length': 100 })}{`)],
  [
    'a wait that the service asked for',
    (socket) => void socket.write(head(429, { 'Retry-After': 60, 'Content-Length': 0 })),
  ],
  ['a wait of our own', (socket) => void socket.end()],
];

describe.each(SIGNALS)('%s', (signal, status) => {
  test('in the middle of a body: a resumable part stays, nothing else; the next run goes on with it', async () => {
    const server = await scripted((socket, request) => {
      if (request.index === 0) partly(socket, request);
      else sendFile(socket, request, FILE, '"v1"');
    });
    const place = await workplace();
    const args = ['download', ACCESSION, 'a.htm'];
    const running = place.start(args, serviceAt(server.url));
    await until(async () => isHalf((await partSizes(place))[0]));
    running.kill(signal);
    const { exitCode, stderr } = await running.ended;
    expect(exitCode, stderr).toBe(status);
    expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
    expect((await place.names()).map((name) => name.replace(/.*\./, '')).sort()).toEqual(['part', 'resume']);
    const again = await place.filings([...args, '--report', '-'], serviceAt(server.url));
    expect(again.exitCode, again.stderr).toBe(0);
    expect(again.stderr).toMatch(/resumed/);
    expect(JSON.parse(again.stdout.toString())).toMatchObject({ result: 'resumed', bytes: FILE.length, attempts: 1 });
    expect(server.requests[1]?.headers.range).toBe('bytes=2000000-');
    expect((await place.read('a.htm')).equals(FILE)).toBe(true);
    expect(await place.names()).toEqual(['a.htm']);
  });

  // The signals take one way: every moment with one of them, some with the others.
  test.each(proving || signal === 'SIGTERM' ? MOMENTS : MOMENTS.slice(0, 2))(
    'at %s: nothing stays',
    async (_, script) => {
      const server = await scripted(script);
      const place = await workplace();
      const running = place.start(['download', ACCESSION, 'a.htm', '-v'], serviceAt(server.url));
      await until(() => server.requests.length > 0 && running.stderr().includes('GET'));
      await new Promise((resolve) => setTimeout(resolve, 60));
      running.kill(signal);
      const { exitCode, stderr } = await running.ended;
      expect(exitCode, stderr).toBe(status);
      expect(await place.names()).toEqual([]);
    },
  );
});

/** The TCP ports that a process listens on: `0100007F:240D` for 127.0.0.1:9229. */
async function listeningPorts(pid: number): Promise<string[]> {
  const fds = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  const table = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).trim().split('\n').slice(1);
  const rows = table.map((line) => line.trim().split(/ +/));
  return rows.filter((row) => row[3] === '0A' && links.includes(`socket:[${row[9]}]`)).map(([, local = '']) => local);
}

test.runIf(process.platform === 'linux')('SIGUSR1 opens no debugger, and the run goes on', async () => {
  let finish = () => {};
  const server = await scripted((socket, request) => {
    partly(socket, request);
    finish = () => void socket.write(FILE.subarray(2_000_000));
  });
  const place = await workplace();
  const running = place.start(['download', ACCESSION, 'a.htm'], serviceAt(server.url));
  await until(async () => isHalf((await partSizes(place))[0]));
  for (let times = 0; times < 3; times += 1) {
    running.kill('SIGUSR1');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await listeningPorts(running.pid)).toEqual([]);
  }
  finish();
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(0);
  expect(stderr).not.toMatch(/debugger/i);
  expect((await place.read('a.htm')).equals(FILE)).toBe(true);
});

describe('SIGTERM', () => {
  test('during a TLS handshake', async () => {
    const server = await scripted(() => {});
    const place = await workplace();
    const running = place.start(['download', ACCESSION, 'a.htm'], serviceAt(server.url.replace('http:', 'https:')));
    await until(() => server.connections() > 0);
    running.kill('SIGTERM');
    expect((await running.ended).exitCode).toBe(143);
    expect(await place.names()).toEqual([]);
  });

  test('while a FIFO has no reader', async () => {
    const server = await scripted((socket, request) => sendFile(socket, request, FILE, '"v1"'));
    const place = await workplace();
    await promisify(execFile)('mkfifo', [join(place.path, 'fifo')]);
    const tells = join(place.home, 'tells.cjs');
    await writeFile(tells, TELLS_FIFO);
    const env = { ...serviceAt(server.url), NODE_OPTIONS: `--require ${tells}` };
    const running = place.start(['download', ACCESSION, 'a.htm', '-o', 'fifo'], env);
    // The second time shows that it waits.
    await until(() => running.stderr().split('opens the FIFO').length > 2);
    running.kill('SIGTERM');
    const { exitCode, stderr } = await running.ended;
    expect(exitCode, stderr).toBe(143);
    expect(server.requests).toEqual([]);
  });

  test('of a batch: what was not tried is told, and the part of each stays', async () => {
    const server = await scripted(partly);
    const place = await workplace();
    const args = ['download', ACCESSION, 'a', 'b', 'c', 'd', '-j', '2'];
    const running = place.start(args, serviceAt(server.url));
    await until(async () => (await partSizes(place)).filter(isHalf).length === 2);
    running.kill('SIGTERM');
    const { exitCode, stderr } = await running.ended;
    expect(exitCode, stderr).toBe(143);
    expect(stderr).toMatch(/not started/);
    expect(await place.names()).toHaveLength(4);
  });

  test('twice: it quits at once, with the status of the second, also while a disk does not answer', async () => {
    const server = await scripted(partly);
    const place = await workplace();
    const hangs = join(place.home, 'hangs.cjs');
    await writeFile(hangs, HANGS_AT_WRITE);
    const env = { ...serviceAt(server.url), NODE_OPTIONS: `--require ${hangs}` };
    const running = place.start(['download', ACCESSION, 'a.htm'], env);
    await until(() => running.stderr().includes('write hangs'));
    running.kill('SIGTERM');
    // Longer than it takes to end where nothing hangs.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    running.kill('SIGINT');
    expect((await running.ended).exitCode).toBe(130);
  });
});
