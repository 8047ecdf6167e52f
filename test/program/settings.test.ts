import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect } from 'vitest';
import { sleep as realSleep, type Sleep } from '../../src/abort.ts';
import { ACCESSION, test as base, filings, linesOf } from './run.ts';

const CANARY = 'canary-key-12345';
/** Under 128 KiB, but the config file has each member on its own, indented line. */
const LARGE_QUERY = JSON.stringify(Object.fromEntries(Array.from({ length: 9000 }, (_, n) => [n, ''])));
const SCHEMA = pathToFileURL(join(import.meta.dirname, '../../schema/config.schema.json')).href;

/** The config file of a workplace, and `filings config`, which takes words or a line of words. */
const test = base.extend('config', ({ place }) => {
  const path = join(place.home, '.config/filings/config.json');
  return {
    path,
    read: async () => JSON.parse(await readFile(path, 'utf8')),
    async run(words: string | readonly string[], env: Record<string, string> = {}, input = '') {
      const args = typeof words === 'string' ? words.split(' ') : words;
      const { exitCode, stdout, stderr } = await place.filings(['config', ...args], env, { input });
      return { exitCode, stdout: `${stdout}`, stderr };
    },
  };
});

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('config set', () => {
  test('creates the file for its owner only, and keeps the other settings', async ({ place, config }) => {
    const jwt = ['jwt', '{"keyFile": "key.pem"}'];
    const profile = ['rate', '5/s', '--profile', 'w'];
    const url = ['base-url', 'https://a.example'];
    for (const words of [url, ['jobs', '8'], ['allowHttp', '1'], jwt, ['jobs', '9'], profile])
      expect((await config.run(['set', ...words])).exitCode).toBe(0);
    const top = { baseUrl: 'https://a.example', jobs: 9, allowHttp: true, jwt: { keyFile: place.at('key.pem') } };
    const expected = { $schema: SCHEMA, ...top, profiles: { w: { rate: '5/s' } } };
    expect(await readFile(config.path, 'utf8')).toBe(`${JSON.stringify(expected, undefined, 2)}\n`);
    expect([await modeOf(config.path), await modeOf(join(place.home, '.config'))]).toEqual([0o600, 0o700]);
  });

  test('reads a key from stdin', async ({ config }) => {
    const ended = await config.run('set api-key', {}, `\ufeff${CANARY}\r\n`);
    expect(ended).toEqual({ exitCode: 0, stdout: '', stderr: `set apiKey to [redacted] in ${config.path}\n` });
    expect(await config.read()).toEqual({ $schema: SCHEMA, apiKey: CANARY });
  });

  test('says what it wrote unless it is to be quiet', async ({ config }) => {
    const said = async (...words: string[]) => (await config.run(['set', ...words])).stderr;
    expect(await said('retries', '3', '--profile', 'p')).toBe(`set profiles.p.retries to 3 in ${config.path}\n`);
    expect(await said('listing.query', '{"a":"b"}')).toBe(`set listing.query to {"a":"b"} in ${config.path}\n`);
    expect(await said('api-key-command', `["pass","${CANARY}"]`)).toContain('set apiKeyCommand to pass … in ');
    expect(await said('profile', 'p', '--error-format', 'json')).toBe(
      `{"note":"set profile to p in ${config.path}"}\n`,
    );
    expect(await said('jobs', '3', '--quiet')).toBe('');
    await config.run(['unset', 'api-key-command']);
    await config.run(['set', 'api-key', CANARY]);
    expect(await said('base-url', `https://h.example/${CANARY}`)).toMatch(/^set baseUrl to \S+\/\[redacted\] in /);
  });

  test('refuses a key of over 1 MiB from stdin, and does not cut it', async ({ config }) => {
    const ended = await config.run('set api-key', {}, 'x'.repeat((1 << 20) + 1));
    expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('larger than 8 KiB') });
    await expect(stat(config.path)).rejects.toThrow('ENOENT');
  });

  test('leaves a parameter of the listing alone whose name ends like that of a path', async ({ config }) => {
    await config.run(['set', 'listing.query', '{"sortFile": "x"}']);
    expect(await config.read()).toMatchObject({ listing: { query: { sortFile: 'x' } } });
  });

  test.for([[], ['--profile', 'p']])('sets, shows and unsets each member of listing %j', async (level, { config }) => {
    const values = { files: 'data.documents', total: 'data."record-count"', next: 'links[0].href' };
    const others = { 'first-page': '0', query: '{"page_size":"100"}' };
    const members = Object.entries({ ...values, ...others });
    for (const [name, value] of members)
      expect((await config.run(['set', `listing.${name}`, value, ...level, '-q'])).stderr).toBe('');
    const listing = { ...values, firstPage: 0, query: { page_size: '100' } };
    expect(await config.read()).toMatchObject(level.length ? { profiles: { p: { listing } } } : { listing });
    for (const [name, value] of members) {
      expect((await config.run(['get', `listing.${name}`, ...level])).stdout).toBe(`${value}\n`);
      expect((await config.run(['unset', `listing.${name}`, ...level])).exitCode).toBe(0);
      expect((await config.run(['get', `listing.${name}`, ...level])).exitCode).toBe(5);
    }
    // An empty description would mean that one response is the whole listing.
    expect(await config.read()).toEqual({ $schema: SCHEMA, ...(level.length && { profiles: { p: {} } }) });
  });

  test.for`
    words                                        | message
    ${['jobs']}                                  | ${'VALUE is missing'}
    ${['api-key-command', 'pass x']}             | ${'must be an array of a program and its arguments'}
    ${['base-url', 'http://a.example']}          | ${'plain http would send the key unencrypted'}
    ${['sandbox', '1']}                          | ${'config file\n  hint: use --sandbox or FILINGS_SANDBOX\n'}
    ${['jbos', '1']}                             | ${'jbos: no such setting\n  hint: did you mean jobs?'}
    ${[`api-key=${CANARY}`]}                     | ${'apiKey: no such setting\n  hint: put a space'}
    ${['api-key', `${CANARY}\nx`]}               | ${'apiKey: contains a line break'}
    ${['listing.files', 'a[']}                   | ${'listing.files: invalid JMESPath expression: it ends too early: expected a number, *, ?, a colon or ]\n  hint: '}
    ${['listing.page', 'accession_no']}          | ${'listing: sets accession_no'}
    ${['listing.query', '{"Accession_No":"x"}']} | ${'listing: sets accession_no'}
    ${['listing.query', '{"n":1}']}              | ${'listing.query.n: must be an object of strings, such as {"page_size": "100"}\n  hint: correct the value'}
    ${['listing.next', '', '--profile', 'p']}    | ${'profiles.p.listing.next: invalid JMESPath expression'}
    ${['listing.fils', 'a']}                     | ${'listing: no such member\n  hint: did you mean files?'}
    ${['listing.first-page', 'one']}             | ${'listing.firstPage: must be a whole number'}
    ${['profile', 'nope']}                       | ${'profile: the config file has no profile nope'}
    ${['api-key', `"${CANARY}"`]}                | ${'apiKey: is in quotes\n  hint: remove the quotes'}
    ${['base-url', "'https://a.example'"]}       | ${'baseUrl: is in quotes\n  hint: remove the quotes'}
    ${['listing.query', LARGE_QUERY]}            | ${'config.json: larger than 128 KiB'}
    ${['jwt.lifetime', '10s']}                   | ${'jwt: must have exactly one of keyFile and secretFile'}
  `(
    'refuses $words and writes nothing',
    async ({ words, message }: { words: string[]; message: string }, { config }) => {
      const { exitCode, stderr } = await config.run(['set', ...words]);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
      expect(stderr).not.toContain(CANARY);
      await expect(stat(config.path)).rejects.toThrow('ENOENT');
    },
  );

  const overHttp = { baseUrl: 'http://a.example', allowHttp: true };
  test.for`
    what                                         | before                                                   | line                                       | refusal
    ${'two sources of the key'}                  | ${{ apiKey: 'k' }}                                       | ${'api-key-file f'}                        | ${'two sources'}
    ${'plain http'}                              | ${overHttp}                                              | ${'allow-http 0'}                          | ${'plain http'}
    ${'a keyIn that a JWT excludes'}             | ${{ jwtFile: 'f' }}                                      | ${'key-in basic'}                          | ${'with a JWT'}
    ${'sources at two levels'}                   | ${{ apiKey: 'k' }}                                       | ${'api-key-file f --profile p'}            | ${''}
    ${'a profile that conflicts'}                | ${{ keyIn: 'basic', profiles: { p: { jwtFile: 'f' } } }} | ${'profile p'}                             | ${'with a JWT'}
    ${'a value that conflicts with the profile'} | ${{ profile: 'p', profiles: { p: { jwtFile: 'f' } } }}   | ${'key-in basic'}                          | ${'with a JWT'}
    ${'a profile of another name'}               | ${{ profiles: { work: {} } }}                            | ${'profile wrok'}                          | ${'did you mean work?'}
    ${'http, allowed at the top'}                | ${overHttp}                                              | ${'base-url http://b.example --profile p'} | ${''}
  `('checks the value against the settings beside it: $what', async ({ before, line, refusal }, { place, config }) => {
    await place.config(before);
    const { exitCode, stderr } = await config.run(`set ${line}`);
    expect([exitCode, stderr]).toEqual([refusal ? 2 : 0, expect.stringContaining(refusal)]);
    if (refusal) expect(await config.read()).toEqual(before);
  });

  test('does not change a file that it cannot parse', async ({ place, config }) => {
    await place.config('{"jobs": 2,}');
    expect((await config.run('set jobs 3')).exitCode).toBe(2);
    expect(await readFile(config.path, 'utf8')).toBe('{"jobs": 2,}');
  });
});

