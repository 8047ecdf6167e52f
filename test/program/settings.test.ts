import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { sleep as realSleep } from '../../src/abort.ts';
import { temporaryFolder } from '../settings-world.ts';
import { filings } from './run.ts';

const CANARY = 'canary-key-12345';
const SCHEMA = pathToFileURL(join(import.meta.dirname, '../../schema/config.schema.json')).href;

let home: string;
let config: string;
beforeEach(async () => {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  home = folder.path;
  config = join(home, '.config/filings/config.json');
});

const run = (args: readonly string[], env: Record<string, string> = {}, input = '') =>
  filings(args, { env: { HOME: home, ...env }, input, cwd: home });

async function writeConfig(content: object): Promise<void> {
  await mkdir(dirname(config), { recursive: true });
  await writeFile(config, JSON.stringify(content), { mode: 0o600 });
}

async function written(): Promise<unknown> {
  return JSON.parse(await readFile(config, 'utf8'));
}

describe('config set', () => {
  test('makes the file for its owner alone, and keeps what it does not touch', async () => {
    await run(['config', 'set', 'base-url', 'https://a.example']);
    await run(['config', 'set', 'jobs', '8']);
    await run(['config', 'set', 'allowHttp', '1']);
    await run(['config', 'set', 'apiKeyCommand', '["pass", "filings"]']);
    await run(['config', 'set', 'jwt', '{"keyFile": "key.pem"}']);
    await run(['config', 'set', 'jobs', '9']);
    const { exitCode } = await run(['--profile', 'w', 'config', 'set', 'rate', '5/s']);
    expect(exitCode).toBe(0);
    const expected = {
      $schema: SCHEMA,
      baseUrl: 'https://a.example',
      jobs: 9,
      allowHttp: true,
      apiKeyCommand: ['pass', 'filings'],
      jwt: { keyFile: join(home, 'key.pem') },
      profiles: { w: { rate: '5/s' } },
    };
    expect(await readFile(config, 'utf8')).toBe(`${JSON.stringify(expected, undefined, 2)}\n`);
    expect((await stat(config)).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, '.config'))).mode & 0o777).toBe(0o700);
  });

  test('reads a key from stdin', async () => {
    const { exitCode, stdout, stderr } = await run(['config', 'set', 'api-key'], {}, `${CANARY}\n`);
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await written()).toEqual({ $schema: SCHEMA, apiKey: CANARY });
  });

  test.each([
    [['jobs'], 'VALUE is missing'],
    [['allow-http', 'yes'], 'allowHttp: must be 1 or true'],
    [['api-key-command', 'pass x'], 'must be an array of a program and its arguments, such as ["pass", "filings"]'],
    [['base-url', 'http://a.example'], 'plain http would send the key unencrypted'],
    [['base-url', 'http://a.example', '--profile', 'p'], 'plain http would send the key unencrypted'],
    [['sandbox', '1'], 'sandbox: cannot be set in the config file'],
    [['jbos', '1'], 'jbos: no such setting\n  hint: did you mean jobs?'],
    [[`api-key=${CANARY}`], 'apiKey: no such setting'],
    [['api-key', `${CANARY}\nx`], 'apiKey: has a line break inside'],
  ])('%j is refused, and nothing written', async (args, message) => {
    const { exitCode, stderr } = await run(['config', 'set', ...args]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(CANARY);
    await expect(stat(config)).rejects.toThrow('ENOENT');
  });

  test.each<[what: string, config: object, args: string[], refused: string | undefined]>([
    ['a key file beside a key', { apiKey: 'k' }, ['api-key-file', 'f'], 'apiKeyFile: two sources of the API key'],
    ['a JWT beside what mints them', { jwt: { keyFile: 'f' } }, ['jwt-file', 'f'], 'jwt: two sources of the JWT'],
    [
      'both in one profile',
      { profiles: { p: { apiKey: 'k' } } },
      ['api-key-file', 'f', '--profile', 'p'],
      'profiles.p.apiKeyFile: two sources',
    ],
    ['one at the top, one in a profile', { apiKey: 'k' }, ['api-key-file', 'f', '--profile', 'p'], undefined],
    ['plain http to this machine', {}, ['base-url', 'http://127.0.0.1:8787'], undefined],
    [
      'plain http that the top allows a profile',
      { allowHttp: true },
      ['base-url', 'http://a.example', '--profile', 'p'],
      undefined,
    ],
    ['what plain http needs', { allowHttp: true, baseUrl: 'http://a.example' }, ['allow-http', '0'], 'plain http'],
    ['a way that a JWT takes', { jwtFile: 'f' }, ['key-in', 'basic'], 'basic cannot be used with a JWT'],
    ['a JWT where the key goes', { keyIn: 'authorization' }, ['jwt-file', 'f'], 'cannot be used with a JWT'],
  ])('looks at what is beside it: %s', async (_, before, args, refused) => {
    await writeConfig(before);
    const { exitCode, stderr } = await run(['config', 'set', ...args]);
    expect(exitCode, stderr).toBe(refused === undefined ? 0 : 2);
    expect(stderr).toContain(refused ?? '');
    if (refused !== undefined) expect(await written()).toEqual(before);
  });

  test('tells what it may do where it cannot be written', async () => {
    const { exitCode, stderr } = await run(['config', 'set', 'jobs', '2', '--config', '/sys/nobody/config.json']);
    expect(exitCode, stderr).toBe(8);
    expect(stderr).toMatch(/^filings: \/sys\/nobody: cannot write: .*\n {2}hint: .*choose another place/);
  });

  test('does not touch a file it cannot read', async () => {
    await run(['config', 'set', 'jobs', '2']);
    await writeFile(config, '{"jobs": 2,}');
    expect(await run(['config', 'set', 'jobs', '3'])).toMatchObject({ exitCode: 2 });
    expect(await readFile(config, 'utf8')).toBe('{"jobs": 2,}');
  });
});

