import type { Socket } from 'node:net';
import { expect } from 'vitest';
import { head } from '../servers/answers.ts';
import { accession } from '../servers/archive.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { serviceAt, test } from './program.ts';

const JOBS = 64;
const INPUT = Array.from({ length: JOBS }, (_, at) => `${accession(at)}\n`).join('');

/** Answers the listings when all of them are requested, and then the files in the same way. */
function together(): Script {
  let waiting: Socket[] = [];
  return (socket, { path }) => {
    waiting.push(socket);
    if (waiting.length < JOBS) return;
    const body = path.startsWith('/v1/filings') ? '["a.htm"]' : 'a file';
    for (const each of waiting) each.write(head(200, { 'Content-Length': body.length }) + body);
    waiting = [];
  };
}

// Node would print a warning if a signal had many listeners.
test.for(['download --all --quiet', 'list'])('%s of 64 requests at once is silent', async (line, { place }) => {
  const server = await scripted(together());
  const args = [...line.split(' '), '--input', '-', '--jobs', `${JOBS}`];
  const { exitCode, stderr } = await place.filings(args, serviceAt(server.url), { input: INPUT });
  expect([exitCode, stderr]).toEqual([0, '']);
});