describe('config unset', () => {
  test('removes one of two sources of the key', async ({ place, config }) => {
    await place.config({ apiKey: CANARY, apiKeyFile: 'f', profiles: { p: { jobs: 1 } } });
    for (const line of ['api-key', 'jobs --profile p']) await config.run(`unset ${line}`);
    expect(await config.read()).toEqual({ apiKeyFile: 'f', profiles: { p: {} } });
  });

  test('refuses a profile that does not exist', async ({ place, config }) => {
    await place.config({ profiles: { work: { jobs: 1 } } });
    const { exitCode, stderr } = await config.run('unset jobs --profile wrok');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('no profile wrok\n  hint: did you mean work?')]);
  });

  test('repairs a file whose profile does not exist, as the hint says', async ({ place, config }) => {
    const path = await place.write('other.json', '{"profile": "gone", "jobs": 7}');
    for (const line of [`check ${ACCESSION}`, 'get jobs']) {
      const { exitCode, stderr } = await config.run(`${line} --config ${path}`);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('profile gone: no such profile')]);
      expect(stderr).toContain(`hint: filings --config ${path} config unset profile\n`);
    }
    for (const line of ['set jobs 8', 'unset profile'])
      expect((await config.run(`${line} --config ${path}`)).exitCode).toBe(0);
    expect((await config.run(`get jobs --config ${path}`)).stdout).toBe('8\n');
  });
});

