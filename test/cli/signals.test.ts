import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import { type Sleep, sleep } from '../../src/abort.ts';
import { interruptionError } from '../../src/world.ts';
import { filings } from '../program/run.ts';
import { head, sendFile, whole } from '../servers/answers.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, BIN, HELD_CLOCK, NODE, serviceAt, started, TELLS_SIGTERM, test } from './program.ts';

const FILE = content(3_000_000);
const GET = ['download', ACCESSION, 'a.htm'];

/** No write ever returns, as on a disk that does not respond. */
const HANGS_AT_WRITE = `const fs = require('node:fs');
fs.writev = () => {
  process.stderr.write('write hangs\\n');
  setInterval(() => {}, 1000);
};`;

const partly: Script = (socket) => {
  socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
  socket.write(FILE.subarray(0, 2_000_000));
};

// All signals take the same path.
test.for`
  end               | signal       | status | why
  ${'SIGINT'}       | ${'SIGINT'}  | ${130} | ${'interrupted: SIGINT'}
  ${'SIGTERM'}      | ${'SIGTERM'} | ${143} | ${'interrupted: SIGTERM'}
  ${'SIGHUP'}       | ${'SIGHUP'}  | ${129} | ${'interrupted: SIGHUP'}
  ${'the deadline'} | ${undefined} | ${7}   | ${'the deadline of 1 s has passed'}
`('$end ends a program that waits for stdin, with $status', async ({ signal, status, why }, { place }) => {
  const env = { HOME: place.home, FILINGS_DEADLINE: '1s', ...(await place.hook(HELD_CLOCK)) };
  const running = started([NODE, BIN, 'config', 'set', 'api-key'], { cwd: place.path, env });
  const { stdin } = running;
  // More than the buffer of a pipe. The write ends when the program has read most of it.
  await promisify(stdin.write.bind(stdin) as (data: string, then: () => void) => void)('x'.repeat(1_000_000));
  if (signal) running.kill(signal);
  const { exitCode, stderr } = await (signal ? running.ended : place.passUntilEnd(running));
  expect([exitCode, stderr.split('\n')[0]]).toEqual([status, `filings: ${why}`]);
});

test('a signal during a body keeps a resumable part alone, and the next run resumes it', async ({ place }) => {
  const server = await scripted((socket, request) => {
    if (request.index === 0) partly(socket, request);
    else sendFile(socket, request, FILE, '"v1"');
  });
  const running = place.start(GET, serviceAt(server.url));
  await place.haveParts(running, 2_000_000);
  running.kill('SIGTERM');
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(143);
  expect(stderr).toContain('a.htm: stopped at 2.0 MB; run the same command to resume');
  expect(await place.names()).toEqual(['.a.htm.filings-resume']);
  const next = await place.filings([...GET, '--report', '-'], serviceAt(server.url));
  expect(next.exitCode, next.stderr).toBe(0);
  expect(JSON.parse(`${next.stdout}`)).toMatchObject({ result: 'resumed', bytes: FILE.length, attempts: 1 });
  expect(server.requests[1]?.headers.range).toBe('bytes=2000000-');
  expect([await place.names(), (await place.read('a.htm')).equals(FILE)]).toEqual([['a.htm'], true]);
});

test('SIGUSR1 neither opens the debugger nor ends the run', async ({ place }) => {
  let finish = () => {};
  const server = await scripted((socket, request) => {
    partly(socket, request);
    finish = () => void socket.write(FILE.subarray(2_000_000));
  });
  const running = place.start(GET, serviceAt(server.url));
  await place.haveParts(running, 2_000_000);
  running.kill('SIGUSR1');
  finish();
  expect(await running.ended).toMatchObject({ exitCode: 0, stderr: expect.not.stringMatching(/debugger/i) });
});

describe('SIGTERM', () => {
  test('ends a run that waits for the reader of a FIFO', async ({ place }) => {
    const { url, requests } = await scripted(whole(FILE));
    await promisify(execFile)('mkfifo', [place.at('fifo')]);
    const stop = new AbortController();
    let attempts = 0;
    const waiting: Sleep = (ms, signal) => {
      // The program looks for a reader every 50 ms.
      if (ms === 50 && ++attempts === 2) stop.abort(interruptionError('SIGTERM'));
      return sleep(ms, signal);
    };
    const run = { cwd: place.path, env: serviceAt(url), interrupt: stop.signal, sleep: waiting };
    expect(await filings([...GET, '-o', 'fifo'], run)).toMatchObject({ exitCode: 143 });
    expect([attempts, requests]).toEqual([2, []]);
  });

  test('ends all that the command for the key has started', async ({ place }) => {
    await promisify(execFile)('mkfifo', [place.at('fifo')]);
    const apiKeyCommand = ['sh', '-c', 'exec 3> fifo; sleep 600 & echo >&3; wait'];
    await place.config({ baseUrl: 'http://127.0.0.1:9', apiKeyCommand });
    const running = place.start(GET);
    // This stream ends with the last process that has the FIFO open.
    const processes = createReadStream(place.at('fifo'));
    await once(processes, 'data');
    running.kill('SIGTERM');
    await Promise.all([once(processes, 'end'), expect(running.ended).resolves.toMatchObject({ exitCode: 143 })]);
  });

  test('ends the run at once if another signal comes later, although the disk does not respond', async ({ place }) => {
    const server = await scripted(partly);
    const hook = await place.hook(HELD_CLOCK, TELLS_SIGTERM, HANGS_AT_WRITE);
    const running = place.start(GET, { ...serviceAt(server.url), ...hook });
    await running.says('write hangs');
    running.kill('SIGTERM');
    await running.says('SIGTERM arrives');
    await place.pass(600);
    running.kill('SIGINT');
    expect(await running.ended).toMatchObject({ exitCode: 130 });
  });
});
