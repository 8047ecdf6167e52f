import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { head, sendFile, whole } from '../servers/answers.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, proving, serviceAt, until, type Workplace, workplace } from './program.ts';

const FILE = content(3_000_000);
const GET = ['download', ACCESSION, 'a.htm'];

/** Creates a FIFO, and prints a line when the program tries to open it, which leaves no other trace. */
const TELLS_FIFO = `require('node:child_process').execFileSync('mkfifo', ['fifo']);
const fs = require('node:fs');
const { open } = fs;
fs.open = (path, ...rest) => {
  if (String(path).endsWith('/fifo')) process.stderr.write('opens the FIFO\\n');
  return open(path, ...rest);
};`;

/** No write ever returns, as on a disk that does not respond. */
const HANGS_AT_WRITE = `const fs = require('node:fs');
fs.writev = () => {
  process.stderr.write('write hangs\\n');
  setInterval(() => {}, 1000);
};`;

/** Starts the program in a workplace with a script that Node loads first. */
async function startWith(hook: string, args: readonly string[], url: string) {
  const place = await workplace();
  const path = join(place.home, 'hook.cjs');
  await writeFile(path, hook);
  return { place, ...place.start(args, { ...serviceAt(url), NODE_OPTIONS: `--require ${path}` }) };
}

const partly: Script = (socket) => {
  socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
  socket.write(FILE.subarray(0, 2_000_000));
};

/** Waits until the program has written the two megabytes that it received. */
async function hasPart(place: Workplace): Promise<void> {
  await until(async () => {
    const part = (await place.names()).find((name) => name.endsWith('.filings-part'));
    return part !== undefined && (await place.read(part)).length === 2_000_000;
  });
}

// All signals take the same path, which test/cli/usage.test.ts shows.
test.each([
  ['SIGTERM', 143],
  ...(proving
    ? ([
        ['SIGINT', 130],
        ['SIGHUP', 129],
      ] as const)
    : []),
] as const)(
  '%s during a body keeps a resumable part and no other file, and the next run resumes the part',
  async (signal, status) => {
    const server = await scripted((socket, request) => {
      if (request.index === 0) partly(socket, request);
      else sendFile(socket, request, FILE, '"v1"');
    });
    const place = await workplace();
    const running = place.start(GET, serviceAt(server.url));
    await hasPart(place);
    running.kill(signal);
    const { exitCode, stderr } = await running.ended;
    expect(exitCode, stderr).toBe(status);
    expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
    expect(stderr).toContain('a.htm: stopped at 2.0 MB; run the same command to resume');
    expect(await place.names()).toEqual(['.a.htm.filings-resume']);
    const next = await place.filings([...GET, '--report', '-'], serviceAt(server.url));
    expect(next.exitCode, next.stderr).toBe(0);
    expect(next.stderr).toMatch(/resumed/);
    expect(JSON.parse(next.stdout.toString())).toMatchObject({ result: 'resumed', bytes: FILE.length, attempts: 1 });
    expect(server.requests[1]?.headers.range).toBe('bytes=2000000-');
    expect((await place.read('a.htm')).equals(FILE)).toBe(true);
    expect(await place.names()).toEqual(['a.htm']);
  },
);

/** The TCP ports on which a process listens, such as `0100007F:240D` for 127.0.0.1:9229. */
async function listeningPorts(pid: number): Promise<string[]> {
  const fds = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  const table = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).trim().split('\n').slice(1);
  const rows = table.map((line) => line.trim().split(/ +/));
  return rows.filter((row) => row[3] === '0A' && links.includes(`socket:[${row[9]}]`)).map(([, local = '']) => local);
}

test.runIf(process.platform === 'linux')('SIGUSR1 neither opens the debugger nor ends the run', async () => {
  let finish = () => {};
  const server = await scripted((socket, request) => {
    partly(socket, request);
    finish = () => void socket.write(FILE.subarray(2_000_000));
  });
  const place = await workplace();
  const running = place.start(GET, serviceAt(server.url));
  await hasPart(place);
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
  test('ends a run that waits for the reader of a FIFO', async () => {
    const server = await scripted(whole(FILE));
    const running = await startWith(TELLS_FIFO, [...GET, '-o', 'fifo'], server.url);
    // The second attempt shows that the program waits.
    await until(() => running.stderr().split('opens the FIFO').length > 2);
    running.kill('SIGTERM');
    const { exitCode, stderr } = await running.ended;
    expect(exitCode, stderr).toBe(143);
    expect(server.requests).toEqual([]);
  });

  test('ends the run at once if it comes twice, although the disk does not respond', async () => {
    const server = await scripted(partly);
    const running = await startWith(HANGS_AT_WRITE, GET, server.url);
    await until(() => running.stderr().includes('write hangs'));
    running.kill('SIGTERM');
    // Longer than the program takes to end if the disk responds.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    running.kill('SIGINT');
    expect((await running.ended).exitCode).toBe(130);
  });
});