describe('config list and get', () => {
  test('print the effective value and its origin', async ({ config }) => {
    await config.run('set jobs 8');
    const { stdout } = await config.run('list -q --retries=1', { FILINGS_RATE: '2/s' });
    const ofTheRun = ['rate\t2/s\tFILINGS_RATE', 'retries\t1\t--retries'];
    const others = ['color\tauto\tdefault', 'allowHttp\tfalse\tdefault', 'deadline\t\tnot set'];
    expect(linesOf(stdout)).toEqual(expect.arrayContaining([`jobs\t8\t${config.path}: jobs`, ...ofTheRun, ...others]));
    expect((await config.run('get jobs', { FILINGS_JOBS: '3' })).stdout).toBe('3\n');
    const notSet = 'filings: api-key: not set\n  hint: set it with filings config set api-key\n';
    expect(await config.run('get api-key')).toEqual({ exitCode: 5, stdout: '', stderr: notSet });
  });

  test('print no secret, and no argument of apiKeyCommand', async ({ place, config }) => {
    await place.config({ apiKeyCommand: ['pass', 'show', CANARY] });
    const listed = await config.run('list -v', { FILINGS_JWT: CANARY });
    expect(listed.stdout).toContain('apiKeyCommand\tpass …\t');
    await place.config({ apiKey: CANARY });
    const got = [await config.run('get apiKey'), await config.run(`list --api-key=${CANARY}`)];
    for (const { stdout, stderr } of [listed, ...got]) {
      expect(stdout).toContain('[redacted]');
      expect(stdout + stderr).not.toMatch(new RegExp(`show|${CANARY}`));
    }
  });

  test.for(['authorization', 'apiKey'])('redact no words of the program with the key %s', async (key, { config }) => {
    const env = { FILINGS_API_KEY: key, FILINGS_BASE_URL: `https://h.example/${key}` };
    const { stdout } = await config.run('list --key-in authorization', env);
    const rows = ['apiKey\t[redacted]\tFILINGS_API_KEY', 'keyIn\tauthorization\t--key-in', 'retries\t5\tdefault'];
    expect(linesOf(stdout)).toEqual(expect.arrayContaining(rows));
    if (key.length >= 8) expect(stdout).toContain('baseUrl\thttps://h.example/[redacted]\t');
    expect((await config.run('get baseUrl', env)).stdout).toBe(`https://h.example/${key}\n`);
  });
});

test('config path prints the path of the file, whether or not it exists', async ({ place, config }) => {
  expect((await config.run('path')).stdout).toBe(`${config.path}\n`);
  expect((await config.run('path --config c.json')).stdout).toBe(`${place.at('c.json')}\n`);
  expect((await filings(['config', 'path'])).exitCode).toBe(2);
});

test('a config file that other users can write is only used to print its path', async ({ place, config }) => {
  await place.config({ baseUrl: 'https://a.example', apiKey: CANARY }, 0o666);
  const stderr = expect.stringContaining(`other users can write it\n  hint: chmod 600 ${config.path}\n`);
  for (const command of ['set jobs 2', 'unset base-url', 'list', `check ${ACCESSION}`])
    expect(await config.run(command)).toMatchObject({ exitCode: 2, stderr });
  expect((await config.run('path')).exitCode).toBe(0);
});

test.for`
  from                 | inFile                | args
  ${'a flag'}          | ${{}}                 | ${['--deadline', '1h']}
  ${'the config file'} | ${{ deadline: '1h' }} | ${[]}
`('the deadline of $from stops the command that prints the key', async ({ inFile, args }, { place }) => {
  await place.config({ baseUrl: 'http://127.0.0.1:1', apiKeyCommand: ['sleep', '600'], ...inFile });
  const sleep: Sleep = (ms, signal) => (ms === 3_600_000 ? Promise.resolve() : realSleep(ms, signal));
  const { exitCode, stderr } = await place.filings(['list', ACCESSION, ...args], {}, { sleep });
  expect([exitCode, stderr]).toEqual([7, expect.stringContaining('deadline of 3600 s')]);
});
