import { describe, expect } from 'vitest';
import { head } from '../servers/answers.ts';
import { part } from '../service/jwt-forge.ts';
import { ACCESSION, asking, linesOf, type RunOptions, test } from './run.ts';

const env = { NO_COLOR: '1' };
const LONGEST = 'a-name-that-is-longer-than-a-narrow-terminal-日本語-🇩🇪.htm';
const FILES = [
  { file_name: 'primary.htm', size: 4800, type: '10-K', description: 'The report of a company that writes long ones' },
  { file_name: LONGEST, size: 12, type: 'EX-99.1' },
];

describe('list on a terminal', () => {
  async function listed(files: unknown, columns?: number, args: string[] = [], more: Record<string, string> = {}) {
    const body = JSON.stringify(files);
    const answer = head(200, { 'Content-Length': Buffer.byteLength(body) }) + body;
    const { filings } = await asking((socket) => void socket.write(answer));
    const own: Omit<RunOptions, 'env'> = columns === undefined ? {} : { columns };
    const { exitCode, stdout, stderr } = await filings(['list', ACCESSION, ...args], { ...env, ...more }, own);
    expect([exitCode, stderr]).toEqual([0, '']);
    return linesOf(stdout);
  }

  test('is a table whose last column is cut at the end of the terminal', async () => {
    expect(await listed(FILES, 100)).toEqual([
      expect.stringMatching(/^NAME +SIZE +TYPE +DESCRIPTION$/),
      expect.stringMatching(/^primary\.htm +4\.8 kB +10-K +The report of a compan…$/),
      `${LONGEST}    12 B  EX-99.1`,
    ]);
  });

  test('never cuts a name, even in the last column', async () => {
    expect(await listed([LONGEST], 20)).toEqual(['NAME', LONGEST]);
    expect((await listed([{ file_name: LONGEST, size: 12 }], 20))[1]).toBe(`${LONGEST}  …`);
  });

  test('prints full names without a terminal, even with COLUMNS', async () => {
    const narrow = { COLUMNS: '20' };
    expect(await listed(FILES, undefined, [], narrow)).toEqual(['primary.htm', LONGEST]);
    expect((await listed(FILES, undefined, ['-l'], narrow)).join()).toContain(`writes long ones,${LONGEST}`);
  });
});

const TOKEN = `${part({ alg: 'HS256', kid: 'k'.repeat(30) })}.${part({ sub: 'me', exp: 1_700_000_000 })}.AA`;

test.for`
  line                                     | heading                                         | row
  ${'config list'}                         | ${/^KEY +VALUE +SOURCE/}                        | ${/^jobs +8 +\S+config\.json: jobs$/m}
  ${`config check ${ACCESSION} --sandbox`} | ${/^CHECKED +RESULT/}                           | ${/^clock +ok$/m}
  ${`token inspect ${TOKEN}`}              | ${/^PART +NAME +VALUE +MEANING\nNOT VERIFIED /} | ${/Z, expired \d+ d ago$/m}
`('$line prints a table to a terminal, and fields with TAB elsewhere', async ({ line, heading, row }, { place }) => {
  await place.config({ jobs: 8 });
  const onTerminal = await place.filings(line.split(' '), env, { columns: 30 });
  const piped = await place.filings(line.split(' '));
  for (const pattern of [heading, row]) expect(`${onTerminal.stdout}`).toMatch(pattern);
  expect(`${onTerminal.stdout}`).not.toContain('\t');
  expect(`${piped.stdout}`).not.toMatch(heading);
  expect(linesOf(piped.stdout).every((each) => each.includes('\t'))).toBe(true);
  expect(onTerminal.exitCode).toBe(piped.exitCode);
});
