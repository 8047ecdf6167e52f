import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { head } from '../../servers/answers.ts';
import { type Script, startScripted } from '../../servers/scripted.ts';
import { ACCESSION, serviceAt, until } from '../program.ts';
import { startHeld } from './held.ts';
import { CTRL_C, screen } from './screen.ts';

const INTERRUPTED = 'filings: interrupted: SIGINT';
const isBar = (line: string) => line.includes('66%');

async function scripted(script: Script) {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return server;
}

test.each<[stage: string, script: Script, shown: RegExp]>([
  ['no answer yet', () => {}, /^a\.htm {2}…$/],
  [
    'a wait for the next try',
    (socket) => void socket.write(head(503, { 'Retry-After': 60, 'Content-Length': 0 })),
    /^a\.htm {2}retry 1 of 5 in \d+ s, as the service asks: 503 /,
  ],
  [
    'an error body that does not end',
    (socket) => void socket.write(`${head(404, { 'Content-Length': 100 })}{`),
    /^a\.htm {2}…$/,
  ],
])('Ctrl-C at %s leaves the error and nothing else', async (_stage, script, shown) => {
  const server = await scripted(script);
  const at = await screen(['download', ACCESSION, 'a.htm'], {
    env: serviceAt(server.url),
    size: { columns: 120, rows: 9 },
  });
  await until(() => server.requests.length > 0);
  await at.shows((lines) => lines.some((line) => shown.test(line)));
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.bytes()).toContain('^C');
  expect(at.lines()).toEqual([INTERRUPTED]);
});

test('Ctrl-C while a connection is made', async () => {
  // TLS never begins: nobody says anything.
  const server = await scripted(() => {});
  const at = await screen(['download', ACCESSION, 'a.htm'], { env: serviceAt(server.url.replace('http:', 'https:')) });
  await until(() => server.connections() > 0);
  await at.shows((lines) => lines.some((line) => line.startsWith('a.htm')));
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toEqual([INTERRUPTED]);
});

test.each([80, 20])('Ctrl-C at the bar, %d columns: what was kept is told', async (columns) => {
  const service = await startHeld();
  const at = await screen(['download', ACCESSION, 'a.htm'], { env: service.env, size: { columns, rows: 9 } });
  await at.shows((lines) => lines.some(isBar));
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  // Where it is narrow, a blank may stand at the end of a line.
  const words = at.lines().join('').replaceAll(' ', '');
  expect(words).toBe(`a.htm: stopped at 2.0 MB; run the same command to resume${INTERRUPTED}`.replaceAll(' ', ''));
});

test('Ctrl-C of several files: one line for what was kept of all', async () => {
  const service = await startHeld(['a.htm', 'b.htm', 'c.htm', 'd.htm']);
  const at = await screen(['download', ACCESSION, '--all', '-j', '3'], {
    env: service.env,
    size: { columns: 120, rows: 9 },
  });
  await at.shows((lines) => lines.filter(isBar).length === 3 && lines[0]?.startsWith('0 of 4 files') === true);
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toEqual([
    expect.stringMatching(
      /^3 unfinished, 1 not started, stopped at 6\.0 MB; run the same command to resume; 4 requests, /,
    ),
    INTERRUPTED,
  ]);
});

test('Ctrl-C while a text without an end of its own stands on the screen', async () => {
  const server = await scripted((socket) => void socket.write(`${head(200, { 'Content-Length': 100 })}begun`));
  const at = await screen(['download', ACCESSION, 'a.txt', '-o', '-'], { env: serviceAt(server.url) });
  await at.shows((lines) => lines.includes('begun'));
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toEqual(['begun^C', INTERRUPTED]);
});

/** A directory with a file that takes long to hash, and costs no room on the disk. */
async function large(path: string): Promise<void> {
  await mkdir(path);
  await promisify(execFile)('truncate', ['-s', '200G', join(path, 'a.htm')]);
  await writeFile(join(path, 'SHA256SUMS'), `${'0'.repeat(64)}  a.htm\n`);
}

test('Ctrl-C while what is there is hashed', async () => {
  const service = await startHeld();
  const script = `while ! [ -e ready ]; do sleep 0.01; done; exec $FILINGS download ${ACCESSION} a.htm -d there --sha256 ${'0'.repeat(64)}`;
  const at = await screen([], { env: service.env, script });
  await large(join(at.path, 'there'));
  await writeFile(join(at.path, 'ready'), '');
  await at.shows((lines) => lines.some((line) => line.startsWith('a.htm')));
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(service.requests).toEqual([]);
  expect(at.lines()).toEqual([INTERRUPTED]);
});

test('Ctrl-C at the bar of verify', async () => {
  const at = await screen([], { script: 'while ! [ -e ready ]; do sleep 0.01; done; exec $FILINGS verify there' });
  await large(join(at.path, 'there'));
  await writeFile(join(at.path, 'ready'), '');
  await at.shows((lines) => lines.some((line) => /^verified +[\d.]+ \w+ +[\d.]+ \w?B\/s$/.test(line)));
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toEqual([
    expect.stringMatching(/^0 of 0 files are as listed/),
    expect.stringMatching(/interrupted: SIGINT/),
  ]);
});

test('what is typed as the input is not drawn over, and Ctrl-C ends its line', async () => {
  const server = await scripted((socket, request) => {
    if (request.index === 0) socket.write(head(503, { 'Retry-After': 1, 'Content-Length': 0 }));
  });
  const at = await screen(['download', '-i', '-'], { env: serviceAt(server.url) });
  at.type('nonsense\r');
  await at.shows((lines) => lines.some((line) => line.startsWith('filings: line 1: ')));
  at.type(`${ACCESSION} a.htm\r`);
  await at.shows((lines) => lines.some((line) => line.includes('retry 1 of 5 in 1 s')));
  at.type('0001234');
  await at.shows((lines) => lines.at(-1) === '0001234');
  // A second has gone by then: what moves would have been drawn.
  await until(() => server.requests.length === 2);
  expect(at.lines().at(-1)).toBe('0001234');
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toContain(`${ACCESSION} a.htm`);
  expect(at.lines().join('\n')).not.toMatch(/files so far/);
  expect(at.lines().at(-1)).toBe(INTERRUPTED);
});
