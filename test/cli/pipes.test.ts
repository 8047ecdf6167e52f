import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openFifo } from '../program/place.ts';
import { first, framed, whole } from '../servers/answers.ts';
import { type ScriptedServer, scripted, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, test as base, HELD_CLOCK, serviceAt, type Workplace } from './program.ts';

// A pipe must get every byte once, or the exit status must tell the error.
const FILE = content(3_000_000);
const GET = `$FILINGS download ${ACCESSION} a`;
let server: ScriptedServer;

beforeAll(async () => {
  server = await startScripted(whole(FILE));
});
afterAll(() => server.close());

const test = base.extend('run', ({ place }: { place: Workplace }) => (script: string, { url } = server) => {
  return place.shell(`set -o pipefail; ${script}`, serviceAt(url));
});
describe('the complete file is written', () => {
  test.for`
    to                                          | script
    ${'a slow reader'}                          | ${`${GET} -o - | (sleep 0.3; cat)`}
    ${'a file of the shell, after its content'} | ${`: > out; ${GET} -o - >> out; cat out`}
    ${'descriptor 3, a file'}                   | ${`printf x > out; ${GET} -o /dev/fd/3 3>> out; { read -N1; cat; } < out`}
    ${'descriptor 3, a pipe'}                   | ${`{ ${GET} -o /dev/fd/3 3>&1 >&2; } | cat`}
    ${'a FIFO whose reader is late'}            | ${`mkfifo out; ${GET} -o out > /dev/null & sleep 0.3; cat out && wait $!`}
  `('to $to', async ({ script }, { place, run }) => {
    const { exitCode, stdout, stderr } = await run(script);
    expect([exitCode, stdout.equals(FILE)], stderr).toEqual([0, true]);
    expect((await place.names()).filter((name) => name !== 'out')).toEqual([]);
  });

  test('to /dev/null, which remains a device', async ({ run }) => {
    expect(await run(`${GET} -o /dev/null && test -c /dev/null && test -h /dev/stdout`)).toMatchObject({ exitCode: 0 });
  });

  test('to a socket', async ({ place }) => {
    // Node gives its children sockets for pipes.
    const ended = await place.start(['download', ACCESSION, 'a', '-o', '/dev/stdout'], serviceAt(server.url)).ended;
    expect([ended.exitCode, ended.stdout.equals(FILE)], ended.stderr).toEqual([0, true]);
  });

  test('to a pipe, resumed at the exact offset after a cut', async ({ run }) => {
    const { upTo } = framed(FILE, 'length', { ETag: '"v1"' });
    const cut = await scripted(first(upTo(1_500_000), whole(FILE), 'RST'));
    const { exitCode, stdout, stderr } = await run(`${GET} -o - | cat`, cut);
    expect([exitCode, stdout.equals(FILE)], stderr).toEqual([0, true]);
    const range = expect.stringMatching(/^bytes=[1-9]\d*-$/);
    expect(cut.requests.at(-1)?.headers).toMatchObject({ range, 'if-range': '"v1"' });
  });
});

test.for`
  command
  ${`${GET} -q --report /dev/stderr`}
  ${`${GET} -q --report /dev/fd/3`}
  ${`${GET} -q --report /proc/self/fd/3`}
  ${`${GET} -q -o /dev/fd/2`}
  ${'$FILINGS -q token keygen --alg ES256 --out /dev/fd/3 > /dev/null'}
  ${'$FILINGS -q token sign --secret-file secret --out /dev/fd/2'}
`('a descriptor that several programs share is written where it is: $command', async ({ command }, { place, run }) => {
  await place.write('secret', 'x'.repeat(32), 0o600);
  const script = `{ echo first >&3; ${command} && echo last >&3; } 3> out 2>&3; cat out`;
  const { exitCode, stdout } = await run(script);
  expect([exitCode, stdout.toString()]).toEqual([0, expect.stringMatching(/^first\n.+last\n$/s)]);
});

test.for`
  reader      | script
  ${'a pipe'} | ${`${GET} -o - | head -c1; exit \${PIPESTATUS[0]}`}
  ${'a FIFO'} | ${`mkfifo fifo; ${GET} -o fifo & head -c1 fifo; wait $!`}
`('exits with 141 and prints nothing if the reader of $reader closes early', async ({ script }, { run }) => {
  const { exitCode, stdout, stderr } = await run(script);
  expect([exitCode, stdout.equals(FILE.subarray(0, 1)), stderr]).toEqual([141, true, '']);
});

// Only the last write to the file is short.
test.for`
  stdout                           | script
  ${'a full device'}               | ${`${GET} -o - > /dev/full`}
  ${'a file that grows too large'} | ${`ulimit -f 2929; trap '' XFSZ; ${GET} -o - > out`}
`('exits with 8 and the reason if stdout cannot be written: $stdout', async ({ script }, { run }) => {
  const { exitCode, stderr } = await run(script);
  expect([exitCode, stderr]).toEqual([8, expect.stringMatching(/^filings: .*(full|larger)/)]);
});

describe('a reader that does not read', () => {
  const test = base.extend('reader', ({ place }: { place: Workplace }) => openFifo(place.at('fifo')));
  const LINES = Array.from({ length: 3000 }, (_, at) => `${ACCESSION} f${at}\n`).join('');

  test.for`
    stream                 | args                                         | to               | signal       | status
    ${'a FIFO'}            | ${`${ACCESSION} a -o fifo`}                  | ${''}            | ${'SIGTERM'} | ${143}
    ${'a report'}          | ${'-i lines -n --report fifo --deadline 1s'} | ${'2>/dev/null'} | ${undefined} | ${7}
    ${'stdout'}            | ${`${ACCESSION} a -o - --deadline 1s`}       | ${'>fifo'}       | ${undefined} | ${7}
    ${'stdout and stderr'} | ${`${ACCESSION} a -o - -v --deadline 1s`}    | ${'>fifo 2>&1'}  | ${undefined} | ${7}
    ${'stdout and stderr'} | ${`${ACCESSION} a -o - -v`}                  | ${'>fifo 2>&1'}  | ${'SIGTERM'} | ${143}
  `('of $stream does not keep a run from ending with $status', async (row, { place, reader }) => {
    await place.write('lines', LINES);
    const env = { ...serviceAt(server.url), ...(await place.hook(HELD_CLOCK)) };
    const shell = ['bash', '-c', `exec "$@" ${row.to}`, 'bash'];
    const running = place.start(['download', ...row.args.split(' ')], env, shell);
    // The next writes fill the pipe, so that the last message finds no room.
    for (let taken = 0; taken < 100_000; ) taken += (await reader.read(Buffer.alloc(65_536))).bytesRead;
    await sleep(50);
    if (row.signal) running.kill(row.signal);
    expect(await place.passUntilEnd(running)).toMatchObject({ exitCode: row.status });
  });
});