describe('config unset', () => {
  test('takes out one of two sources of the key', async () => {
    await writeConfig({ apiKey: CANARY, apiKeyFile: 'f', profiles: { p: { jobs: 1 } } });
    await run(['config', 'unset', 'api-key']);
    await run(['config', 'unset', 'jobs', '--profile', 'p']);
    await run(['config', 'unset', 'jobs', '--profile', 'misspelt']);
    expect(await written()).toEqual({ apiKeyFile: 'f', profiles: { p: {} } });
  });

  test('mends a file whose profile went away; meanwhile the rest can be seen and set', async () => {
    const other = join(home, 'other.json');
    await writeFile(other, '{"profile": "gone", "jobs": 7}', { mode: 0o600 });
    const here = (...args: string[]) => run([...args, '--config', other]);
    for (const command of [['check'], ['list', '--profile', 'gone']]) {
      const { exitCode, stderr } = await here('config', ...command);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('profile gone: no such profile')]);
    }
    expect((await here('config', 'check')).stderr).toContain(`hint: filings config unset profile --config ${other}\n`);
    expect((await here('config', 'list')).stdout).toContain(`profile\tgone\t${other}: profile\n`);
    expect((await here('config', 'set', 'jobs', '8')).exitCode).toBe(0);
    expect((await here('config', 'get', 'jobs')).stdout).toBe('8\n');
    expect((await here('config', 'unset', 'profile')).exitCode).toBe(0);
    expect(JSON.parse(await readFile(other, 'utf8'))).toEqual({ jobs: 8 });
  });
});

