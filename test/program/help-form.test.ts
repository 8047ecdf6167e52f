import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { TOPICS } from '../../src/commands/help/spec.ts';
import { placed } from '../../src/help/describe.ts';
import { named } from '../../src/spec/option.ts';
import { filings } from './run.ts';

const PATHS = [[], ...placed(COMMANDS).map(({ path }) => path)];
const NARROWEST = 40;

describe.each([NARROWEST, 80, 120])('on %d columns no line is wider', (columns) => {
  test.each([
    ...PATHS.flatMap((path) => [[...path, '-h'].join(' '), [...path, '--help'].join(' ')]),
    ...TOPICS.filter((topic) => topic !== 'config').map((topic) => `help ${topic}`),
  ])('%s', async (line) => {
    const { stdout } = await filings(line.split(' '), { env: { COLUMNS: `${columns}` } });
    // A word, such as a placeholder or a text in quotes, is not broken.
    const tooWide = stdout.split('\n').filter((text) => text.length > columns && /\S\s+\S.*\s\S/.test(text));
    expect(columns === NARROWEST ? tooWide.filter((text) => !/'filings|--|"|https?:/.test(text)) : tooWide).toEqual([]);
  });
});

test.each(PATHS)('%s %s -h is one screen, with three examples that --help has, too', async (...path) => {
  const env = { COLUMNS: '80' };
  const [brief, full] = await Promise.all(
    ['-h', '--help'].map(async (form) => (await filings([...path, form], { env })).stdout),
  );
  expect(brief?.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
  const examples = brief?.split(/^Examples.*:$/m)[1]?.match(/^ {2}\S.*$/gm) ?? [];
  expect(examples).toHaveLength(3);
  for (const example of examples) expect(full).toContain(`${example}\n`);
});

test.each(placed(COMMANDS).map(({ path, spec }) => ({ path, spec, name: path.join(' ') })))(
  '$name: --help has every option; -h has them, or says where they are',
  async ({ path, spec }) => {
    const text = async (form: string) => (await filings([...path, form])).stdout;
    const [brief, full] = await Promise.all([text('-h'), text('--help')]);
    for (const { flag, rare, value, default: standard } of named(spec.options)) {
      const row = new RegExp(`^ +(-\\S, )?--${flag}\\b${value === undefined ? '' : ' \\S+'}`, 'm');
      expect(full).toMatch(row);
      if (rare) expect(brief).toMatch(new RegExp(`tells more, also about [^.]*--${flag}\\b`));
      else expect(brief).toMatch(row);
      if (standard !== undefined) expect(brief.replace(/\s+/g, ' ')).toContain(`[default ${standard}]`);
    }
  },
);

test.each([
  ['60', 60],
  ['10', 40],
  ['100000', 120],
  ['0', 80],
  ['', 80],
  ['wide', 80],
  ['-5', 80],
  ['80.5', 80],
])('COLUMNS=%j is as %d columns', async (COLUMNS, columns) => {
  const help = async (text: string) => (await filings(['list', '--help'], { env: { COLUMNS: text } })).stdout;
  const text = await help(COLUMNS);
  expect(text).toBe(await help(`${columns}`));
  const widest = Math.max(...text.split('\n').map((line) => line.length));
  if (columns > 40) expect(widest).toBeGreaterThan(columns - 12);
  if (columns > 40) expect(widest).toBeLessThanOrEqual(columns);
});
