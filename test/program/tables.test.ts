import { describe, expect, test } from 'vitest';
import { displayWidth } from '../../src/terminal/width.ts';
import { head } from '../servers/answers.ts';
import { ACCESSION, asking, linesOf, type RunOptions, workplace } from './run.ts';

const env = { NO_COLOR: '1' };
const LONGEST = 'a-name-that-is-longer-than-a-narrow-terminal-日本語-🇩🇪.htm';
const FILES = JSON.stringify([
  { file_name: 'primary.htm', size: 4800, type: '10-K', description: 'The report of a company that writes long ones' },
  { file_name: LONGEST, size: 12, type: 'EX-99.1' },
]);

describe('list on a terminal', () => {
  async function listed(args: readonly string[], own: Omit<RunOptions, 'env'>, more: Record<string, string> = {}) {
    const answer = head(200, { 'Content-Length': Buffer.byteLength(FILES) }) + FILES;
    const { filings } = await asking((socket) => void socket.write(answer));
    const { exitCode, stdout, stderr } = await filings(['list', ACCESSION, ...args], { ...env, ...more }, own);
    expect([exitCode, stderr]).toEqual([0, '']);
    return linesOf(stdout);
  }

  test.each([
    [30, 'NAME', 'a-name-that-is-…-日本語-🇩🇪.htm'],
    [60, 'NAME  SIZE  TYPE', 'a-name-that-is-longer…erminal-日本語-🇩🇪.htm    12 B  EX-99.1'],
    [150, 'NAME  SIZE  TYPE  DESCRIPTION', `${LONGEST}    12 B  EX-99.1`],
  ])(
    'fits into %i columns by a shorter name, and omits size and type only if the name would be unreadable',
    async (columns, heading, last) => {
      const lines = await listed([], { columns });
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(columns);
      expect(lines).toEqual([expect.anything(), expect.anything(), last]);
      expect(lines[0]?.replace(/ +/g, '  ')).toBe(heading);
    },
  );

  test('prints full names without a terminal, also with COLUMNS', async () => {
    const narrow = { COLUMNS: '20' };
    expect(await listed([], {}, narrow)).toEqual(['primary.htm', LONGEST]);
    expect((await listed(['-l'], {}, narrow)).join()).toMatch(new RegExp(`writes long ones,${LONGEST}`));
  });
});

const TOKEN = [
  { alg: 'HS256', kid: 'k'.repeat(30) },
  { sub: 'me', exp: 1_700_000_000 },
]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.');

test.each<[string, RegExp, RegExp]>([
  ['config list', /^KEY +VALUE +ORIGIN/, /^jobs +8 +\S+config\.json: jobs$/m],
  ['config check --sandbox', /^CHECKED +VERDICT +DETAIL/, /^certificate +not used$/m],
  [`token inspect ${TOKEN}.AA`, /^PART +NAME +VALUE +MEANING\nNOT VERIFIED /, /Z, expired \d+ d ago$/m],
])('%s prints an aligned table to a terminal, and fields with TAB otherwise', async (line, heading, row) => {
  const { config, filings } = await workplace();
  await config({ jobs: 8, profiles: { work: { baseUrl: 'https://work.example' }, empty: {} } });
  const onTerminal = await filings(line.split(' '), env, { columns: 30 });
  expect(`${onTerminal.stdout}`).toMatch(heading);
  expect(`${onTerminal.stdout}`).not.toMatch(/[\t…]/);
  expect(`${onTerminal.stdout}`).toMatch(row);
  const piped = await filings(line.split(' '));
  expect(`${piped.stdout}`).not.toMatch(heading);
  expect(linesOf(piped.stdout).every((each) => each.includes('\t'))).toBe(true);
  expect(onTerminal.exitCode).toBe(piped.exitCode);
});
