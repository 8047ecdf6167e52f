import { chmod, lstat, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
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
    await run(['config', 'set', 'jobs', '9']);
    const { exitCode } = await run(['--profile', 'w', 'config', 'set', 'rate', '5/s']);
    expect(exitCode).toBe(0);
    expect(await readFile(config, 'utf8')).toBe(
      `${JSON.stringify({ $schema: SCHEMA, baseUrl: 'https://a.example', jobs: 9, allowHttp: true, apiKeyCommand: ['pass', 'filings'], profiles: { w: { rate: '5/s' } } }, undefined, 2)}\n`,
    );
    expect((await stat(config)).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, '.config'))).mode & 0o777).toBe(0o700);
  });

  test('reads a key from stdin', async () => {
    const { exitCode, stdout, stderr } = await run(['config', 'set', 'api-key'], {}, `${CANARY}\n`);
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await written()).toEqual({ $schema: SCHEMA, apiKey: CANARY });
  });

  test.each([
    [['jobs', '0'], 'jobs: must be a whole number from 1 to 256'],
    [['jobs', 'many'], 'jobs: must be a whole number'],
    [['jobs'], 'VALUE is missing'],
    [['base-url', 'x'], 'baseUrl: must be an http or https URL'],
    [['allow-http', 'yes'], 'allowHttp: must be 1 or true'],
    [['api-key-command', 'pass x'], `filings config set api-key-command '["pass","x"]'`],
    [['api-key-command', '"pass"'], 'apiKeyCommand: must be an array'],
    [['base-url', 'http://a.example'], 'first: filings config set allow-http true'],
    [['base-url', 'http://a.example', '--profile', 'p'], 'first: filings config set allow-http true'],
    [['jwt', '{"sub":"a","sub":"b"}'], 'jwt: sub: is set twice'],
    [['jwt', '{"keyFile":"a","secretFile":"b"}'], 'jwt: keyFile and secretFile cannot be used together'],
    [['sandbox', '1'], 'sandbox: cannot be set in the config file'],
    [['jbos', '1'], 'jbos: no such setting'],
    [[`api-key=${CANARY}`], 'api-key: name and value must be two words'],
    [['api-key', `${CANARY}\nx`], 'apiKey: has a line break inside'],
    [['api-key', ''], 'apiKey: is empty'],
  ])('%j is refused, and nothing written', async (args, message) => {
    const { exitCode, stderr } = await run(['config', 'set', ...args]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(CANARY);
    await expect(stat(config)).rejects.toThrow('ENOENT');
  });

  test('a second source of the key is refused', async () => {
    await run(['config', 'set', 'api-key', CANARY]);
    const { exitCode, stderr } = await run(['config', 'set', 'api-key-file', 'key']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('apiKey and apiKeyFile: two sources of the API key');
    await run(['config', 'unset', 'api-key']);
    expect((await run(['config', 'set', 'api-key-file', 'key'])).exitCode).toBe(0);
    expect(await written()).toEqual({ $schema: SCHEMA, apiKeyFile: join(home, 'key') });
  });

  test.each<[what: string, config: object, args: string[], refused: string | undefined]>([
    ['a key file beside a key', { apiKey: 'k' }, ['api-key-file', 'f'], 'apiKey and apiKeyFile: two sources'],
    ['a command beside a key file', { apiKeyFile: 'f' }, ['api-key-command', '["x"]'], 'apiKeyFile and apiKeyCommand'],
    ['a JWT beside what mints them', { jwt: { keyFile: 'f' } }, ['jwt-file', 'f'], 'jwtFile and jwt: two sources'],
    [
      'both in one profile',
      { profiles: { p: { apiKey: 'k' } } },
      ['api-key-file', 'f', '--profile', 'p'],
      'two sources',
    ],
    ['one at the top, one in a profile', { apiKey: 'k' }, ['api-key-file', 'f', '--profile', 'p'], undefined],
    ['plain http', {}, ['base-url', 'http://a.example'], 'plain http'],
    ['plain http to this machine', {}, ['base-url', 'http://127.0.0.1:8787'], undefined],
    ['plain http that is allowed', { allowHttp: true }, ['base-url', 'http://a.example'], undefined],
    [
      'that the top allows a profile',
      { allowHttp: true },
      ['base-url', 'http://a.example', '--profile', 'p'],
      undefined,
    ],
    ['what plain http needs', { allowHttp: true, baseUrl: 'http://a.example' }, ['allow-http', '0'], 'plain http'],
    ['a way that a JWT takes', { jwtFile: 'f' }, ['key-in', 'basic'], 'basic cannot be used with a JWT'],
    ['a JWT where the key goes', { keyIn: 'authorization' }, ['jwt-file', 'f'], 'cannot be used with a JWT'],
    ['a way beside a JWT', { jwtFile: 'f' }, ['key-in', 'query'], undefined],
    ['what is right beside what is wrong', { apiKey: 'k', apiKeyFile: 'f' }, ['jobs', '2'], undefined],
  ])('looks at what is beside it: %s', async (_, before, args, refused) => {
    await writeConfig(before);
    const { exitCode, stderr } = await run(['config', 'set', ...args]);
    expect(exitCode, stderr).toBe(refused === undefined ? 0 : 2);
    expect(stderr).toContain(refused ?? '');
    if (refused !== undefined) expect(await written()).toEqual(before);
  });

  test('a profile that went away can be seen, and mended', async () => {
    const other = join(home, 'other.json');
    await writeFile(other, '{"profile": "gone", "jobs": 7}', { mode: 0o600 });
    const here = (...args: string[]) => run([...args, '--config', other]);
    const { exitCode, stderr } = await here('config', 'check');
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`hint: filings config unset profile --config ${other}\n`);
    expect((await here('config', 'set', 'jobs', '8')).exitCode).toBe(0);
    expect((await here('config', 'unset', 'profile')).exitCode).toBe(0);
    expect(JSON.parse(await readFile(other, 'utf8'))).toEqual({ jobs: 8 });
  });

  test('does not go on with a file that others can write', async () => {
    await run(['config', 'set', 'base-url', 'https://a.example']);
    await chmod(config, 0o666);
    for (const args of [['set', 'jobs', '2'], ['unset', 'base-url'], ['list'], ['check', '--sandbox']]) {
      const { exitCode, stderr } = await run(['config', ...args]);
      expect(exitCode, args.join(' ')).toBe(2);
      expect(stderr).toBe(`filings: config file ${config}: others can write it\n  hint: chmod 600 ${config}\n`);
    }
    expect((await run(['config', 'path'])).stdout).toBe(`${config}\n`);
  });

  test('follows a link, and leaves it', async () => {
    const real = join(home, 'real.json');
    const link = join(home, 'link.json');
    await writeFile(real, '{}');
    await symlink(real, link);
    expect((await run(['config', 'set', 'jobs', '2', '--config', link])).exitCode).toBe(0);
    expect(JSON.parse(await readFile(real, 'utf8'))).toEqual({ jobs: 2 });
  });

  test('follows a link that leads nowhere yet, too', async () => {
    const link = join(home, 'link.json');
    await symlink('later/real.json', link);
    const { exitCode, stderr } = await run(['config', 'set', 'jobs', '2', '--config', link]);
    expect(exitCode, String(stderr)).toBe(0);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(JSON.parse(await readFile(join(home, 'later/real.json'), 'utf8'))).toEqual({ $schema: SCHEMA, jobs: 2 });
  });

  test('tells what it may do where it cannot be written', async () => {
    const { exitCode, stderr } = await run(['config', 'set', 'jobs', '2', '--config', '/sys/nobody/config.json']);
    expect(exitCode, String(stderr)).toBe(8);
    expect(stderr).toMatch(/^filings: \/sys\/nobody: cannot write: .*\n {2}hint: choose another place/);
  });

  test('does not touch a file it cannot read', async () => {
    await run(['config', 'set', 'jobs', '2']);
    await writeFile(config, '{"jobs": 2,}');
    expect(await run(['config', 'set', 'jobs', '3'])).toMatchObject({ exitCode: 2 });
    expect(await readFile(config, 'utf8')).toBe('{"jobs": 2,}');
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
    expect((await run(['config', 'get', 'jobs'])).stdout).toBe('8\n');
    expect((await run(['config', 'get', 'jobs'], { FILINGS_JOBS: '3' })).stdout).toBe('3\n');
    expect(await run(['config', 'get', 'deadline'])).toMatchObject({ exitCode: 5, stdout: '' });
  });

  test('list is JSON Lines for programs', async () => {
    const { stdout } = await run(['config', 'list', '--json'], { FILINGS_JOBS: '3' });
    const lines = String(stdout).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toContainEqual({
      key: 'jobs',
      value: 3,
      level: 'env',
      origin: 'FILINGS_JOBS',
    });
  });

  test('never show a secret', async () => {
    await run(['config', 'set', 'api-key', CANARY]);
    const outputs = await Promise.all([
      run(['config', 'list', '-v']),
      run(['config', 'list', '--json'], { FILINGS_JWT: CANARY }),
      run(['config', 'get', 'apiKey']),
      run(['config', 'list', `--api-key=${CANARY}`]),
    ]);
    for (const { stdout, stderr, exitCode } of outputs) {
      expect(exitCode).toBe(0);
      expect(stdout).toContain('[redacted]');
      expect(`${stdout}${stderr}`).not.toContain(CANARY);
    }
  });

  test('list shows the program that gives the key, and none of its arguments', async () => {
    await run(['config', 'set', 'jobs', '1']);
    await writeFile(config, JSON.stringify({ apiKeyCommand: ['pass', 'show', CANARY] }));
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

  test('with --sandbox show nothing else of the service', async () => {
    const { stdout, exitCode } = await run(['config', 'list', '--sandbox'], { FILINGS_BASE_URL: '::' });
    expect(exitCode).toBe(0);
    expect(stdout).not.toContain('baseUrl');
  });
});

test('config path is where the file is, or would be', async () => {
  expect((await run(['config', 'path'])).stdout).toBe(`${config}\n`);
  expect((await run(['config', 'path', '--config', 'c.json'])).stdout).toBe(`${join(home, 'c.json')}\n`);
  expect(await filings(['config', 'path'])).toMatchObject({ exitCode: 2 });
});

describe('the config file', () => {
  test('decides how its own user sees errors', async () => {
    await run(['config', 'set', 'error-format', 'json']);
    const { stderr } = await run(['list', '--nonsense']);
    expect(JSON.parse(String(stderr))).toMatchObject({ error: { code: 'usage' } });
  });

  test('that others can read is refused when it holds a key', async () => {
    await run(['config', 'set', 'api-key', CANARY]);
    await chmod(config, 0o644);
    const { exitCode, stderr } = await run(['config', 'list']);
    expect(exitCode).toBe(2);
    expect(stderr).toBe(`filings: config file ${config}: others can read it\n  hint: chmod 600 ${config}\n`);
  });
});

describe('config check', () => {
  const verdicts = (stdout: unknown) =>
    Object.fromEntries(
      String(stdout)
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t').slice(0, 2)),
    );

  test('tells that all is well', async () => {
    const { stdout, stderr, exitCode } = await run(['config', 'check', '--sandbox']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(verdicts(stdout)).toMatchObject({ address: 'ok', key: 'ok', token: 'not used' });
  });

  test('tells a wrong key from a wrong address', async () => {
    const server = createServer((_, response) => response.writeHead(401).end());
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const check = ['config', 'check', '--api-key', CANARY, '--base-url', `http://127.0.0.1:${port}`];
    const refused = await run(check);
    expect(refused.exitCode).toBe(4);
    expect(verdicts(refused.stdout)).toMatchObject({ address: 'ok', key: 'wrong' });
    await new Promise((resolve) => server.close(resolve));
    const gone = await run(check);
    expect(gone.exitCode).toBe(7);
    expect(verdicts(gone.stdout)).toMatchObject({ address: 'wrong', key: 'unknown' });
  });
});
