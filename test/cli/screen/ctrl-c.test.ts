import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { head } from '../../servers/answers.ts';
import { type Script, scripted } from '../../servers/scripted.ts';
import { ACCESSION, serviceAt, until } from '../program.ts';
import { longToHash, startPaused } from './held.ts';
import { CTRL_C, CTRL_D, screen } from './screen.ts';

const INTERRUPTED = 'filings: interrupted: SIGINT';
const WIDE = { columns: 120, rows: 9 };

const silent: Script = () => {};
const unavailable: Script = (socket) => void socket.write(head(503, { 'Retry-After': 60, 'Content-Length': 0 }));

// The silent server does not answer the TLS handshake.
test.for`
  stage                     | script         | scheme      | shown
  ${'a connection attempt'} | ${silent}      | ${'https:'} | ${/^a\.htm {2}no response yet$/}
  ${'a wait for a retry'}   | ${unavailable} | ${'http:'}  | ${/^a\.htm: 503 .*; retry 1 of 5 in 60 s$/}
`('Ctrl-C during $stage leaves only the error on the screen', async ({ script, scheme, shown }) => {
  const server = await scripted(script);
  const env = serviceAt(server.url.replace('http:', scheme));
  const at = await screen(['download', ACCESSION, 'a.htm'], { env, size: WIDE });
  await until(() => server.connections() > 0);
  await at.shows(shown);
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.bytes()).toContain('^C');
  expect(at.lines().at(-1)).toBe(INTERRUPTED);
  expect(at.lines().join()).not.toContain('no response yet');
});

test('Ctrl-C during several files prints one line for all kept parts', async () => {
  const service = await startPaused(['a.htm', 'b.htm', 'c.htm', 'd.htm']);
  const at = await screen(['download', ACCESSION, '--all', '-j', '3'], { env: service.env, size: WIDE });
  await at.shows(/^0 of 4 files .* 50% {2}6\.0 MB of/);
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toEqual([
    expect.stringMatching(/^3 unfinished, 1 file not started, 6\.0 MB kept; .*; run the same command to resume$/),
    INTERRUPTED,
  ]);
  const left = await readdir(join(at.path, ACCESSION));
  expect(left.map((name) => name.endsWith('resume'))).toEqual([true, true, true]);
});

test('Ctrl-C while an existing file is compared keeps no part, and does not speak of resuming', async () => {
  const service = await startPaused();
  const prepare = (path: string) => writeFile(join(path, 'a.htm'), Buffer.alloc(3_000_000));
  const at = await screen(['download', ACCESSION, 'a.htm'], { env: service.env, prepare });
  await at.shows(/^comparing a\.htm {2}\[====== {4}\] {2}66% /);
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toEqual([expect.stringMatching(/^a\.htm: stopped; no part was kept/), INTERRUPTED]);
  expect(await readdir(at.path)).toEqual(['a.htm']);
});

const CHECKED = `download ${ACCESSION} a.htm -d there --sha256 ${'0'.repeat(64)} --api-key k`;
const VERIFIED = /^verified +[\d.]+ \w+ +[\d.]+ \w?B\/s/;
test.for([
  { line: CHECKED, shown: /^a\.htm/, left: [] },
  { line: 'verify there', shown: VERIFIED, left: [/^0 of 0 files match their checksums/] },
])('Ctrl-C while files are hashed leaves no bar: $line', async ({ line, shown, left }) => {
  const env = { FILINGS_BASE_URL: 'http://127.0.0.1:9' };
  const at = await screen(line.split(' '), { env, prepare: longToHash });
  await at.shows(shown);
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toEqual([...left, /^filings: .*interrupted: SIGINT$/].map((each) => expect.stringMatching(each)));
});

test('no bar overwrites typed input, and Ctrl-C ends its line', async () => {
  let finish = () => {};
  const server = await scripted((socket, request) => {
    if (request.index === 0) return void socket.write(head(503, { 'Retry-After': 0, 'Content-Length': 0 }));
    socket.write(head(200, { 'Content-Length': 6 }));
    finish = () => void socket.write('a file');
  });
  const at = await screen(['download', '-i', '-'], { env: serviceAt(server.url) });
  await at.shows(/stdin.*Ctrl-D/);
  at.type('nonsense\r');
  await at.shows(/^filings: line 1: /);
  at.type(`${ACCESSION} a.htm\r`);
  await at.shows(/retry 1 of 5/);
  at.type('0001234');
  await at.shows(/^0001234$/);
  // A bar would be drawn when bytes arrive.
  await until(() => server.requests.length === 2);
  finish();
  await until(() => existsSync(join(at.path, ACCESSION, 'a.htm')));
  expect(at.lines().at(-1)).toBe('0001234');
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toContain(`${ACCESSION} a.htm`);
  expect(at.bytes()).not.toMatch(/^\d+ files/m);
  expect(at.lines().at(-1)).toBe(INTERRUPTED);
});

const KEY = 'a-canary-key-of-this-test';
const list = `list ${ACCESSION} --api-key`;
const NOTHING = 'filings: JWT: nothing was entered';

test.for`
  prompt        | command                     | keys          | after
  ${'API key:'} | ${'config set api-key'}     | ${CTRL_C}     | ${[INTERRUPTED, 'ended with 130']}
  ${'API key:'} | ${`${list}-file -`}         | ${`${KEY}\r`} | ${['NAME', 'a.htm', 'ended with 0']}
  ${'JWT:'}     | ${`${list} k --jwt-file -`} | ${CTRL_D}     | ${[NOTHING, '  hint: see filings list --help', 'ended with 2']}
`('the hidden prompt $prompt ends with a line break, and the terminal echoes again', async (row) => {
  const server = await scripted((socket) => void socket.end(`${head(200, { 'Content-Length': 9 })}["a.htm"]`));
  const script = `$FILINGS ${row.command}; echo "ended with $?"; read`;
  const at = await screen([], { script, env: { FILINGS_BASE_URL: server.url } });
  await at.shows((now) => now.includes(row.prompt));
  at.type(row.keys);
  expect(await at.shows(/^ended with/)).toEqual([row.prompt, ...row.after]);
  at.type('seen');
  await at.shows(/^seen$/);
  expect(at.bytes()).not.toContain('canary');
  const sent = server.requests.map(({ headers }) => `${headers.authorization}`);
  expect(sent.every((field) => field.endsWith(KEY))).toBe(true);
});

test('Ctrl-C after a hidden prompt and text without a line break begins a new line for the error', async () => {
  const server = await scripted((socket) => void socket.write(`${head(200, { 'Content-Length': 100 })}begun`));
  const args = ['download', ACCESSION, 'a.txt', '-o', '-', '--api-key-file', '-'];
  const at = await screen(args, { env: { FILINGS_BASE_URL: server.url } });
  await at.shows(/^API key:$/);
  at.type(`${KEY}\r`);
  await at.shows(/^begun$/);
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toEqual(['API key:', 'begun^C', INTERRUPTED]);
});

test('Ctrl-C at the prompt of token inspect begins a new line for the error', async () => {
  const at = await screen(['token', 'inspect']);
  await at.shows(/then press (Enter|Ctrl-D):$/);
  at.type(CTRL_C);
  await at.ended;
  expect(at.lines().slice(1)).toEqual(['^C', INTERRUPTED]);
});
