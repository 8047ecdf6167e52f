import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { interruptionError } from '../../src/world.ts';
import { head } from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { ACCESSION, asking } from './run.ts';

const HALF = 'x'.repeat(2_000_000);

// Nothing remains of a file that cannot be resumed.
test.each<[moment: string, Script]>([
  ['no answer', () => {}],
  ['half a head', (socket) => void socket.write('HTTP/1.1 200 OK\r\n')],
  ['a small body', (socket) => void socket.write(`${head(200, { 'Content-Length': 100, ETag: '"v1"' })}begin`)],
  ['a body without a validator', (socket) => void socket.write(head(200, { 'Content-Length': 3_000_000 }) + HALF)],
  ['an error body that does not end', (socket) => void socket.write(`${head(404, { 'Content-Length': 100 })}{`)],
  ['a Retry-After', (socket) => void socket.write(head(429, { 'Retry-After': 60, 'Content-Length': 0 }))],
  ['a back-off', (socket) => void socket.end()],
])('a signal leaves no part of a file that cannot be resumed: %s', async (_, script) => {
  const interrupt = new AbortController();
  const { filings, names } = await asking(async (socket, request) => {
    await script(socket, request);
    await sleep(50);
    interrupt.abort(interruptionError('SIGTERM'));
  });
  const runOptions = { interrupt: interrupt.signal };
  const { exitCode, stderr } = await filings(['download', ACCESSION, 'a.htm'], {}, runOptions);
  expect([exitCode, await names()], stderr).toEqual([143, []]);
});
