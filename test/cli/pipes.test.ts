import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { first, framed, whole } from '../servers/answers.ts';
import { type ScriptedServer, scripted, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, BIN, endWithTest, NODE, proving, serviceAt, until, workplace } from './program.ts';

// A pipe must get every byte once, or the exit status must tell the error.
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
/** Only the first rows, unless `npm run prove` runs all of them. */
const some = <Row>(count: number, rows: Row[]) => (proving ? rows : rows.slice(0, count));

describe('the complete file is written', () => {
  test.each(
    some<[string, string]>(4, [
      ['to a slow reader', `${GET} -o - | (sleep 0.5; cat)`],
      ['after the content of a file', `: > out; ${GET} -o - >> out; cat out`],
      ['to descriptor 3, a file', `printf x > out; ${GET} -o /dev/fd/3 3>> out; { read -N1; cat; } < out`],
      ['to a FIFO whose reader starts later', `mkfifo out; ${GET} -o out > /dev/null & sleep 0.3; cat out && wait $!`],
      ['to a file of the shell', `${GET} -o - > out; cat out`],
      ['to stdout by another name', `${GET} -o /dev/stdout | cat`],
      ['to descriptor 3, a pipe', `{ ${GET} -o /dev/fd/3 3>&1 >&2; } | cat`],
    ]),
  )('%s', async (_, script) => {
    const { place, exitCode, stdout, stderr } = await run(`set -o pipefail; ${script}`);
    expect([exitCode, stdout.equals(FILE)], stderr).toEqual([0, true]);
    expect((await place.names()).filter((name) => name !== 'out')).toEqual([]);
  });

  test('to /dev/null, which remains a device', async () => {
    const { exitCode } = await run(`${GET} -o /dev/null && test -c /dev/null && test -h /dev/stdout`);
    expect(exitCode).toBe(0);
  });

  test('to a socket', async () => {
    const place = await workplace();
    // Node gives its children sockets for pipes.
    const ended = await place.start(['download', ACCESSION, 'a', '-o', '/dev/stdout'], serviceAt(server.url)).ended;
    expect([ended.exitCode, ended.stdout.equals(FILE)], ended.stderr).toEqual([0, true]);
  });

  test.each(some(1, ['RST', 'FIN'] as const))('to a pipe, resumed at the exact offset after %s', async (ending) => {
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

describe('exits with 141 and prints nothing if the reader closes early', () => {
  test.each(
    some<[string, string, number]>(3, [
      ['-o -', `${GET} -o - | head -c1; exit \${PIPESTATUS[0]}`, 1],
      ['from a FIFO', `mkfifo fifo; ${GET} -o fifo & head -c1 fifo; wait $!`, 1],
      ['-o /dev/stdout', `${GET} -o /dev/stdout | head -c1; exit \${PIPESTATUS[0]}`, 1],
    ]),
  )('%s', async (_, script, bytes) => {
    const { exitCode, stdout, stderr } = await run(script);
    expect([exitCode, stdout.equals(FILE.subarray(0, bytes)), stderr]).toEqual([141, true, '']);
  });
});

test('list exits with 0 and prints nothing if its reader closes early', async () => {
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
  ]),
)('exits with 8 and the reason if stdout cannot be written: %s', async (_, script) => {
  const { exitCode, stderr } = await run(script);
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/^filings: .*(full|larger)/);
});

describe('a reader that does not read', () => {
  async function openFifo() {
    const place = await workplace();
    await promisify(execFile)('mkfifo', [join(place.path, 'fifo')]);
    const reader = await open(join(place.path, 'fifo'), 'r+');
    onTestFinished(() => reader.close());
    return { place, reader };
  }

  test('does not keep a signal from ending the program', async () => {
    const { place } = await openFifo();
    const running = place.start(['download', ACCESSION, 'a', '-o', 'fifo', '-v'], serviceAt(server.url));
    await until(() => running.stderr().includes('< 200'));
    running.kill('SIGTERM');
    expect((await running.ended).exitCode).toBe(143);
  });

  test('of a report does not keep the deadline from ending the program with 7', async () => {
    const { place } = await openFifo();
    // The lines of the report do not fit into the pipe.
    await place.write('lines', Array.from({ length: 3000 }, (_, at) => `${ACCESSION} f${at}\n`).join(''));
    const line = 'exec $FILINGS download -i lines -n -q --report fifo --deadline 1s';
    const { exitCode, stderr } = await place.shell(line, serviceAt(server.url));
    expect(exitCode, stderr).toBe(7);
  });

  test('does not keep the deadline from ending the program with 7', async () => {
    const { place } = await openFifo();
    const { exitCode, stderr } = await place.shell(`exec ${GET} -o - --deadline 1s > fifo`, serviceAt(server.url));
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toContain('the deadline of 1 s has passed');
  });

  test.each([
    ['the deadline', ['--deadline', '2s'], 7],
    ['a signal', [], 143],
  ])('of stdout and stderr does not keep %s from ending the program', async (_, more, status) => {
    const { place, reader } = await openFifo();
    const shared = await open(join(place.path, 'fifo'), 'w');
    onTestFinished(() => shared.close());
    const args = [BIN, 'download', ACCESSION, 'a', '-o', '-', '-v', ...more];
    const env = { PATH: process.env.PATH, HOME: place.home, ...serviceAt(server.url) };
    const running = spawn(NODE, args, { cwd: place.path, env, stdio: ['ignore', shared.fd, shared.fd] });
    const ended = once(running, 'exit');
    endWithTest(running);
    if (status === 143) {
      // The next writes fill the pipe, so that the last message finds no room.
      for (let taken = 0; taken < 500_000; ) taken += (await reader.read(Buffer.alloc(65_536))).bytesRead;
      running.kill();
    }
    expect((await ended)[0]).toBe(status);
  });
});