describe('config list and get', () => {
  test('show the value that counts, and where it comes from', async () => {
    await run(['config', 'set', 'jobs', '8']);
    const { stdout } = await run(['config', 'list', '-q', '--retries=1'], { FILINGS_RATE: '2/s' });
    expect(stdout).toContain(`jobs\t8\t${config}: jobs\n`);
    expect(stdout).toContain('rate\t2/s\tFILINGS_RATE\n');
    expect(stdout).toContain('retries\t1\t--retries\n');
    expect(stdout).toContain('color\tauto\tdefault\n');
    expect(stdout).toContain('deadline\t\tnot set\n');
    expect((await run(['config', 'get', 'jobs'])).stdout).toBe('8\n');
    expect((await run(['config', 'get', 'jobs'], { FILINGS_JOBS: '3' })).stdout).toBe('3\n');
    expect(await run(['config', 'get', 'deadline'])).toMatchObject({ exitCode: 5, stdout: '' });
  });

  test('list is JSON Lines for programs', async () => {
    const { stdout } = await run(['config', 'list', '--json'], { FILINGS_JOBS: '3' });
    const rows = stdout.trimEnd().split('\n');
    const [jobs, deadline] = ['jobs', 'deadline'].map((key) => rows.find((line) => line.includes(`"key":"${key}"`)));
    expect(jobs).toBe('{"key":"jobs","value":3,"level":"env","origin":"FILINGS_JOBS"}');
    expect(deadline).toBe('{"key":"deadline","value":null,"level":null,"origin":null}');
  });

  test('never show a secret', async () => {
    await run(['config', 'set', 'api-key', CANARY]);
    for (const [args, env] of [
      [['list', '-v']],
      [['list', '--json'], { FILINGS_JWT: CANARY }],
      [['get', 'apiKey']],
      [['list', `--api-key=${CANARY}`]],
    ] as const) {
      const { stdout, stderr, exitCode } = await run(['config', ...args], env);
      expect(exitCode).toBe(0);
      expect(stdout).toContain('[redacted]');
      expect(`${stdout}${stderr}`).not.toContain(CANARY);
    }
  });

  test('list shows the program that gives the key, and none of its arguments', async () => {
    await writeConfig({ apiKeyCommand: ['pass', 'show', CANARY] });
    const [text, json] = await Promise.all([run(['config', 'list']), run(['config', 'list', '--json'])]);
    expect(text.stdout).toContain('apiKeyCommand\tpass …\t');
    expect(json.stdout).toContain('"value":["pass","…"]');
    expect(`${text.stdout}${json.stdout}`).not.toMatch(new RegExp(`show|${CANARY}`));
  });

  test.each(['authorization', 'apiKey', 'default'])(
    'list and get keep the program’s own words when the key is %s',
    async (key) => {
      const env = { FILINGS_API_KEY: key, FILINGS_BASE_URL: `https://h.example/${key}` };
      const { stdout } = await run(['config', 'list', '--key-in', 'authorization'], env);
      expect(stdout).toContain('apiKey\t[redacted]\tFILINGS_API_KEY\n');
      expect(stdout).toContain('keyIn\tauthorization\t--key-in\n');
      expect(stdout).toMatch(/^retries\t5\tdefault$/m);
      if (key.length >= 8) expect(stdout).toContain('baseUrl\thttps://h.example/[redacted]\t');
      expect((await run(['config', 'get', 'baseUrl'], env)).stdout).toBe(`https://h.example/${key}\n`);
    },
  );
});

test('config path is where the file is, or would be', async () => {
  expect((await run(['config', 'path'])).stdout).toBe(`${config}\n`);
  expect((await run(['config', 'path', '--config', 'c.json'])).stdout).toBe(`${join(home, 'c.json')}\n`);
  expect(await filings(['config', 'path'])).toMatchObject({ exitCode: 2 });
});

test.each([
  ['write', 0o666, ['set jobs 2', 'unset base-url', 'list', 'get jobs', 'check --sandbox']],
  ['read', 0o644, ['set jobs 2', 'unset base-url', 'list', 'get jobs', 'check']],
])('a config file with a key that others can %s is refused by every command', async (verb, mode, commands) => {
  await writeConfig({ baseUrl: 'https://a.example', apiKey: CANARY });
  await chmod(config, mode);
  for (const command of commands) {
    const { exitCode, stderr } = await run(['config', ...command.split(' ')]);
    expect(exitCode, command).toBe(2);
    expect(stderr).toBe(`filings: config file ${config}: others can ${verb} it\n  hint: chmod 600 ${config}\n`);
  }
  expect((await run(['config', 'path'])).stdout).toBe(`${config}\n`);
});

test.each<[from: string, config: object, args: string[], env: Record<string, string>]>([
  ['a flag', {}, ['--deadline', '1h'], {}],
  ['the config file', { deadline: '1h' }, [], {}],
])('the deadline of %s ends the program that is asked for the key', async (_, more, args, env) => {
  await writeConfig({ baseUrl: 'http://127.0.0.1:1', apiKeyCommand: ['sleep', '600'], ...more });
  const sleep: typeof realSleep = (ms, signal) => (ms === 3_600_000 ? Promise.resolve() : realSleep(ms, signal));
  const given = { env: { HOME: home, PATH: process.env.PATH ?? '', ...env }, sleep };
  const { exitCode, stderr } = await filings(['list', '0001234567-24-000001', ...args], given);
  expect([exitCode, stderr]).toEqual([7, expect.stringContaining('the deadline of 3600 s has passed')]);
});
