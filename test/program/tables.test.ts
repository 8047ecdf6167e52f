import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { displayWidth } from '../../src/terminal/width.ts';
import { scripted } from '../servers/scripted.ts';
import { ACCESSION, type Given, serviceAt, workplace } from './run.ts';

const env = { NO_COLOR: '1' };
const LONGEST = 'a-name-that-is-longer-than-a-narrow-terminal-日本語-🇩🇪.htm';
const FILES = [
  {
    file_name: 'primary.htm',
    size: 4800,
    type: '10-K',
    description: 'The annual report of a company that writes long ones',
  },
  { file_name: LONGEST, size: 12, type: 'EX-99.1' },
];

async function listing(body: unknown = FILES) {
  const text = JSON.stringify(body);
  const server = await scripted((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  });
  const place = await workplace();
  return (args: readonly string[], given: Omit<Given, 'env'> = {}, more: Record<string, string> = {}) =>
    place.filings(['list', ACCESSION, ...args], { ...serviceAt(server.url), ...env, ...more }, given);
}

const linesOf = (stdout: Buffer) => stdout.toString().trimEnd().split('\n');
const widest = (stdout: Buffer) => Math.max(...linesOf(stdout).map(displayWidth));

describe('list on a terminal', () => {
  test.each([
    [30, 'NAME', 'a-name-that-is-…-日本語-🇩🇪.htm'],
    [150, 'NAME  SIZE  TYPE  DESCRIPTION', `${LONGEST}    12 B  EX-99.1`],
  ])('fits into %i columns: the name is cut when nothing else is left', async (columns, heading, last) => {
    const list = await listing();
    const { exitCode, stdout, stderr } = await list([], { columns });
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(widest(stdout)).toBeLessThanOrEqual(columns);
    const lines = linesOf(stdout);
    expect(lines).toHaveLength(3);
    expect(lines[0]?.replace(/ +/g, '  ')).toBe(heading);
    expect(lines[2]).toBe(last);
  });

  test('is exact off a terminal, whatever COLUMNS says', async () => {
    const list = await listing();
    const narrow = { COLUMNS: '20' };
    expect((await list([], {}, narrow)).stdout.toString()).toBe(`primary.htm\n${LONGEST}\n`);
    const { stdout, stderr } = await list(['-l'], {}, narrow);
    expect(stdout.toString()).toContain(LONGEST);
    expect(stdout.toString()).toContain('writes long ones');
    expect(stderr).toBe('');
  });
});

describe('records', () => {
  const TOKEN = [
    { alg: 'HS256', kid: 'k'.repeat(30) },
    { sub: 'me', exp: 1_700_000_000 },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat('AA')
    .join('.');

  async function configured() {
    const place = await workplace();
    const config = join(place.home, '.config/filings/config.json');
    await mkdir(dirname(config), { recursive: true });
    const profiles = { work: { baseUrl: 'https://work.example', apiKey: 'canary-key-12345' }, empty: {} };
    await writeFile(config, JSON.stringify({ jobs: 8, profiles }), { mode: 0o600 });
    return { ...place, config };
  }

  test.each<[string, readonly string[], RegExp, RegExp]>([
    ['config list', ['config', 'list'], /^KEY +VALUE +ORIGIN/, /^jobs +8 +\S+config\.json: jobs$/m],
    ['config check', ['config', 'check', '--sandbox'], /^CHECKED +VERDICT +DETAIL/, /^certificate +not used$/m],
    [
      'token inspect',
      ['token', 'inspect', TOKEN],
      /^PART +NAME +VALUE +MEANING\nNOT VERIFIED /,
      /Z, expired \d+ d ago$/m,
    ],
  ])('%s is aligned and whole on a terminal, and TAB separated otherwise', async (_, args, heading, row) => {
    const { filings } = await configured();
    const shown = await filings(args, env, { columns: 30 });
    expect(shown.stdout.toString()).toMatch(heading);
    expect(shown.stdout.toString()).not.toMatch(/[\t…]/);
    expect(shown.stdout.toString()).toMatch(row);
    const piped = await filings(args);
    expect(piped.stdout.toString()).not.toMatch(heading);
    expect(linesOf(piped.stdout).every((line) => line.includes('\t'))).toBe(true);
    expect(shown.exitCode).toBe(piped.exitCode);
  });
});

describe('config check speaks of the settings', () => {
  const saying = (status: number, body: string) =>
    `HTTP/1.1 ${status} So\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const answers: readonly (readonly [string, string, number, 'ok' | 'wrong'])[] = [
    ['a 404', saying(404, '{"title":"Item not found","status":404}'), 0, 'ok'],
    ['a 404 whose members are null', saying(404, '{"type":null,"detail":null,"extensions":{}}'), 0, 'ok'],
    ["a web server's 404", saying(404, '<html><title>404 Not Found</title></html>'), 9, 'wrong'],
    ["another program's 404", saying(404, '{"status":404,"error":"Not Found","path":"/v1/filings"}'), 9, 'wrong'],
    ['JSON that is no listing', saying(200, '{"listing":"no"}'), 9, 'ok'],
    ['an empty listing', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]', 0, 'ok'],
    ['a 401', 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n', 4, 'ok'],
    ['a 503', 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n', 7, 'ok'],
  ];

  test.each(answers)('%s', async (_, answer, exit, verdict) => {
    const server = await scripted((socket) => void socket.write(answer));
    const place = await workplace();
    const { exitCode, stdout, stderr } = await place.filings(['config', 'check', '--json'], serviceAt(server.url));
    expect(exitCode, stderr).toBe(exit);
    expect(`${stdout}${stderr}`).not.toContain('0000000000-00-000000');
    expect(stderr).not.toContain('filings config check');
    if (exit > 0) expect(stderr).toMatch(/^filings: config check: .+\n(?: {2}.*\n)* {2}hint: ./);
    const [address, , key] = linesOf(stdout).map((line) => JSON.parse(line));
    expect(address).toMatchObject({ check: 'address', verdict });
    expect(key).toEqual({ check: 'key', verdict: { 0: 'ok', 4: 'wrong' }[exit] ?? 'unknown' });
  });
});
