import { expect } from 'vitest';
import { commandNodes } from '../../scripts/reference/command-nodes.ts';
import { COMMANDS, PROGRAM } from '../../src/cli/catalogue.ts';
import { EXIT_STATUSES } from '../../src/errors.ts';
import { FLAG_SETTINGS } from '../../src/settings/table.ts';
import { toNamedOptions } from '../../src/spec/option.ts';
import { filings, test } from './run.ts';

const NODES = commandNodes(COMMANDS).map(({ path, spec }) => ({ spec, name: path.join(' ') }));
const EVERY = [{ spec: PROGRAM, name: '' }, ...NODES];
const words = (line: string) => line.split(' ').filter(Boolean);
const helpOf = async (line: string, columns = 80) =>
  `${(await filings(words(line), { env: { COLUMNS: `${columns}` } })).stdout}`;
const unwrapped = (text: string) => text.replace(/\s+/g, ' ');
const lineWith = (flag: string) => new RegExp(`^ +(-\\S, )?${flag}\\b`, 'm');

test('--help prints every command, shared option and exit status without a config', async () => {
  const env = { FILINGS_CONFIG: '/nowhere/config.json' };
  const { stdout, stderr, exitCode } = await filings(['--help'], { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const text = unwrapped(stdout);
  for (const { name, summary } of COMMANDS) expect(text).toContain(` ${name} ${summary}`);
  for (const { flag, env } of FLAG_SETTINGS) {
    expect(stdout).toMatch(lineWith(flag));
    if (env) expect(text).toContain(`(env: ${env})`);
  }
  for (const [status] of EXIT_STATUSES) expect(text).toContain(` ${status} `);
  for (const word of ['-h', 'help']) expect((await filings([word], { env })).stdout).toBe(stdout);
});

test.each(NODES)('filings $name --help has its options and defaults', async ({ name, spec }) => {
  const full = await helpOf(`${name} --help`);
  expect(await helpOf(`help ${name}`)).toBe(full);
  expect(await helpOf(`${name} -h`)).toBe(full);
  expect(full).toMatch(new RegExp(`^Usage: filings ${name}( |$)`, 'm'));
  for (const { flag, default: standard } of toNamedOptions(spec.options)) {
    expect(full).toMatch(lineWith(flag));
    if (standard !== undefined) expect(unwrapped(full)).toContain(`(default: ${standard})`);
  }
});

test.each(EVERY)('filings $name --help fits its terminal, and has examples that can be pasted', async (node) => {
  const [own = '', examples = ''] = (await helpOf(`${node.name} --help`)).split(/^Examples.*\n/m);
  // A line may be longer if it is one word.
  const long = own.split('\n').filter((line) => line.length > 80 && words(line).length > 1);
  expect(long.filter((line) => !/^ +\(default: \S+$/.test(line))).toEqual([]);
  for (const [line, effect] of node.spec.examples ?? []) expect(examples).toContain(`  ${line}\n      ${effect}\n`);
});
