import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { framed, sendAndEnd, sendFile } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, BIN, NODE, proving, serviceAt, until, workplace } from './program.ts';

// Proof 6 of a transfer that never lies: pipes, compared byte for byte.
const FILE = content(3_000_000);
const ETAG = '"v1"';
const attempts = new Map<string, number>();
let server: ScriptedServer;

/** Each test has a file name of its own, so that its tries can be counted. */
beforeAll(async () => {
  server = await startScripted((socket, request) => {
    const name = new URL(request.path, 'http://h').searchParams.get('file_name') ?? '';
    const attempt = attempts.get(name) ?? 0;
    attempts.set(name, attempt + 1);
    const validated = framed(FILE, 'length', { ETag: ETAG });
    if (name.startsWith('cut-') && attempt === 0) {
      const { bytes } = name.startsWith('cut-unvalidated') ? framed(FILE, 'length') : validated;
      sendAndEnd(socket, bytes.subarray(0, 1_500_000), name.endsWith('RST') ? 'RST' : 'FIN');
    } else if (name.startsWith('cut-changed')) sendFile(socket, request, FILE, '"v2"');
    else sendFile(socket, request, FILE, ETAG);
  });
});
afterAll(() => server.close());

const get = (name: string, more = '-o -') => `$FILINGS download ${ACCESSION} ${name} ${more}`;
const run = async (script: string, env: Record<string, string> = {}) => {
  const place = await workplace();
  return { place, ...(await place.shell(script, { ...serviceAt(server.url), ...env })) };
};

/** Those that `npm test` runs are first. */
const WAYS: [string, string][] = [
  ['into a slow reader', `${get('a')} | (sleep 0.5; cat)`],
  ['into a file by the shell', `${get('a')} > out; cat out`],
  ['behind what a file holds', `: > out; ${get('a')} >> out; cat out`],
  ['into stdout by another name', `${get('a', '-o /dev/stdout')} | cat`],
  [
    'into another descriptor, a file with a byte',
    `printf x > out; ${get('a', '-o /dev/fd/3')} 3>> out; { read -N1; cat; } < out`,
  ],
  ['through the spool', `${get('a', '-o - --spool')} | cat`],
  [
    'into a FIFO, whose reader comes late',
    `mkfifo out; ${get('a', '-o out')} > /dev/null & sleep 0.3; cat out && wait $!`,
  ],
  ['into stdout by number', `${get('a', '-o /dev/fd/1')} | cat`],
  ['into stdout by another name, a file', `${get('a', '-o /dev/stdout')} > out; cat out`],
  ['into another descriptor, a pipe', `{ ${get('a', '-o /dev/fd/3')} 3>&1 >&2; } | cat`],
];

describe('the whole file', () => {
  test.each(proving ? WAYS : WAYS.slice(0, 7))('%s', async (_, script) => {
    const { place, exitCode, stdout, stderr } = await run(`set -o pipefail; ${script}`);
    expect([exitCode, stdout.equals(FILE)], stderr).toEqual([0, true]);
    expect((await place.names()).filter((name) => name !== 'out')).toEqual([]);
  });

  test('into /dev/null, which stays what it is', async () => {
    const { exitCode } = await run(`${get('a', '-o /dev/null')} && test -c /dev/null && test -h /dev/stdout`);
    expect(exitCode).toBe(0);
  });

  test('into a socket', async () => {
    const place = await workplace();
    // Node gives its children sockets for pipes.
    const ended = await place.start(['download', ACCESSION, 'a', '-o', '/dev/stdout'], serviceAt(server.url)).ended;
    expect([ended.exitCode, ended.stdout.equals(FILE)], ended.stderr).toEqual([0, true]);
  });
});

describe('a reader that goes away: exit 141, and not a word', () => {
  test.each([
    ['-o -', `${get('a')} | head -c1; exit \${PIPESTATUS[0]}`, 1],
    ['-o /dev/stdout', `${get('a', '-o /dev/stdout')} | head -c1; exit \${PIPESTATUS[0]}`, 1],
    ['--spool', `${get('a', '-o - --spool')} | head -c1; exit \${PIPESTATUS[0]}`, 1],
    ['from a FIFO', `mkfifo fifo; ${get('a', '-o fifo')} & head -c1 fifo; wait $!`, 1],
    ['before anything is written', `${get('a')} | true; exit \${PIPESTATUS[0]}`, 0],
  ])('%s', async (_, script, bytes) => {
    const { exitCode, stdout, stderr } = await run(script);
    expect([exitCode, stdout.equals(FILE.subarray(0, bytes)), stderr]).toEqual([141, true, '']);
  });
});

