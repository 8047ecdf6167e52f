import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { head } from '../../servers/answers.ts';
import { type Script, scripted } from '../../servers/scripted.ts';
import { ACCESSION, serviceAt, until } from '../program.ts';
import { longToHash, startPaused } from './held.ts';
import { CTRL_C, CTRL_D, screen } from './screen.ts';

const INTERRUPTED = 'filings: interrupted: SIGINT';

test.each<[stage: string, script: Script, scheme: string, expected: RegExp]>([
  // The server does not answer the TLS handshake.
  ['a connection attempt', () => {}, 'https:', /^a\.htm {2}no response yet$/],
  [
    'a wait before a retry',
    (socket) => void socket.write(head(503, { 'Retry-After': 60, 'Content-Length': 0 })),
    'http:',
    /^a\.htm: 503 .*; retry 1 of 5 in 60 s$/,
  ],
])('Ctrl-C during %s leaves only the error on the screen', async (_stage, script, scheme, expected) => {
  const server = await scripted(script);
  const env = serviceAt(server.url.replace('http:', scheme));
  const at = await screen(['download', ACCESSION, 'a.htm'], { env, size: { columns: 120, rows: 9 } });
  await until(() => server.connections() > 0);
  await at.shows((lines) => lines.some((line) => expected.test(line)));
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.bytes()).toContain('^C');
  expect(at.lines().at(-1)).toBe(INTERRUPTED);
  expect(at.lines().join()).not.toContain('no response yet');
});

test('Ctrl-C during several files prints one line for all kept parts', async () => {
  const service = await startPaused(['a.htm', 'b.htm', 'c.htm', 'd.htm']);
  const at = await screen(['download', ACCESSION, '--all', '-j', '3'], {
    env: service.env,
    size: { columns: 120, rows: 9 },
  });
  await at.shows((lines) => /^0 of 4 files .* 50% {2}6\.0 MB of/.test(lines[0] ?? ''));
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toEqual([
    expect.stringMatching(
      /^3 unfinished, 1 not started, stopped at 6\.0 MB; run the same command to resume; 4 requests, /,
    ),
    INTERRUPTED,
  ]);
  const left = await readdir(join(at.path, ACCESSION));
  expect(left.filter((name) => name.endsWith('resume'))).toHaveLength(3);
  expect(left).toHaveLength(3);
});

test.each<[args: string, expected: RegExp, left: readonly RegExp[]]>([
  [`download ${ACCESSION} a.htm -d there --sha256 ${'0'.repeat(64)} --api-key k`, /^a\.htm/, []],
  ['verify there', /^verified +[\d.]+ \w+ +[\d.]+ \w?B\/s/, [/^0 of 0 files are as listed/]],
])('Ctrl-C while files are hashed leaves no bar: %s', async (args, expected, left) => {
  const env = { FILINGS_BASE_URL: 'http://127.0.0.1:9' };
  const at = await screen(args.split(' '), { env, prepare: longToHash });
  await at.shows((lines) => lines.some((line) => expected.test(line)));
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toEqual([...left, /^filings: .*interrupted: SIGINT$/].map((line) => expect.stringMatching(line)));
});

test('the bars do not overwrite typed input, and Ctrl-C ends its line', async () => {
  const server = await scripted((socket, request) => {
    if (request.index === 0) socket.write(head(503, { 'Retry-After': 1, 'Content-Length': 0 }));
  });
  const at = await screen(['download', '-i', '-'], { env: serviceAt(server.url) });
  await at.shows((lines) => lines.some((line) => /stdin.*Ctrl-D/.test(line)));
  at.type('nonsense\r');
  await at.shows((lines) => lines.some((line) => line.startsWith('filings: line 1: ')));
  at.type(`${ACCESSION} a.htm\r`);
  await at.shows((lines) => lines.some((line) => line.includes('retry 1 of 5 in 1 s')));
  at.type('0001234');
  await at.shows((lines) => lines.at(-1) === '0001234');
  // A second has passed by then, in which a bar would have been drawn.
  await until(() => server.requests.length === 2);
  expect(at.lines().at(-1)).toBe('0001234');
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toContain(`${ACCESSION} a.htm`);
  expect(at.lines().join('\n')).not.toMatch(/files so far/);
  expect(at.lines().at(-1)).toBe(INTERRUPTED);
});

const KEY = 'a-canary-key-of-this-test';

test.each([
  { prompt: 'API key:', command: 'config set api-key', keys: CTRL_C, after: [INTERRUPTED, 'ended with 130'] },
  {
    prompt: 'API key:',
    command: `list ${ACCESSION} --api-key-file -`,
    keys: `${KEY}\r`,
    after: ['NAME', 'a.htm', 'ended with 0'],
  },
  {
    prompt: 'JWT:',
    command: `list ${ACCESSION} --api-key k --jwt-file -`,
    keys: CTRL_D,
    after: ['filings: JWT: nothing was entered', 'ended with 2'],
  },
])(
  'the hidden prompt $prompt ends with a line break, and the terminal echoes again',
  async ({ prompt, command, keys, after }) => {
    const server = await scripted((socket) => void socket.end(`${head(200, { 'Content-Length': 9 })}["a.htm"]`));
    const script = `$FILINGS ${command}; echo "ended with $?"; read`;
    const at = await screen([], { script, env: { FILINGS_BASE_URL: server.url } });
    await at.shows((now) => now.includes(prompt));
    at.type(keys);
    expect(await at.shows((now) => now.includes(after.at(-1) ?? ''))).toEqual([prompt, ...after]);
    at.type('seen');
    await at.shows((now) => now.at(-1) === 'seen');
    expect(at.bytes()).not.toContain('canary');
    const sent = server.requests.map(({ headers }) => `${headers.authorization}`);
    expect(sent.every((field) => field.endsWith(KEY))).toBe(true);
  },
);

test.each([
  { after: 'text without a line break', args: ['--api-key', KEY], prompt: [] },
  { after: 'a hidden prompt and such text', args: ['--api-key-file', '-'], prompt: ['API key:'] },
])('Ctrl-C after $after begins a new line for the error', async ({ args, prompt }) => {
  const server = await scripted((socket) => void socket.write(`${head(200, { 'Content-Length': 100 })}begun`));
  const env = { FILINGS_BASE_URL: server.url };
  const at = await screen(['download', ACCESSION, 'a.txt', '-o', '-', ...args], { env });
  for (const line of prompt) await at.shows((now) => now.includes(line));
  if (prompt.length > 0) at.type(`${KEY}\r`);
  await at.shows((now) => now.includes('begun'));
  at.type(CTRL_C);
  expect(await at.ended).toBe(130);
  expect(at.lines()).toEqual([...prompt, 'begun^C', INTERRUPTED]);
});

test.each([
  { keyName: 'Ctrl-C', keys: CTRL_C, lines: ['^C', INTERRUPTED] },
  { keyName: 'Enter', keys: 'e30.e30.AA\r', lines: ['e30.e30.AA'] },
])('token inspect begins a new line after $keyName', async ({ keys, lines }) => {
  const at = await screen(['token', 'inspect']);
  await at.shows((now) => now.some((line) => /then press (Enter|Ctrl-D):$/.test(line)));
  at.type(keys);
  await at.ended;
  expect(at.lines().slice(1, 1 + lines.length)).toEqual(lines);
  expect(at.lines()[1 + lines.length] ?? 'filings:').toMatch(/^( {2}hint:|filings:|PART |$)/);
});
