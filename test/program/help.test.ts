import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { EXIT_CODE_ROWS } from '../../src/errors.ts';
import { commandPlaces } from '../../src/help/program.ts';
import { TOPICS } from '../../src/help/topics.ts';
import { SETTINGS, SHARED_OPTIONS } from '../../src/settings/table.ts';
import { named } from '../../src/spec/option.ts';
import { filings } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
const PATHS = [[], ...commandPlaces(COMMANDS).map(({ path }) => path)];
const BROKEN_CONFIG = { FILINGS_CONFIG: '/nowhere/config.json' };

describe('help', () => {
  test.each(['--help', '-h', 'help'])('%s shows the commands, and needs no settings', async (word) => {
    const { stdout, stderr, exitCode } = await filings([word], { env: BROKEN_CONFIG });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    for (const { name, summary } of COMMANDS) expect(stdout.replace(/\s+/g, ' ')).toContain(` ${name} ${summary}`);
  });

  test.each([['--help'], ['help'], ['help', 'options']])('%s %s shows what all commands take', async (...words) => {
    const text = (await filings(words)).stdout.replace(/\s+/g, ' ');
    for (const { flag, env, value, default: standard } of SHARED_OPTIONS) {
      expect(text).toContain(`--${flag}`);
      if (env !== undefined) expect(text).toContain(`[env:${env}]`);
      if (value !== undefined && standard !== undefined) expect(text).toContain(`[default: ${standard}]`);
    }
  });

  test.each(commandPlaces(COMMANDS).map(({ path, spec }) => [path.join(' '), spec] as const))(
    '%s --help shows its options',
    async (path, spec) => {
      const words = path.split(' ');
      const [flag, command] = await Promise.all([filings([...words, '--help']), filings(['help', ...words])]);
      expect(flag.exitCode).toBe(0);
      expect(command.stdout).toContain(flag.stdout);
      expect(flag.stdout).toContain('filings help options');
      expect(flag.stdout).toMatch(new RegExp(`^Usage: filings ${path}( |$)`, 'm'));
      for (const option of named(spec.options)) expect(flag.stdout).toContain(`--${option.flag}`);
    },
  );

  test.each([
    [['nope', '--help'], 'nope'],
    [['token', 'nope', '-h'], 'token nope'],
    [['help', 'nope'], 'help nope'],
  ])('about a command that is not there is an error: %j', async (words, name) => {
    const { exitCode, stdout, stderr } = await filings(words);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^filings: ${name}: no such command`));
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
    expect(stderr).toBe((await filings(['-h'])).stdout);
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

describe.each([60, 80, 120])('on %d columns no line is wider', (columns) => {
  test.each([
    ...PATHS.flatMap((path) => [[...path, '-h'].join(' '), [...path, '--help'].join(' ')]),
    ...Object.keys(TOPICS).map((topic) => `help ${topic}`),
  ])('%s', async (line) => {
    const { stdout } = await filings(line.split(' '), { env: { COLUMNS: `${columns}` } });
    // A command or a usage can be pasted as it stands.
    const text = stdout.replace(
      /^ {2}(filings|source|ls|FILINGS_\w+=\S+) .*$|^(Usage:| {6}) filings .*$|^ +"\S.*$/gm,
      '',
    );
    expect(text.split('\n').filter((row) => row.length > columns && /\S\s+\S/.test(row))).toEqual([]);
  });
});

test.each([...SHARED_OPTIONS, ...commandPlaces(COMMANDS).flatMap(({ spec }) => named(spec.options))])(
  '--$flag says what it does in one short line, in the imperative',
  ({ help }) => {
    expect(help).toMatch(/^[a-z].{0,59}$/);
    expect(help).not.toMatch(/^(a|an|the|what|where|how|whether|if|for|with) /);
  },
);

test.each(PATHS)('%s %s -h is one screen, with examples that --help has, too', async (...path) => {
  const env = { COLUMNS: '80' };
  const [brief, full] = await Promise.all(
    ['-h', '--help'].map(async (form) => (await filings([...path, form], { env })).stdout),
  );
  const lines = brief?.trimEnd().split('\n') ?? [];
  expect(lines.length).toBeLessThanOrEqual(35);
  const examples = brief?.split(/^Examples.*:$/m)[1]?.match(/^ {2}\S.*$/gm) ?? [];
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) expect(full).toContain(`${example}\n`);
});

test.each(commandPlaces(COMMANDS).map(({ path, spec }) => ({ path, spec, name: path.join(' ') })))(
  '$name: --help has every option with its default; -h has them, or says where they are',
  async ({ path, spec }) => {
    const text = async (form: string) => (await filings([...path, form])).stdout;
    const [brief, full] = await Promise.all([text('-h'), text('--help')]);
    for (const { flag, rare, value, default: standard } of named(spec.options)) {
      const row = new RegExp(`^ +(-\\S, )?--${flag}\\b${value === undefined ? '' : ' \\S+'}`, 'm');
      expect(full).toMatch(row);
      if (rare) expect(brief).toContain(`More: filings ${path.join(' ')} --help\n`);
      else expect(brief).toMatch(row);
      if (standard !== undefined) expect(full.replace(/\s+/g, ' ')).toContain(`[default: ${standard}]`);
    }
  },
);

test.each([
  ['10', 60],
  ['100000', 120],
  ['wide', 80],
])('COLUMNS=%j is as %d columns', async (COLUMNS, columns) => {
  const help = async (text: string) => (await filings(['list', '--help'], { env: { COLUMNS: text } })).stdout;
  const text = await help(COLUMNS);
  expect(text).toBe(await help(`${columns}`));
  const widest = Math.max(...text.split('\n').map((line) => line.length));
  expect(widest).toBeGreaterThan(columns - 12);
});
