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