test('a listing whose reader goes away is no failure: exit 0, and not a word', async () => {
  const names = Array.from({ length: 50_000 }, (_, i) => `file-${i}-${'x'.repeat(100)}.htm`);
  const service = await startScripted(
    (socket) => void socket.end(framed(Buffer.from(JSON.stringify(names)), 'length').bytes),
  );
  onTestFinished(() => service.close());
  const script = `$FILINGS list ${ACCESSION} | head -c1; exit \${PIPESTATUS[0]}`;
  const { exitCode, stdout, stderr } = await run(script, serviceAt(service.url));
  expect([exitCode, stdout.toString(), stderr]).toEqual([0, 'f', '']);
});

describe('a stdout that can’t be written', () => {
  test.each<[string, string]>([
    ['a full device', `${get('a')} > /dev/full`],
    ['a full device by name', get('a', '-o /dev/full')],
    ['a full device through the spool', `${get('a', '-o - --spool')} > /dev/full`],
    ['a file that grows too large', `ulimit -f 100; trap '' XFSZ; ${get('a')} > out`],
  ])('%s: exit 8, and the reason', async (_, script) => {
    const { exitCode, stderr } = await run(script);
    expect(exitCode, stderr).toBe(8);
    expect(stderr).toMatch(/^filings: .*(full|larger)/);
  });
});

describe('cut in the middle', () => {
  test.each(proving ? ['cut-once-FIN', 'cut-once-RST'] : ['cut-once-RST'])(
    'with a validator: continued at the exact offset (%s)',
    async (name) => {
      const { exitCode, stdout, stderr } = await run(`set -o pipefail; ${get(name)} | cat`);
      expect([exitCode, stdout.equals(FILE)], stderr).toEqual([0, true]);
      expect(server.requests.filter(({ path }) => path.includes(name)).at(-1)?.headers).toMatchObject({
        range: expect.stringMatching(/^bytes=[1-9]\d*-$/),
        'if-range': ETAG,
      });
    },
  );

  test.each<[string, string]>([
    ['without a validator', 'cut-unvalidated-FIN'],
    ['and the file changed', 'cut-changed-FIN'],
  ])('%s: exit 9, and only a beginning is out', async (_, name) => {
    const { exitCode, stdout, stderr } = await run(`${get(name)} | cat; exit \${PIPESTATUS[0]}`);
    expect(exitCode, stderr).toBe(9);
    expect(stderr).toContain('--spool');
    expect(stdout.length).toBeLessThan(FILE.length);
    expect(stdout.equals(FILE.subarray(0, stdout.length))).toBe(true);
  });

  test.each(proving ? ['cut-unvalidated-spool-FIN', 'cut-changed-spool-FIN'] : ['cut-changed-spool-FIN'])(
    '%s, through the spool: right',
    async (name) => {
      const { exitCode, stdout, stderr } = await run(`${get(name, '-o - --spool')} | cat; exit \${PIPESTATUS[0]}`);
      expect([exitCode, stdout.equals(FILE)], stderr).toEqual([0, true]);
    },
  );

  test('through the spool without hope: nothing is out', async () => {
    const { exitCode, stdout } = await run(
      `${get('cut-spool-FIN', '-o - --spool --retries 0')} | cat; exit \${PIPESTATUS[0]}`,
    );
    expect([exitCode, stdout.length]).toEqual([9, 0]);
  });
});

const SIGNALS: ['SIGTERM' | 'SIGINT', number][] = [
  ['SIGTERM', 143],
  ['SIGINT', 130],
];

describe('a reader that never reads', () => {
  async function heldFifo() {
    const place = await workplace();
    await promisify(execFile)('mkfifo', [join(place.path, 'fifo')]);
    const reader = await open(join(place.path, 'fifo'), 'r+');
    onTestFinished(() => reader.close());
    return { place, reader };
  }

  test.each(proving ? SIGNALS : SIGNALS.slice(0, 1))('%s ends the program', async (signal, status) => {
    const { place } = await heldFifo();
    const running = place.start(['download', ACCESSION, 'a', '-o', 'fifo', '-v'], serviceAt(server.url));
    await until(() => running.stderr().includes('< 200'));
    running.kill(signal);
    expect((await running.ended).exitCode).toBe(status);
  });

  test('the deadline ends the program: exit 7, whatever is out by then', async () => {
    const { place } = await heldFifo();
    const script = `exec ${get('a', '-o - --deadline 1s')} > fifo`;
    const { exitCode, stderr } = await place.shell(script, serviceAt(server.url));
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
    const env = { ...process.env, ...serviceAt(server.url) };
    const running = spawn(NODE, args, { cwd: place.path, env, stdio: ['ignore', shared.fd, shared.fd] });
    const ended = once(running, 'exit');
    onTestFinished(() => void running.kill('SIGKILL'));
    if (status === 143) {
      // The file is going out: what comes next fills the pipe, in which its last words then find no room.
      for (let taken = 0; taken < 500_000; ) taken += (await reader.read(Buffer.alloc(65_536))).bytesRead;
      running.kill();
    }
    expect((await ended)[0]).toBe(status);
  });
});
