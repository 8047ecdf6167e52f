import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { EXIT_CODE_ROWS } from '../../src/errors.ts';
import { placed } from '../../src/help/describe.ts';
import { SETTINGS, SHARED_OPTIONS } from '../../src/settings/table.ts';
import { named } from '../../src/spec/option.ts';
import { filings } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
const BROKEN_CONFIG = { FILINGS_CONFIG: '/nowhere/config.json' };

describe('help', () => {
  test.each(['--help', '-h', 'help'])('%s shows the commands, and needs no settings', async (word) => {
    const { stdout, stderr, exitCode } = await filings([word], { env: BROKEN_CONFIG });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    for (const { name, summary } of COMMANDS) expect(stdout).toContain(`  ${name.padEnd(10)}  ${summary}`);
  });

  test.each([['--help'], ['help'], ['help', 'options']])('%s %s shows what all commands take', async (...words) => {
    const { stdout } = await filings(words);
    for (const { flag, env = '', default: text } of SHARED_OPTIONS) {
      expect(stdout).toContain(`--${flag}`);
      expect(stdout).toContain(env);
      if (text !== undefined && env !== '') expect(stdout.replace(/\s+/g, ' ')).toMatch(new RegExp(`${env}(, |\\])`));
    }
  });

  test.each(placed(COMMANDS).map(({ path, spec }) => [path.join(' '), spec] as const))(
    '%s --help shows its options',
    async (path, spec) => {
      const words = path.split(' ');
      const [flag, command] = await Promise.all([filings([...words, '--help']), filings(['help', ...words])]);
      expect(flag.exitCode).toBe(0);
      expect(command.stdout).toContain(flag.stdout);
      expect(flag.stdout).toContain("'filings help options'");
      expect(flag.stdout).toMatch(new RegExp(`^Usage: filings ${path}( |$)`, 'm'));
      for (const option of named(spec.options)) expect(flag.stdout).toContain(`--${option.flag}`);
    },
  );

  test.each([
    [['nope', '--help'], 'nope'],
    [['--help', 'nope'], 'nope'],
    [['token', 'nope', '-h'], 'token nope'],
    [['-h', 'token', 'nope'], 'token nope'],
    [['config', '--help', 'nope'], 'config nope'],
    [['help', 'nope'], 'help nope'],
  ])('about a command that is not there is an error: %j', async (words, name) => {
    const { exitCode, stdout, stderr } = await filings(words);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^filings: ${name}: no such command`));
  });

  test.each([
    [['-h', 'list'], ['list']],
    [
      ['--help', 'token', 'sign'],
      ['token', 'sign'],
    ],
    [
      ['token', '-h', 'sign'],
      ['token', 'sign'],
    ],
    [['--profile', 'nope', '--help'], []],
    [['list', 'nope', '--help'], ['list']],
    [['-h', '-q', 'list', 'nope'], ['list']],
  ])('is about what is named, before it or after it: %j', async (words, path) => {
    const form = words.includes('-h') ? '-h' : '--help';
    expect(await filings(words)).toEqual(await filings([...path, form]));
  });

  test('exit-codes, environment and config tell all', async () => {
    const text = async (topic: string) => (await filings(['help', topic])).stdout;
    const codes = await text('exit-codes');
    for (const [status, code] of EXIT_CODE_ROWS)
      expect(codes).toMatch(new RegExp(`^  ${status.replace('+', '\\+')} +${code}`, 'm'));
    const [environment, config] = await Promise.all([text('environment'), text('config')]);
    for (const { env, key, inFile } of SETTINGS) {
      if (env) expect(environment).toContain(`  ${env} `);
      if (inFile) expect(config).toMatch(new RegExp(`^  ${key} `, 'm'));
    }
  });

  test('an unknown topic is told', async () => {
    const { stderr, exitCode } = await filings(['help', 'exit-code']);
    expect({ stderr, exitCode }).toEqual({
      exitCode: 2,
      stderr: 'filings: help exit-code: no such command or topic\n  hint: did you mean exit-codes?\n',
    });
  });

  test('bare, it is an error with an overview on stderr, and how to begin', async () => {
    const { stdout, stderr, exitCode } = await filings([]);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
    expect(stderr).toMatch(/^Usage: filings (.*\n)+To begin /);
    const beginnings = stderr.match(/^ {2}filings .*--sandbox$/gm) ?? [];
    expect(beginnings).toHaveLength(2);
    for (const line of beginnings) expect((await filings(line.trim().split(' ').slice(1))).exitCode, line).toBe(0);
    expect((await filings(['config'])).stderr).toBe((await filings(['config', '-h'])).stdout);
    const json = await filings(['--error-format', 'json', 'config']);
    expect(JSON.parse(String(json.stderr))).toMatchObject({ error: { code: 'usage', exit_code: 2 } });
  });
});

test('the version is that of the package', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  for (const flag of ['--version', '-V']) {
    expect(await filings([flag], { env: BROKEN_CONFIG })).toMatchObject({
      stdout: `filings ${version}\n`,
      exitCode: 0,
    });
  }
});

describe('completions', () => {
  test.each(['bash', 'zsh', 'fish'])('of %s are those of the package', async (shell) => {
    const { stdout, exitCode } = await filings(['completion', shell], { env: BROKEN_CONFIG });
    expect(exitCode).toBe(0);
    expect(stdout).toBe(await readFile(join(ROOT, `completions/filings.${shell}`), 'utf8'));
  });

  /** What bash would offer after these words. */
  async function offered(words: readonly string[]): Promise<string> {
    const script = `source completions/filings.bash
      COMP_WORDS=(filings "$@"); COMP_CWORD=$#; _filings; echo "\${COMPREPLY[*]}"`;
    return (await execa('bash', ['-c', script, 'bash', ...words], { cwd: ROOT })).stdout;
  }

  test.each([
    [['to'], 'token'],
    [['token', ''], 'sign inspect verify keygen'],
    [['token', 's'], 'sign'],
    [['--color', 'a'], 'auto always'],
    [['--color', '=', 'n'], 'never'],
    [['list', '--key-in', '='], 'authorization header query path basic'],
    [['list', '--ex'], '--exclude'],
    [['--api-key', 'list', 'dow'], 'download'],
    [['-j', '4', 'token', 'keygen', '--pu'], '--public'],
    [['token', 'keygen', '--format', ''], 'pem jwk'],
    [['token', '--hea'], '--header'],
    [['config', 'get', 'jo'], 'jobs'],
    [['completion', 'z'], 'zsh'],
    [['help', 'ex'], 'exit-codes'],
    [['--config', 'package.js'], 'package.json'],
    [['serve', 'sample'], 'samples'],
    [['download', '--', '--a'], ''],
    [['--base-url', 'http', ':', '//x', 'lis'], 'list'],
  ])('bash offers after %j: %s', async (words, reply) => {
    expect(await offered(words)).toBe(reply);
  });
});
