import { describe, expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { ACCESSION, asking } from './run.ts';

const OTHER = 'https://other.example';
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJuYmYiOjB9.c2lnbmF0dXJlLWNhbmFyeQ';

/**
 * A workplace with a config file and a service, in whose texts `URL` is the service, and `KEYFILE` a file with a key. `run` takes variables and
 * arguments.
 */
async function setUp(config: object, status = 200) {
  const answer = `${head(status, { 'Content-Length': 9, Connection: 'close' })}["a.htm"]`;
  const { filings, ...place } = await asking((socket) => void socket.end(answer));
  const here = (text: string) =>
    text.replaceAll(/\bURL\b/g, place.url).replace('KEYFILE', '../.config/filings/file.key');
  await place.config(here(JSON.stringify(config)));
  for (const [name, text] of Object.entries({ 'file.key': 'file-key', 'file.jwt': TOKEN, secret: 's'.repeat(40) })) {
    await place.write(`../.config/filings/${name}`, text);
  }
  return {
    ...place,
    run(command: string, line = '') {
      const words = here(line).split(' ').filter(Boolean);
      const variables = words.filter((word) => word.startsWith('FILINGS_')).map((word) => word.split('='));
      const nothing = { FILINGS_BASE_URL: '', FILINGS_API_KEY: '' };
      const args = words.filter((word) => !word.startsWith('FILINGS_'));
      return filings([...command.split(' '), ...args], { ...nothing, ...Object.fromEntries(variables) });
    },
    keysSent: () => place.requests.map(({ headers }) => headers['x-service-key'] ?? headers.authorization ?? 'none'),
  };
}

const LIST = `list ${ACCESSION}`;
const OWN = { baseUrl: 'URL', apiKey: 'own-key' };
const TOP = { baseUrl: OTHER, apiKey: 'top-key' };
const FOREIGN = { baseUrl: OTHER, apiKey: 'own-key' };

describe('a credential of the config file is sent to the origin of the base URL at its level', () => {
  const P = '--profile p';
  test.each`
    what                                         | config                                                                | line                                           | sent
    ${'with its base URL in the same file'}      | ${OWN}                                                                | ${''}                                          | ${'own-key'}
    ${'with another path of the same origin'}    | ${OWN}                                                                | ${'--base-url URL/elsewhere'}                  | ${'own-key'}
    ${'from a file'}                             | ${{ baseUrl: 'URL', apiKeyFile: 'file.key' }}                         | ${''}                                          | ${'file-key'}
    ${'from a command'}                          | ${{ baseUrl: 'URL', apiKeyCommand: ['echo', 'told-key'] }}            | ${''}                                          | ${'told-key'}
    ${'of a profile'}                            | ${{ ...TOP, profiles: { p: OWN } }}                                   | ${P}                                           | ${'own-key'}
    ${'of a profile that inherits the base URL'} | ${{ ...TOP, baseUrl: 'URL', profiles: { p: { apiKey: 'own-key' } } }} | ${P}                                           | ${'own-key'}
    ${'of the top level, for the same origin'}   | ${{ ...TOP, baseUrl: 'URL', profiles: { p: { baseUrl: 'URL/p' } } }}  | ${P}                                           | ${'top-key'}
    ${'unless the environment has one'}          | ${{ ...TOP, profiles: { p: { baseUrl: 'URL' } } }}                    | ${'FILINGS_API_KEY=env-key FILINGS_PROFILE=p'} | ${'env-key'}
    ${'unless a flag names one'}                 | ${TOP}                                                                | ${'--base-url URL --api-key-file KEYFILE'}     | ${'file-key'}
  `('$what', async ({ config, line, sent }) => {
    const { run, keysSent } = await setUp(config);
    expect(await run(LIST, line)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(keysSent()).toEqual([sent]);
  });
});

describe('a credential of the config file is not sent to another origin', () => {
  const ENV = 'FILINGS_API_KEY=env-key';
  const key = /for this host use --api-key-file FILE or FILINGS_API_KEY$/m;
  const token = /for this host use --jwt-file FILE or FILINGS_JWT$/m;
  const baseUrl =
    /if the (?:API key|JWT) is for this host, run: filings config set base-url http:\/\/127\.0\.0\.1:\d+$/m;
  test.each`
    what                                 | config                                                        | line                             | says                                                                                      | hint
    ${'if a flag sets the base URL'}     | ${FOREIGN}                                                    | ${'--base-url URL'}              | ${'apiKey: not sent to URL, because the API key is for https://other.example'}            | ${key}
    ${'on another port'}                 | ${{ baseUrl: 'http://127.0.0.1:1', apiKey: 'own-key' }}       | ${'--base-url URL'}              | ${'apiKey: not sent to URL, because the API key is for http://127.0.0.1:1'}               | ${key}
    ${'if no base URL is set beside it'} | ${{ apiKey: 'own-key' }}                                      | ${'--base-url URL'}              | ${'apiKey: not sent to URL, because the config file has no baseUrl for it'}               | ${baseUrl}
    ${'if a flag overrides a profile'}   | ${{ baseUrl: OTHER, profiles: { p: { apiKey: 'own-key' } } }} | ${'--profile p --base-url URL'}  | ${'profiles.p.apiKey: not sent to URL, because the API key is for https://other.example'} | ${key}
    ${'if it is a JWT'}                  | ${{ baseUrl: OTHER, jwtFile: 'file.jwt' }}                    | ${`--base-url URL ${ENV}`}       | ${'jwtFile: not sent to URL, because the JWT is for https://other.example'}               | ${token}
    ${'if it mints JWTs'}                | ${{ jwt: { secretFile: 'secret' } }}                          | ${`FILINGS_BASE_URL=URL ${ENV}`} | ${'jwt: not sent to URL, because the config file has no baseUrl for it'}                  | ${baseUrl}
  `('$what', async ({ config, line, says, hint }) => {
    const { run, requests, url } = await setUp(config);
    for (const command of [LIST, `download ${ACCESSION} a.htm`, `config check ${ACCESSION}`]) {
      const { exitCode, stderr, stdout } = await run(command, line);
      expect(exitCode, stderr).toBe(2);
      expect(stderr).toContain(says.replace('URL', url));
      expect(stderr).toMatch(hint);
      expect(stderr + stdout).not.toContain('own-key');
    }
    expect(requests).toHaveLength(0);
  });
});

describe('the commands of the hints, pasted one after the other, lead to success', () => {
  const [KEY, NULL] = [{ apiKey: 'own-key' }, { baseUrl: null }];
  const URL_SET = 'FILINGS_BASE_URL=URL';
  test.each`
    what                                            | config                                                      | line                              | commands
    ${'a key without a base URL'}                   | ${KEY}                                                      | ${URL_SET}                        | ${1}
    ${'with a profile in the environment'}          | ${{ ...KEY, profiles: { p: {} } }}                          | ${`${URL_SET} FILINGS_PROFILE=p`} | ${1}
    ${'with --profile'}                             | ${{ ...KEY, profiles: { p: {} } }}                          | ${`${URL_SET} --profile p`}       | ${1}
    ${'a key in a profile'}                         | ${{ profiles: { p: KEY } }}                                 | ${`${URL_SET} --profile p`}       | ${1}
    ${'a key in a profile of the file'}             | ${{ profile: 'p', profiles: { p: KEY } }}                   | ${URL_SET}                        | ${1}
    ${'null beside a key in a profile'}             | ${{ baseUrl: OTHER, profiles: { p: { ...KEY, ...NULL } } }} | ${`${URL_SET} FILINGS_PROFILE=p`} | ${1}
    ${'null in a profile, a key at the top'}        | ${{ ...KEY, profiles: { p: NULL } }}                        | ${`${URL_SET} FILINGS_PROFILE=p`} | ${1}
    ${'a base URL in the profile only'}             | ${{ ...KEY, profiles: { p: { baseUrl: 'URL' } } }}          | ${'FILINGS_PROFILE=p'}            | ${1}
    ${'no base URL'}                                | ${KEY}                                                      | ${''}                             | ${1}
    ${'no base URL, a profile in the environment'}  | ${{ ...KEY, profiles: { p: {} } }}                          | ${'FILINGS_PROFILE=p'}            | ${1}
    ${'no base URL, null in a profile'}             | ${{ ...KEY, profiles: { p: NULL } }}                        | ${'--profile p'}                  | ${2}
    ${'no base URL, null in a profile of the file'} | ${{ profile: 'p', profiles: { p: { ...KEY, ...NULL } } }}   | ${''}                             | ${1}
  `('$what', async ({ config, line, commands }) => {
    const { run, keysSent, url } = await setUp(config);
    const profile = /FILINGS_PROFILE=\w+/.exec(line)?.[0] ?? '';
    let result = await run(LIST, line);
    for (let pastes = 0; pastes < commands; pastes += 1) {
      expect(result.exitCode, result.stderr).toBe(2);
      const [, noProfile, command = ''] =
        /(FILINGS_PROFILE= )?filings (config set base-url [^,\n]*)/.exec(result.stderr) ?? [];
      const set = await run(command.replace(/\bURL\b/, url), noProfile ? '' : profile);
      expect(set.exitCode, set.stderr).toBe(0);
      result = await run(LIST, line);
    }
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    expect(keysSent()).toEqual(['own-key']);
  });

  test.each`
    config                                                                         | line
    ${{ ...TOP, profile: 'p', profiles: { p: { baseUrl: 'URL', apiKey: null } } }} | ${''}
    ${{ ...TOP, profiles: { p: { baseUrl: 'URL', apiKey: null } } }}               | ${'FILINGS_PROFILE=p'}
    ${{ ...TOP, profiles: { p: { baseUrl: 'URL', apiKey: null } } }}               | ${'--profile p'}
  `('no key, because it is null in the profile that $line selects', async ({ config, line }) => {
    const { run, keysSent } = await setUp(config);
    const { exitCode, stderr } = await run(LIST, line);
    expect(exitCode, stderr).toBe(4);
    const [, before, command] = /with filings (--profile p )?(config set api-key[^,]*)/.exec(stderr) ?? [];
    const variable = line.startsWith('FILINGS_') ? line : '';
    expect((await run(`${before ?? ''}${command} own-key`, variable)).exitCode).toBe(0);
    expect((await run(LIST, line)).exitCode).toBe(0);
    expect(keysSent()).toEqual(['own-key']);
  });

  test('null in a profile does not take the base URL from a key at the top level', async () => {
    const { run, keysSent } = await setUp({ ...OWN, profiles: { p: NULL } });
    expect((await run(LIST, 'FILINGS_BASE_URL=URL FILINGS_PROFILE=p')).exitCode).toBe(0);
    expect(keysSent()).toEqual(['own-key']);
  });
});

const BOTH = 'FILINGS_BASE_URL=URL FILINGS_API_KEY=bad-key FILINGS_JWT=';
const TOKEN_HINT =
  /check FILINGS_API_KEY and FILINGS_JWT, .*\(now by --key-in header\).*; filings token inspect shows what/;
test.each`
  source             | hint                                           | config                                   | line
  ${'a flag'}        | ${/from --api-key-file, /}                     | ${{}}                                    | ${'--base-url URL --api-key-file KEYFILE'}
  ${'the config'}    | ${/\.config\/filings\/config\.json: apiKey, /} | ${{ baseUrl: 'URL', apiKey: 'bad-key' }} | ${''}
  ${'the variables'} | ${TOKEN_HINT}                                  | ${{}}                                    | ${`${BOTH}${TOKEN}`}
`('the hint of a 401 names where the rejected key is from: $source', async ({ hint, config, line }) => {
  const { run } = await setUp(config, 401);
  const { exitCode, stderr } = await run(LIST, line);
  expect([exitCode, stderr]).toEqual([4, expect.stringMatching(/hint: check /)]);
  expect(stderr).toMatch(hint);
  expect(stderr).not.toMatch(/bad-key|file-key/);
});
