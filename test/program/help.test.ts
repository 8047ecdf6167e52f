import { describe, expect, test } from 'vitest';
import { commandNodes } from '../../scripts/reference/command-nodes.ts';
import { COMMANDS, PROGRAM } from '../../src/cli/catalogue.ts';
import { EXIT_CODE_ROWS } from '../../src/errors.ts';
import { SHARED_OPTIONS } from '../../src/settings/table.ts';
import { named } from '../../src/spec/option.ts';
import { pasted } from './pasted.ts';
import { filings, workplace } from './run.ts';

const NODES = commandNodes(COMMANDS).map(({ path, spec }) => ({ spec, name: path.join(' ') }));
const EVERY = [{ spec: PROGRAM, name: '' }, ...NODES];
const words = (line: string) => line.split(' ').filter(Boolean);
const helpOf = async (line: string, columns = 80) =>
  `${(await filings(words(line), { env: { COLUMNS: `${columns}` } })).stdout}`;
const unwrapped = (text: string) => text.replace(/\s+/g, ' ');

test.each(['--help', '-h', 'help'])(
  '%s prints every command, shared option and exit status without a config',
  async (word) => {
    const { stdout, stderr, exitCode } = await filings([word], { env: { FILINGS_CONFIG: '/nowhere/config.json' } });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const text = unwrapped(`${stdout}`);
    for (const { name, summary } of COMMANDS) expect(text).toContain(` ${name} ${summary}`);
    for (const { flag, env } of SHARED_OPTIONS) {
      expect(stdout).toMatch(new RegExp(`^ +(-\\S, )?--${flag}\\b`, 'm'));
      if (env) expect(text).toContain(`(env: ${env})`);
    }
    for (const [status] of EXIT_CODE_ROWS) expect(text).toContain(` ${status} `);
  },
);

test.each(NODES)('filings $name --help has its options, defaults and examples', async ({ name, spec }) => {
  const full = await helpOf(`${name} --help`);
  expect(await helpOf(`help ${name}`)).toBe(full);
  expect(await helpOf(`${name} -h`)).toBe(full);
  expect(full).toMatch(new RegExp(`^Usage: filings ${name}( |$)`, 'm'));
  for (const { flag, default: standard } of named(spec.options)) {
    expect(full).toMatch(new RegExp(`^ +(-\\S, )?--${flag}\\b`, 'm'));
    if (standard !== undefined) expect(unwrapped(full)).toContain(`(default: ${standard})`);
  }
  for (const [example] of spec.examples ?? []) expect(full.replace(/ \\\n +/g, ' ')).toContain(`  ${example}\n`);
});

test('without a command the program prints an overview to stderr and exits with 2', async () => {
  const { stdout, stderr, exitCode } = await filings([]);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  expect(stderr.split('\n').length).toBeLessThanOrEqual(36);
  const beginnings = stderr.match(/^ {2}filings .*--sandbox$/gm) ?? [];
  expect(beginnings).toHaveLength(2);
  const place = await workplace();
  for (const line of beginnings) expect((await place.filings(words(line).slice(1))).exitCode, line).toBe(0);
  const json = await filings(['--error-format', 'json', 'config']);
  expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'usage', exit_code: 2 } });
});

test('help about a word that is no command is an error', async () => {
  const error = "filings: unknown command 'sgn'\n  hint: did you mean sign?\n";
  expect(await filings(['help', 'token', 'sgn'])).toMatchObject({ exitCode: 2, stdout: '', stderr: error });
});

describe.each([40, 80])('on a terminal of %d columns', (columns) => {
  test.each(EVERY)('no line of "filings $name --help" is longer, unless one word is', async ({ name }) => {
    const lines = (await helpOf(`${name} --help`, columns)).split('\n');
    expect(
      lines.filter((line) => line.length > columns && words(line).length > 1 && !/^ +\(default: \S+$/.test(line)),
    ).toEqual([]);
  });

  test.each(EVERY)('an example of "filings $name --help" that is pasted is the example', async ({ name, spec }) => {
    const [, shown = ''] = (await helpOf(`${name} --help`, columns)).split(/^Examples.*\n/m);
    const commands = shown
      .split(/^ {2}(?=\S)/m)
      .slice(1)
      .map((each) => each.replace(/\n {6}[\s\S]*/, ''));
    const plain = (line: string) => /^filings [^|<>$~]*$/.test(line);
    const expected = (spec.examples ?? []).map(([line]) => line);
    expect(commands).toHaveLength(expected.length);
    for (const [at, line] of expected.entries()) {
      if (plain(line)) expect(pasted(commands[at] ?? '')).toEqual(pasted(line));
    }
  });
});
