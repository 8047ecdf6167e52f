import { expect } from 'vitest';
import { ACCESSION, serve, serviceAt, test } from './program.ts';

// test/program runs the commands in process. Here the built and bundled program runs each command once.
const NAMES = /^(.+\n)*primary\.htm\n/;
const NOTHING = /^$/;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+\n$/;

test.for`
  line                                                   | status | out                                | err
  ${`list ${ACCESSION} --sandbox`}                       | ${0}   | ${NAMES}                           | ${NOTHING}
  ${`download ${ACCESSION} none.htm --sandbox`}          | ${5}   | ${NOTHING}                         | ${/404 Not Found\n(.*\n)* {2}hint: /}
  ${`download ${ACCESSION} --all --checksums --sandbox`} | ${0}   | ${NOTHING}                         | ${/^11 downloaded .*; 12 requests, /}
  ${'config set jobs 8'}                                 | ${0}   | ${NOTHING}                         | ${/^set jobs to 8 in /}
  ${'config list'}                                       | ${0}   | ${/^jobs\t\d+\tdefault$/m}         | ${NOTHING}
  ${`config check ${ACCESSION} --sandbox`}               | ${0}   | ${/^address\t/}                    | ${NOTHING}
  ${'token keygen --alg ES256 --out key.pem'}            | ${0}   | ${/^-----BEGIN PUBLIC KEY-----\n/} | ${/import the printed public key/}
  ${'token sign --secret-file secret'}                   | ${0}   | ${JWT}                             | ${NOTHING}
  ${'token inspect e30.e30.AA'}                          | ${0}   | ${/^NOT VERIFIED/}                 | ${NOTHING}
  ${'token verify e30.e30.AA --secret-file secret'}      | ${4}   | ${NOTHING}                         | ${/^filings: /}
  ${'verify .'}                                          | ${2}   | ${NOTHING}                         | ${/no SHA256SUMS/}
  ${'completion bash'}                                   | ${0}   | ${/complete .*filings/}            | ${NOTHING}
  ${'help token sign'}                                   | ${0}   | ${/^Usage: filings token sign /}   | ${NOTHING}
  ${'serve --port none'}                                 | ${2}   | ${NOTHING}                         | ${/^filings: --port/}
  ${'--version'}                                         | ${0}   | ${/^filings \d+\.\d+\.\d+\n$/}     | ${NOTHING}
  ${''}                                                  | ${2}   | ${NOTHING}                         | ${/^filings: a command is missing/}
`("the built program runs 'filings $line'", async ({ line, status, out, err }, { place }) => {
  await place.write('secret', 's'.repeat(64));
  const { exitCode, stdout, stderr } = await place.filings(line.split(' ').filter(Boolean));
  expect(exitCode, stderr).toBe(status);
  expect(`${stdout}`).toMatch(out);
  expect(stderr).toMatch(err);
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
