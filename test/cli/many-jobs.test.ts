import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { accession } from '../servers/archive.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { serviceAt, workplace } from './program.ts';

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

test.each<[args: string[], isExpected: (line: string) => boolean]>([
  [['download', '--all'], (line) => /a\.htm: 6 B|^64 downloaded/.test(line)],
  [['download', '--all', '--quiet'], () => false],
  [['download', '--all', '--error-format', 'json'], (line) => JSON.parse(line) !== undefined],
  [['download', '--all', '--error-format', 'json', '--quiet'], () => false],
  [['list'], () => false],
])('%j with 64 concurrent requests prints only its own lines to stderr', async (args, isExpected) => {
  const [server, place] = [await scripted(together()), await workplace()];
  const line = [...args, '--input', '-', '--jobs', `${JOBS}`];
  const { exitCode, stderr } = await place.filings(line, serviceAt(server.url), { input: INPUT });
  expect(exitCode, stderr).toBe(0);
  expect(stderr.split('\n').filter((line) => line !== '' && !isExpected(line))).toEqual([]);
});
