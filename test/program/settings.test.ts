import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { sleep as realSleep, type Sleep } from '../../src/abort.ts';
import { ACCESSION, filings, linesOf, type Workplace, workplace } from './run.ts';

const CANARY = 'canary-key-12345';
const SCHEMA = pathToFileURL(join(import.meta.dirname, '../../schema/config.schema.json')).href;

let place: Workplace;
let config: string;
beforeEach(async () => {
  place = await workplace();
  config = join(place.home, '.config/filings/config.json');
});

/** Runs `filings config` with words, or with a line of words. */
async function run(words: string | readonly string[], env: Record<string, string> = {}, input = '') {
  const args = typeof words === 'string' ? words.split(' ') : words;
  const { exitCode, stdout, stderr } = await place.filings(['config', ...args], env, { input });
  return { exitCode, stdout: `${stdout}`, stderr };
}

const written = async () => JSON.parse(await readFile(config, 'utf8'));

describe('config set', () => {
  test('creates the file for its owner only, and keeps the other settings', async () => {
    for (const [key = '', value = '', ...more] of [
      ['base-url', 'https://a.example'],
      ['jobs', '8'],
      ['allowHttp', '1'],
      ['apiKeyCommand', '["pass", "filings"]'],
      ['jwt', '{"keyFile": "key.pem"}'],
      ['jobs', '9'],
      ['rate', '5/s', '--profile', 'w'],
    ])
      expect((await run(['set', key, value, ...more])).exitCode).toBe(0);
    const expected = {
      $schema: SCHEMA,
      baseUrl: 'https://a.example',
      jobs: 9,
      allowHttp: true,
      apiKeyCommand: ['pass', 'filings'],
      jwt: { keyFile: place.at('key.pem') },
      profiles: { w: { rate: '5/s' } },
    };
    expect(await readFile(config, 'utf8')).toBe(`${JSON.stringify(expected, undefined, 2)}\n`);
    expect((await stat(config)).mode & 0o777).toBe(0o600);
    expect((await stat(join(place.home, '.config'))).mode & 0o777).toBe(0o700);
  });

  test('reads a key from stdin', async () => {
    expect(await run('set api-key', {}, `\ufeff${CANARY}\r\n`)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await written()).toEqual({ $schema: SCHEMA, apiKey: CANARY });
  });

  test.each([
    ['', (listing: object) => ({ $schema: SCHEMA, listing })],
    [' --profile p', (listing: object) => ({ $schema: SCHEMA, profiles: { p: { listing } } })],
  ])('sets, shows and unsets each member of listing%s', async (more, asFile) => {
    const expressions = {
      files: 'data.documents',
      more: 'data.next',
      total: 'data."record-count"',
      next: 'links[0].href',
    };
    const parameters = { 'query.page_size': '100', 'query.filter.type': 'a.b' };
    const members = { ...expressions, 'first-page': 0, ...parameters };
    for (const [name, value] of Object.entries(members))
      expect((await run(['set', `listing.${name}`, `${value}`, ...more.split(' ').filter(Boolean)])).stderr).toBe('');
    const query = { page_size: '100', 'filter.type': 'a.b' };
    expect(await written()).toEqual(asFile({ ...expressions, firstPage: 0, query }));
    for (const [name, value] of Object.entries(members)) {
      expect((await run(`get listing.${name}${more}`)).stdout).toBe(`${value}\n`);
      expect((await run(`unset listing.${name}${more}`)).exitCode).toBe(0);
      expect((await run(`get listing.${name}${more}`)).exitCode).toBe(5);
    }
    // An empty description would mean that one response is the whole listing.
    expect(await written()).toEqual(more === '' ? { $schema: SCHEMA } : { $schema: SCHEMA, profiles: { p: {} } });
  });

  test.each([
    [['jobs'], 'VALUE is missing'],
    [['api-key-command', 'pass x'], 'must be an array of a program and its arguments, such as ["pass", "filings"]'],
    [['base-url', 'http://a.example'], 'plain http would send the key unencrypted'],
    [['sandbox', '1'], 'sandbox cannot be set in the config file\n  hint: use --sandbox or FILINGS_SANDBOX\n'],
    [['sandbx', '1'], 'sandbx: no such setting\n  hint: did you mean sandbox?\n'],
    [['jbos', '1'], 'jbos: no such setting\n  hint: did you mean jobs?'],
    [[`api-key=${CANARY}`], 'apiKey: no such setting\n  hint: put a space'],
    [['api-key', `${CANARY}\nx`], 'apiKey: contains a line break'],
    [['listing.files', 'a['], 'listing.files: invalid JMESPath expression'],
    [['listing.next', '', '--profile', 'p'], 'profiles.p.listing.next: invalid JMESPath expression'],
    [['listing.fils', 'a'], 'listing: it has no such member\n  hint: did you mean files?'],
    [['listing.first-page', 'one'], 'listing.firstPage: must be a whole number'],
    [['jwt.lifetime', '10s'], 'jwt: must have either keyFile or secretFile'],
  ])('rejects %j and writes nothing', async (args, message) => {
    const { exitCode, stderr } = await run(['set', ...args]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(CANARY);
    await expect(stat(config)).rejects.toThrow('ENOENT');
  });

  test.each<[what: string, config: object, line: string, refused: string | undefined]>([
    ['a key file beside a key', { apiKey: 'k' }, 'api-key-file f', 'apiKeyFile: two sources of the API key'],
    ['one at the top, one in a profile', { apiKey: 'k' }, 'api-key-file f --profile p', undefined],
    ['plain http that the top level allows', { allowHttp: true }, 'base-url http://a.example --profile p', undefined],
    ['no allowHttp for plain http', { allowHttp: true, baseUrl: 'http://a.example' }, 'allow-http 0', 'plain http'],
    ['a keyIn that is used by a JWT', { jwtFile: 'f' }, 'key-in basic', 'basic cannot be used with a JWT'],
  ])('checks the value against the settings beside it: %s', async (_, before, line, refused) => {
    await place.config(before);
    const { exitCode, stderr } = await run(`set ${line}`);
    expect(exitCode, stderr).toBe(refused === undefined ? 0 : 2);
    expect(stderr).toContain(refused ?? '');
    if (refused !== undefined) expect(await written()).toEqual(before);
  });

  test('does not change a file that it cannot parse', async () => {
    await place.config('{"jobs": 2,}');
    expect(await run('set jobs 3')).toMatchObject({ exitCode: 2 });
    expect(await readFile(config, 'utf8')).toBe('{"jobs": 2,}');
  });
});

describe('config unset', () => {
  test('removes one of two sources of the key', async () => {
    await place.config({ apiKey: CANARY, apiKeyFile: 'f', profiles: { p: { jobs: 1 } } });
    for (const line of ['api-key', 'jobs --profile p', 'jobs --profile misspelt']) await run(`unset ${line}`);
    expect(await written()).toEqual({ apiKeyFile: 'f', profiles: { p: {} } });
  });

  test('repairs a file whose profile does not exist, as the hint of every other command says', async () => {
    const other = await place.write('other.json', '{"profile": "gone", "jobs": 7}');
    const here = (line: string) => run(`${line} --config ${other}`);
    for (const line of [`check ${ACCESSION}`, 'list', 'get jobs']) {
      const { exitCode, stderr } = await here(line);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('profile gone: no such profile')]);
      expect(stderr).toContain(`hint: filings config unset profile --config ${other}\n`);
    }
    expect((await here('set jobs 8')).exitCode).toBe(0);
    expect((await here('unset profile')).exitCode).toBe(0);
    expect((await here('get jobs')).stdout).toBe('8\n');
  });
});

