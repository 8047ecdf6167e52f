import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Sleep } from '../../src/abort.ts';
import { interruptionError } from '../../src/world.ts';
import { heldClock } from '../held-clock.ts';
import { head } from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { ACCESSION, asking } from './run.ts';

/** The limit of the flush of a kept part. */
const MAX_FLUSH_MS = 2000;

const partly: Script = (socket) => {
  socket.write(head(200, { 'Content-Length': 3_000_000, ETag: '"v1"' }));
  socket.write(Buffer.alloc(2_000_000));
};
const wait: Script = (socket) => void socket.write(head(429, { 'Retry-After': 250, 'Content-Length': 0 }));

test.each`
  what                            | script    | options                              | words          | left
  ${'the deadline in a body'}     | ${partly} | ${'--deadline 1h --idle-timeout 9h'} | ${'deadline'}  | ${1}
  ${'the idle timeout in a body'} | ${partly} | ${'--idle-timeout 1h --retries 0'}   | ${'timed out'} | ${1}
  ${'the deadline in a wait'}     | ${wait}   | ${'--deadline 200s'}                 | ${'deadline'}  | ${0}
`('exits with 7 and keeps only a resumable part after $what', async ({ script, options, words, left }) => {
  const { filings, ...place } = await asking(script);
  const clock = heldClock();
  // A flush takes real time, so its limit never passes on this clock.
  const longest: Sleep = (ms, signal) => clock.sleep(ms === MAX_FLUSH_MS ? Number.POSITIVE_INFINITY : ms, signal);
  const runOptions = { monotonic: clock.monotonic, sleep: longest };
  const run = filings(['download', ACCESSION, 'a.htm', ...options.split(' ')], {}, runOptions);
  // The clock advances slowly, so that short waits, such as a yield for signals, end.
  let each = 1;
  const passing = setInterval(() => clock.pass(each), 5);
  const hasCome = async () => {
    const part = (await place.names()).find((name) => name.endsWith('.filings-part'));
    return left === 0 || (part !== undefined && (await place.read(part)).length > 1_000_000);
  };
  while (place.requests.length === 0 || !(await hasCome())) await sleep(5);
  each = 100_000;
  const { exitCode, stderr } = await run.finally(() => clearInterval(passing));
  expect([exitCode, stderr]).toEqual([7, expect.stringContaining(words)]);
  expect(await place.names()).toHaveLength(left);
});

const sized = (bytes: number, fields = {}) => head(200, { 'Content-Length': bytes, ...fields });
// Nothing remains of a file that cannot be resumed.
test.each`
  moment                             | sent
  ${'no response'}                   | ${''}
  ${'half a head'}                   | ${'HTTP/1.1 200 OK\r\n'}
  ${'a small body'}                  | ${`${sized(100, { ETag: '"v1"' })}begin`}
  ${'a body without a validator'}    | ${sized(3_000_000) + 'x'.repeat(2_000_000)}
  ${'an error body that never ends'} | ${`${head(404, { 'Content-Length': 100 })}{`}
  ${'a Retry-After'}                 | ${head(429, { 'Retry-After': 60, 'Content-Length': 0 })}
  ${'a back-off'}                    | ${head(503, { 'Content-Length': 0 })}
`('a signal leaves no part of a file that cannot be resumed: after $moment', async ({ sent }) => {
  const interrupt = new AbortController();
  const { filings, names } = await asking((socket) => {
    // The service and the program share this process, so that a few turns later the program has read this.
    socket.write(sent, async () => {
      for (let turns = 0; turns < 50; turns += 1) await setImmediate();
      interrupt.abort(interruptionError('SIGTERM'));
    });
  });
  const runOptions = { interrupt: interrupt.signal };
  const { exitCode, stderr } = await filings(['download', ACCESSION, 'a.htm'], {}, runOptions);
  expect([exitCode, await names()], stderr).toEqual([143, []]);
});
