import { readdir } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { ACCESSION, filings, test } from './run.ts';

const LISTING_MEMBERS = 'files, name, total, more, query, page, firstPage, offset, next, cursor';
const NOT_A_COMMAND = `${ACCESSION} is an accession number, not a command`;
const DID_YOU_MEAN = `did you mean filings list ${ACCESSION}, or filings download ${ACCESSION} FILE?`;

const A_URL = 'an http or https URL without a user, query or fragment, such as https://api.example.com';

describe('an invalid command line', () => {
  test.each`
    args                                                                | message
    ${['download', ACCESSION, 'primary.htm', '--report=', '--sandbox']} | ${'--report: must be a file'}
    ${['download', ACCESSION, '--all', '-d', '', '--sandbox']}          | ${'--directory: must be a directory'}
    ${['token', 'sign', '--key=']}                                      | ${'--key: must be a file'}
  `('with an empty path is refused: $args', async ({ args, message }) => {
    const { stdout, stderr, exitCode } = await filings(args);
    expect([stdout, exitCode, stderr]).toEqual(['', 2, expect.stringMatching(`^filings: ${message}.*is empty`)]);
  });

  test.each`
    args                                                | message                                      | hint
    ${['list', ACCESSION, '--constructor']}             | ${"unknown option '--constructor'"}          | ${'see filings list --help'}
    ${['config', 'get', '']}                            | ${"'': no such setting"}                     | ${"see 'filings config list'"}
    ${['config', 'get', 'listing.nope']}                | ${'listing: no such member'}                 | ${`the members are ${LISTING_MEMBERS}`}
    ${['config', 'get', 'base-url.nope']}               | ${'baseUrl: has no members'}                 | ${"see 'filings config list'"}
    ${[ACCESSION, 'a.htm']}                             | ${NOT_A_COMMAND}                             | ${DID_YOU_MEAN}
    ${['list', '0001234567', '24', '000001']}           | ${"'0001234567' is not an accession number"} | ${`did you mean ${ACCESSION}?`}
    ${['list', ACCESSION, '--base-url=localhost:8080']} | ${`--base-url: must be ${A_URL}`}            | ${'did you mean http://localhost:8080?'}
  `('with an unknown word gets a hint: $args', async ({ args, message, hint }) => {
    const stderr = `filings: ${message}\n  hint: ${hint}\n`;
    expect(await filings(args)).toEqual({ exitCode: 2, stdout: '', stderr });
  });

  test.each`
    command           | rest
    ${'serve'}        | ${'--pages x'}
    ${'token keygen'} | ${'--alg ES256 --out k --kid K'}
  `('without a better hint names the help of its command: $command $rest', async ({ command, rest }) => {
    const { stderr, exitCode } = await filings(`${command} ${rest}`.split(' '));
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`\n  hint: see filings ${command} --help\n`)]);
  });

  const CANARY = 'canary-key-12345';
  test.each([
    [['list', '--api-key', CANARY, '--nonsense', '-v']],
    [['list', '--base-url', `https://me:${CANARY}@x`, '0000000000-00-000000']],
  ])('never shows a key: %j', async (args) => {
    const { stdout, stderr, exitCode } = await filings(args, { env: { FILINGS_JWT: CANARY } });
    expect([exitCode, stdout, stderr]).toEqual([2, '', expect.not.stringContaining('canary')]);
  });

  test.each(['always', 'never'])('is reported in color by FORCE_COLOR and --color=%s', async (when) => {
    const { stderr } = await filings(['list', '--nonsense', `--color=${when}`], { env: { FORCE_COLOR: '1' } });
    expect(stderr.includes('\x1b[')).toBe(when === 'always');
  });
});

test('a hint repeats the flags without which it would be about another service', async ({ place }) => {
  await place.write('my file.json', '{"apiKey": "a-key", "profiles": {"p": {}}}');
  const flags = ['--config', 'my file.json', '--profile=p'];
  const unset = await place.filings(['config', 'get', 'listing', ...flags]);
  expect(unset.stderr).toContain("set it with filings --config 'my file.json' --profile p config set listing VALUE\n");
  const foreign = await place.filings(['list', ACCESSION, '--base-url=http://127.0.0.1:9', ...flags]);
  expect(foreign.stderr).toContain("run: filings --config 'my file.json' config set base-url http://127.0.0.1:9\n");
  const batch = await place.filings(['--sandbox', 'download', ACCESSION, 'primary.htm', 'none.htm']);
  expect(batch.stderr).toContain(`: filings --sandbox list ${ACCESSION}\n`);
});

test('18 digits are an accession number, several may follow, and --limit-rate needs no /s', async ({ place }) => {
  const other = '0001234567-24-000002';
  const line = `download 000123456724000001 ${other} ${ACCESSION} --include primary.* --limit-rate 100MB --sandbox`;
  const { exitCode, stderr } = await place.filings([...line.split(' '), '--layout', '{accession_no}/{file_name}']);
  expect(exitCode, stderr).toBe(0);
  const files = [ACCESSION, `${ACCESSION}/primary.htm`, other, `${other}/primary.htm`];
  expect((await readdir(place.path, { recursive: true })).sort()).toEqual(files.sort());
});

test.each`
  args
  ${['list', '0009999999-24-000001']}
  ${['download', '0009999999-24-000001', 'a.htm']}
  ${['download', '0009999999-24-000001', '--all']}
  ${['config', 'check', '0009999999-24-000001']}
`('the hint names the filings of the sandbox if $args wants another one', async ({ args }) => {
  const { exitCode, stderr } = await filings([...args, '--sandbox']);
  const numbers = [1, 2, 3].map((number) => `0001234567-24-00000${number}`).join(', ');
  expect([exitCode, stderr]).toEqual([
    5,
    expect.stringContaining(`hint: the sandbox has sample filings only: ${numbers}\n`),
  ]);
});

test('what filings list prints without --json is refused as an input, and each hint says so', async ({ place }) => {
  const { stdout } = await filings(['list', ACCESSION, '--sandbox']);
  const { exitCode, stderr } = await place.filings(['download', '-i', '-', '--sandbox'], {}, { input: stdout });
  const hints = stderr
    .split('\n')
    .filter((line) => line.includes("(if 'filings list' printed the line, add --json to it)"));
  expect([exitCode, new Set(hints).size]).toEqual([3, 2]);
});
