import { describe, expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { ACCESSION, asking, linesOf, type RunOptions, workplace } from './run.ts';

const env = { NO_COLOR: '1' };
const LONGEST = 'a-name-that-is-longer-than-a-narrow-terminal-日本語-🇩🇪.htm';
const FILES = JSON.stringify([
  { file_name: 'primary.htm', size: 4800, type: '10-K', description: 'The report of a company that writes long ones' },
  { file_name: LONGEST, size: 12, type: 'EX-99.1' },
]);

describe('list on a terminal', () => {
  async function listed(args: string[], own: Omit<RunOptions, 'env'>, more: Record<string, string> = {}, body = FILES) {
    const answer = head(200, { 'Content-Length': Buffer.byteLength(body) }) + body;
    const { filings } = await asking((socket) => void socket.write(answer));
    const { exitCode, stdout, stderr } = await filings(['list', ACCESSION, ...args], { ...env, ...more }, own);
    expect([exitCode, stderr]).toEqual([0, '']);
    return linesOf(stdout);
  }

  test('is a table whose last column is cut at the end of the terminal', async () => {
    expect(await listed([], { columns: 100 })).toEqual([
      expect.stringMatching(/^NAME +SIZE +TYPE +DESCRIPTION$/),
      expect.stringMatching(/^primary\.htm +4\.8 kB +10-K +The report of a compan…$/),
      `${LONGEST}    12 B  EX-99.1`,
    ]);
  });

  test('never cuts a name, even in the last column', async () => {
    expect(await listed([], { columns: 20 }, {}, JSON.stringify([LONGEST]))).toEqual(['NAME', LONGEST]);
    const sized = await listed([], { columns: 20 }, {}, JSON.stringify([{ file_name: LONGEST, size: 12 }]));
    expect(sized[1]).toBe(`${LONGEST}  …`);
  });

  test('prints full names without a terminal, even with COLUMNS', async () => {
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

test.each<{ line: string; heading: RegExp; row: RegExp }>([
  { line: 'config list', heading: /^KEY +VALUE +SOURCE/, row: /^jobs +8 +\S+config\.json: jobs$/m },
  { line: `config check ${ACCESSION} --sandbox`, heading: /^CHECKED +RESULT/, row: /^clock +ok$/m },
  {
    line: `token inspect ${TOKEN}.AA`,
    heading: /^PART +NAME +VALUE +MEANING\nNOT VERIFIED /,
    row: /Z, expired \d+ d ago$/m,
  },
])('$line prints an aligned table to a terminal, and fields with TAB otherwise', async ({ line, heading, row }) => {
  const { config, filings } = await workplace();
  await config({ jobs: 8, profiles: { work: { baseUrl: 'https://work.example' }, empty: {} } });
  const onTerminal = await filings(line.split(' '), env, { columns: 30 });
  expect(`${onTerminal.stdout}`).toMatch(heading);
  expect(`${onTerminal.stdout}`).not.toMatch(/\t/);
  expect(`${onTerminal.stdout}`).toMatch(row);
  const piped = await filings(line.split(' '));
  expect(`${piped.stdout}`).not.toMatch(heading);
  expect(linesOf(piped.stdout).every((each) => each.includes('\t'))).toBe(true);
  expect(onTerminal.exitCode).toBe(piped.exitCode);
});
