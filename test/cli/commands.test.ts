import { expect } from 'vitest';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { ACCESSION, serve, serviceAt, test } from './program.ts';

// test/program runs the commands in process. Here the built and bundled program runs each command once.
const NAMES = /^(.+\n)*primary\.htm\n/;
const NOTHING = /^$/;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+\n$/;

const ROWS = [
  { line: `list ${ACCESSION} --sandbox`, status: 0, out: NAMES, err: NOTHING },
  {
    line: `download ${ACCESSION} none.htm --sandbox`,
    status: 5,
    out: NOTHING,
    err: /404 Not Found\n(.*\n)* {2}hint: /,
  },
  {
    line: `download ${ACCESSION} --all --checksums --sandbox`,
    status: 0,
    out: NOTHING,
    err: /^11 downloaded .*; 12 requests, /,
  },
  { line: 'config set jobs 8', status: 0, out: NOTHING, err: NOTHING },
  { line: 'config list', status: 0, out: /^jobs\t\d+\tdefault$/m, err: NOTHING },
  { line: `config check ${ACCESSION} --sandbox`, status: 0, out: /^address\t/, err: NOTHING },
  { line: 'token keygen --alg ES256 --out key.pem', status: 0, out: /^-----BEGIN PUBLIC KEY-----\n/, err: /import/ },
  { line: 'token sign --secret-file secret', status: 0, out: JWT, err: NOTHING },
  { line: 'token inspect e30.e30.AA', status: 0, out: /^NOT VERIFIED/, err: NOTHING },
  { line: 'token verify e30.e30.AA --secret-file secret', status: 4, out: NOTHING, err: /^filings: / },
  { line: 'verify .', status: 2, out: NOTHING, err: /no SHA256SUMS/ },
  { line: 'completion bash', status: 0, out: /complete .*filings/, err: NOTHING },
  { line: 'help token sign', status: 0, out: /^Usage: filings token sign /, err: NOTHING },
  { line: 'serve --port none', status: 2, out: NOTHING, err: /^filings: --port/ },
  { line: '--version', status: 0, out: /^filings \d+\.\d+\.\d+\n$/, err: NOTHING },
  { line: '', status: 2, out: NOTHING, err: /^Usage: filings / },
];

test.for(ROWS)("the built program runs 'filings $line'", async ({ line, status, out, err }, { place }) => {
  await place.write('secret', 's'.repeat(64));
  const { exitCode, stdout, stderr } = await place.filings(line.split(' ').filter(Boolean));
  expect(exitCode, stderr).toBe(status);
  expect(`${stdout}`).toMatch(out);
  expect(stderr).toMatch(err);
});

test('this table has a row for each command', () => {
  expect(ROWS.map(({ line }) => line.split(' ')[0])).toEqual(expect.arrayContaining(COMMANDS.map(({ name }) => name)));
});

test('one process serves, and others list and download from it', async ({ place }) => {
  const { url, log, kill, ended } = await serve(['--api-key', 'a-key-of-my-own']);
  const env = serviceAt(url, 'a-key-of-my-own');
  // With NODE_DEBUG Node would print the URLs, which have the key.
  const debug = { FILINGS_KEY_IN: 'query', NODE_DEBUG: 'undici,fetch,websocket' };
  expect(await place.filings(['list', ACCESSION], { ...env, ...debug })).toMatchObject({ exitCode: 0, stderr: '' });
  expect((await place.filings(['download', ACCESSION, 'primary.htm'], env)).exitCode).toBe(0);
  expect(await place.names()).toEqual(['primary.htm']);
  kill('SIGINT');
  expect(await ended).toMatchObject({ exitCode: 0, killedBy: undefined });
  expect(log()).toMatch(/ GET \/v1\/download.* 200/);
  expect(log()).not.toContain('a-key-of-my-own');
});
