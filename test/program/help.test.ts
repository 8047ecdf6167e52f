import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { EXIT_CODE_ROWS } from '../../src/errors.ts';
import { commandNodes } from '../../src/help/program.ts';
import { TOPICS } from '../../src/help/topics.ts';
import { SETTINGS, SHARED_OPTIONS } from '../../src/settings/table.ts';
import { named } from '../../src/spec/option.ts';
import { head } from '../servers/answers.ts';
import { ACCESSION, asking, filings, workplace } from './run.ts';

const PLACES = commandNodes(COMMANDS).map(({ path, spec }) => ({ path, spec, name: path.join(' ') }));
const PATHS = ['', ...PLACES.map(({ name }) => name)];
const BROKEN_CONFIG = { FILINGS_CONFIG: '/nowhere/config.json' };
const words = (line: string) => line.split(' ').filter(Boolean);
const textOf = async (line: string, columns = 80) =>
  (await filings(words(line), { env: { COLUMNS: `${columns}` } })).stdout;
const unwrapped = (text: string) => text.replace(/\s+/g, ' ');

test.each(['--help', '-h', 'help'])('%s prints the commands without reading settings', async (word) => {
  const { stdout, stderr, exitCode } = await filings([word], { env: BROKEN_CONFIG });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  for (const { name, summary } of COMMANDS) expect(unwrapped(stdout)).toContain(` ${name} ${summary}`);
});

test.each(['--help', 'help', 'help options'])('%s prints the options that all commands share', async (line) => {
  const text = unwrapped(await textOf(line));
  for (const { flag, env, value, default: standard } of SHARED_OPTIONS) {
    expect(text).toContain(`--${flag}`);
    if (env !== undefined) expect(text).toContain(`[env:${env}]`);
    if (value !== undefined && standard !== undefined) expect(text).toContain(`[default: ${standard}]`);
  }
});

test.each(PLACES)('$name -h fits on a screen and has examples; --help has all options with defaults', async (place) => {
  const { name, spec } = place;
  const [brief, full, command] = await Promise.all(
    [`${name} -h`, `${name} --help`, `help ${name}`].map((line) => textOf(line)),
  );
  expect(command).toContain(full);
  expect(full).toMatch(new RegExp(`^Usage: filings ${name}( |$)`, 'm'));
  expect(full).toContain('filings help options');
  for (const { flag, isHiddenInShortHelp, value, default: standard } of named(spec.options)) {
    const row = new RegExp(`^ +(-\\S, )?--${flag}\\b${value === undefined ? '' : ' \\S+'}`, 'm');
    expect(full).toMatch(row);
    if (isHiddenInShortHelp) expect(brief).toContain(`More: filings ${name} --help\n`);
    else expect(brief).toMatch(row);
    if (standard !== undefined) expect(unwrapped(full ?? '')).toContain(`[default: ${standard}]`);
  }
  expect(brief?.trimEnd().split('\n').length).toBeLessThanOrEqual(35);
  const examples = brief?.split(/^Examples.*:$/m)[1]?.match(/^ {2}\S.*$/gm) ?? [];
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) expect(full).toContain(`${example}\n`);
});

test('without a command the program prints an overview to stderr and exits with 2', async () => {
  const { stdout, stderr, exitCode } = await filings([]);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  expect(stderr).toBe(await textOf('-h'));
  expect(stderr.split('\n').length).toBeLessThanOrEqual(36);
  const beginnings = stderr.match(/^ {2}filings .*--sandbox$/gm) ?? [];
  expect(beginnings).toHaveLength(2);
  const place = await workplace();
  for (const line of beginnings) expect((await place.filings(words(line).slice(1))).exitCode, line).toBe(0);
  expect((await filings(['config'])).stderr).toBe(await textOf('config -h'));
  const json = await filings(['--error-format', 'json', 'config']);
  expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'usage', exit_code: 2 } });
});

/** Exit statuses of a command beside 0, 1, 2, 8 and 128+n, by the name of the command. */
const EXITS: Readonly<Record<string, readonly string[]>> = {
  list: ['3', '4', '5', '6', '7', '9'],
  download: ['3', '4', '5', '6', '7', '9', '10'],
  verify: ['7', '9'],
  'token sign': ['7'],
  'token inspect': ['4', '7'],
  'token verify': ['4', '7'],
  'token keygen': ['7'],
  serve: ['7'],
  'config list': ['7'],
  'config get': ['5', '7'],
  'config set': ['7'],
  'config unset': ['7'],
  'config path': ['7'],
  'config check': ['4', '5', '6', '7', '9'],
  completion: [],
  help: [],
};

test.each(PLACES.filter(({ spec }) => !spec.children))(
  '$name --help lists all of its exit statuses',
  async ({ name }) => {
    const [, section = ''] = (await textOf(`${name} --help`)).split('\nExit status:\n');
    const listed =
      section
        .split('\n\n', 1)
        .join()
        .match(/^ {2}\S+/gm) ?? [];
    const order = EXIT_CODE_ROWS.map(([status]) => status);
    const possible = new Set(['0', '1', '2', '8', '128+n', ...(EXITS[name] ?? ['not in the table'])]);
    expect(listed.map((status) => status.trim())).toEqual(order.filter((status) => possible.delete(status)));
    expect([...possible]).toEqual([]);
  },
);

test.each([
  ['list', [ACCESSION]],
  ['download', [ACCESSION, 'x.htm']],
  ['config check', [ACCESSION]],
])('%s exits with 6 if the service rejects the request, and its help lists 6', async (name, args) => {
  const { filings } = await asking((socket) => void socket.end(head(422, { 'Content-Length': 0 })));
  const { exitCode, stderr } = await filings([...words(name), ...args]);
  expect(exitCode, stderr).toBe(6);
  expect(await textOf(`${name} --help`)).toMatch(/^ {2}6 {2}/m);
});

test('the topics exit-codes, environment and config list every status, variable and key', async () => {
  const codes = await textOf('help exit-codes');
  for (const [status, code] of EXIT_CODE_ROWS)
    expect(codes).toMatch(new RegExp(`^  ${status.replace('+', '\\+')} +${code}`, 'm'));
  const [environment, config] = await Promise.all([textOf('help environment'), textOf('help config')]);
  for (const { env, key, inFile } of SETTINGS) {
    if (env) expect(environment).toContain(`  ${env} `);
    if (inFile) expect(config).toMatch(new RegExp(`^  ${key} `, 'm'));
  }
});

describe.each([60, 80, 120])('on %d columns no line is wider in', (columns) => {
  test.each([
    ...PATHS.flatMap((path) => [`${path} -h`, `${path} --help`]),
    ...Object.keys(TOPICS).map((topic) => `help ${topic}`),
  ])('%s', async (line) => {
    // A command or a usage line is not wrapped, so that it can be pasted.
    const text = (await textOf(line, columns)).replace(
      /^ {2}(filings|source|ls|FILINGS_\w+=\S+) .*$|^(Usage:| {6}) filings .*$|^ +"\S.*$/gm,
      '',
    );
    expect(text.split('\n').filter((row) => row.length > columns && /\S\s+\S/.test(row))).toEqual([]);
  });
});
