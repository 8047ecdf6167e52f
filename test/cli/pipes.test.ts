import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { endWithTest } from '../processes.ts';
import { first, framed, whole } from '../servers/answers.ts';
import { type ScriptedServer, scripted, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, BIN, NODE, proving, serviceAt, until, workplace } from './program.ts';

// Proof 6 of a transfer that never lies: pipes, compared byte for byte.
const FILE = content(3_000_000);
const GET = `$FILINGS download ${ACCESSION} a`;
let server: ScriptedServer;

beforeAll(async () => {
  server = await startScripted(whole(FILE));
});
afterAll(() => server.close());

async function run(script: string, { url } = server) {
  const place = await workplace();
  return { place, ...(await place.shell(script, serviceAt(url))) };
}
/** `npm test` runs so many of them, the first ones. */
const some = <Row>(count: number, rows: Row[]) => (proving ? rows : rows.slice(0, count));

describe('the whole file', () => {
  test.each(
    some<[string, string]>(5, [
      ['into a slow reader', `${GET} -o - | (sleep 0.5; cat)`],
      ['behind what a file holds', `: > out; ${GET} -o - >> out; cat out`],
      [
        'into another descriptor, a file with a byte',
        `printf x > out; ${GET} -o /dev/fd/3 3>> out; { read -N1; cat; } < out`,
      ],
      ['through the spool', `${GET} -o - --spool | cat`],
      ['into a FIFO, whose reader comes late', `mkfifo out; ${GET} -o out > /dev/null & sleep 0.3; cat out && wait $!`],
      ['into a file by the shell', `${GET} -o - > out; cat out`],
      ['into stdout by another name', `${GET} -o /dev/stdout | cat`],
      ['into stdout by number', `${GET} -o /dev/fd/1 | cat`],
      ['into stdout by another name, a file', `${GET} -o /dev/stdout > out; cat out`],
      ['into another descriptor, a pipe', `{ ${GET} -o /dev/fd/3 3>&1 >&2; } | cat`],
    ]),
  )('%s', async (_, script) => {
    const { place, exitCode, stdout, stderr } = await run(`set -o pipefail; ${script}`);
    expect([exitCode, stdout.equals(FILE)], stderr).toEqual([0, true]);
    expect((await place.names()).filter((name) => name !== 'out')).toEqual([]);
  });

  test('into /dev/null, which stays what it is', async () => {
    const { exitCode } = await run(`${GET} -o /dev/null && test -c /dev/null && test -h /dev/stdout`);
    expect(exitCode).toBe(0);
  });

  test('into a socket', async () => {
    const place = await workplace();
    // Node gives its children sockets for pipes.
    const ended = await place.start(['download', ACCESSION, 'a', '-o', '/dev/stdout'], serviceAt(server.url)).ended;
    expect([ended.exitCode, ended.stdout.equals(FILE)], ended.stderr).toEqual([0, true]);
  });

  test.each(some(1, ['RST', 'FIN'] as const))('cut by %s: continued at the exact offset', async (ending) => {
    const { upTo } = framed(FILE, 'length', { ETag: '"v1"' });
    const cut = await scripted(first(upTo(1_500_000), whole(FILE), ending));
    const { exitCode, stdout, stderr } = await run(`set -o pipefail; ${GET} -o - | cat`, cut);
    expect([exitCode, stdout.equals(FILE)], stderr).toEqual([0, true]);
    expect(cut.requests.at(-1)?.headers).toMatchObject({
      range: expect.stringMatching(/^bytes=[1-9]\d*-$/),
      'if-range': '"v1"',
    });
  });
});

describe('a reader that goes away: exit 141, and not a word', () => {
  test.each(
    some<[string, string, number]>(4, [
      ['-o -', `${GET} -o - | head -c1; exit \${PIPESTATUS[0]}`, 1],
      ['--spool', `${GET} -o - --spool | head -c1; exit \${PIPESTATUS[0]}`, 1],
      ['from a FIFO', `mkfifo fifo; ${GET} -o fifo & head -c1 fifo; wait $!`, 1],
      ['before anything is written', `${GET} -o - | true; exit \${PIPESTATUS[0]}`, 0],
      ['-o /dev/stdout', `${GET} -o /dev/stdout | head -c1; exit \${PIPESTATUS[0]}`, 1],
    ]),
  )('%s', async (_, script, bytes) => {
    const { exitCode, stdout, stderr } = await run(script);
    expect([exitCode, stdout.equals(FILE.subarray(0, bytes)), stderr]).toEqual([141, true, '']);
  });
});

test('a listing whose reader goes away is no failure: exit 0, and not a word', async () => {
  const names = Array.from({ length: 3000 }, (_, i) => `file-${i}-${'x'.repeat(100)}.htm`);
  const listing = await scripted(whole(Buffer.from(JSON.stringify(names))));
  const script = `$FILINGS list ${ACCESSION} | head -c1; exit \${PIPESTATUS[0]}`;
  const { exitCode, stdout, stderr } = await run(script, listing);
  expect([exitCode, stdout.toString(), stderr]).toEqual([0, 'f', '']);
});

test.each(
  some<[string, string]>(3, [
    ['a full device', `${GET} -o - > /dev/full`],
    ['a full device by name', `${GET} -o /dev/full`],
    ['a file that grows too large', `ulimit -f 100; trap '' XFSZ; ${GET} -o - > out`],
    ['a full device through the spool', `${GET} -o - --spool > /dev/full`],
  ]),
)('a stdout that can’t be written, %s: exit 8, and the reason', async (_, script) => {
  const { exitCode, stderr } = await run(script);
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/^filings: .*(full|larger)/);
});

describe('a reader that never reads', () => {
  async function heldFifo() {
    const place = await workplace();
    await promisify(execFile)('mkfifo', [join(place.path, 'fifo')]);
    const reader = await open(join(place.path, 'fifo'), 'r+');
    onTestFinished(() => reader.close());
    return { place, reader };
  }

  test('a signal ends the program', async () => {
    const { place } = await heldFifo();
    const running = place.start(['download', ACCESSION, 'a', '-o', 'fifo', '-v'], serviceAt(server.url));
    await until(() => running.stderr().includes('< 200'));
    running.kill('SIGTERM');
    expect((await running.ended).exitCode).toBe(143);
  });

  test('the deadline ends the program: exit 7, whatever is out by then', async () => {
    const { place } = await heldFifo();
    const { exitCode, stderr } = await place.shell(`exec ${GET} -o - --deadline 1s > fifo`, serviceAt(server.url));
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toContain('the deadline of 1 s has passed');
  });

  test.each([
    ['the deadline', ['--deadline', '2s'], 7],
    ['a signal', [], 143],
  ])('of stderr either: %s ends the program', async (_, more, status) => {
    const { place, reader } = await heldFifo();
    const shared = await open(join(place.path, 'fifo'), 'w');
    onTestFinished(() => shared.close());
    const args = [BIN, 'download', ACCESSION, 'a', '-o', '-', '-v', ...more];
    const env = { PATH: process.env.PATH, HOME: place.home, ...serviceAt(server.url) };
    const running = spawn(NODE, args, { cwd: place.path, env, stdio: ['ignore', shared.fd, shared.fd] });
    const ended = once(running, 'exit');
    endWithTest(running);
    if (status === 143) {
      // The file is going out: what comes next fills the pipe, in which its last words then find no room.
      for (let taken = 0; taken < 500_000; ) taken += (await reader.read(Buffer.alloc(65_536))).bytesRead;
      running.kill();
    }
    expect((await ended)[0]).toBe(status);
  });
});