describe('config list and get', () => {
  test('print the effective value and its origin', async () => {
    await run('set jobs 8');
    const { stdout } = await run('list -q --retries=1', { FILINGS_RATE: '2/s' });
    const rows = ['rate\t2/s\tFILINGS_RATE', 'retries\t1\t--retries', 'color\tauto\tdefault', 'deadline\t\tnot set'];
    expect(linesOf(stdout)).toEqual(expect.arrayContaining([`jobs\t8\t${config}: jobs`, ...rows]));
    expect((await run('get jobs')).stdout).toBe('8\n');
    expect((await run('get jobs', { FILINGS_JOBS: '3' })).stdout).toBe('3\n');
    expect(await run('get deadline')).toMatchObject({ exitCode: 5, stdout: '' });
    expect((await run('get api-key')).stderr).toBe('filings: api-key: not set\n  hint: filings config set api-key\n');
  });

  test('print no secret', async () => {
    await run(`set api-key ${CANARY}`);
    for (const line of ['list -v', 'get apiKey', `list --api-key=${CANARY}`]) {
      const { stdout, stderr, exitCode } = await run(line, { FILINGS_JWT: CANARY });
      expect(exitCode).toBe(0);
      expect(stdout).toContain('[redacted]');
      expect(`${stdout}${stderr}`).not.toContain(CANARY);
    }
  });

  test('print the program of apiKeyCommand without its arguments', async () => {
    await place.config({ apiKeyCommand: ['pass', 'show', CANARY] });
    const { stdout } = await run('list');
    expect(stdout).toContain('apiKeyCommand\tpass …\t');
    expect(stdout).not.toMatch(new RegExp(`show|${CANARY}`));
  });

  test.each(['authorization', 'apiKey', 'default'])('redact no words of the program with the key %s', async (key) => {
    const env = { FILINGS_API_KEY: key, FILINGS_BASE_URL: `https://h.example/${key}` };
    const { stdout } = await run('list --key-in authorization', env);
    const rows = ['apiKey\t[redacted]\tFILINGS_API_KEY', 'keyIn\tauthorization\t--key-in', 'retries\t5\tdefault'];
    expect(linesOf(stdout)).toEqual(expect.arrayContaining(rows));
    if (key.length >= 8) expect(stdout).toContain('baseUrl\thttps://h.example/[redacted]\t');
    expect((await run('get baseUrl', env)).stdout).toBe(`https://h.example/${key}\n`);
  });
});

test('config path prints the path of the file, whether or not it exists', async () => {
  expect((await run('path')).stdout).toBe(`${config}\n`);
  expect((await run('path --config c.json')).stdout).toBe(`${place.at('c.json')}\n`);
  expect(await filings(['config', 'path'])).toMatchObject({ exitCode: 2 });
});

test('every command rejects a config file that others can write', async () => {
  await place.config({ baseUrl: 'https://a.example', apiKey: CANARY }, 0o666);
  const stderr = `filings: config file ${config}: others can write it\n  hint: chmod 600 ${config}\n`;
  for (const command of ['set jobs 2', 'unset base-url', 'list', 'get jobs', `check ${ACCESSION}`])
    expect(await run(command)).toMatchObject({ exitCode: 2, stderr });
  expect((await run('path')).stdout).toBe(`${config}\n`);
});

test.each<[from: string, config: object, args: string[]]>([
  ['a flag', {}, ['--deadline', '1h']],
  ['the config file', { deadline: '1h' }, []],
])('the deadline of %s stops the command that prints the key', async (_, more, args) => {
  await place.config({ baseUrl: 'http://127.0.0.1:1', apiKeyCommand: ['sleep', '600'], ...more });
  const sleep: Sleep = (ms, signal) => (ms === 3_600_000 ? Promise.resolve() : realSleep(ms, signal));
  const { exitCode, stderr } = await place.filings(['list', '0001234567-24-000001', ...args], {}, { sleep });
  expect([exitCode, stderr]).toEqual([7, expect.stringContaining('the deadline of 3600 s has passed')]);
});
