import { expect, test } from 'vitest';
import { columnsOf } from '../../src/stdio/output.ts';
import { table } from '../../src/terminal/table.ts';
import { clipped, displayWidth, elided } from '../../src/terminal/width.ts';
import type { OutputStream } from '../../src/world.ts';

const COLUMNS = [
  { heading: 'NAME', isName: true },
  { heading: 'SIZE', isRightAligned: true },
  { heading: 'WHAT', minWidth: 12 },
];
const { signal } = new AbortController();
const linesOf = (rows: readonly (readonly string[])[], width?: number, columns: typeof COLUMNS = COLUMNS) =>
  table(columns, rows, { width, paintHeading: (text) => `<${text}>` }, signal);

test('a table is aligned, with numbers to the right and without trailing blanks', async () => {
  const rows = [
    ['a.htm', '1 B', 'x'],
    ['日本.htm', '12 kB', ''],
  ];
  expect(await linesOf(rows)).toEqual(['<NAME       SIZE  WHAT>', 'a.htm       1 B  x', '日本.htm  12 kB']);
});

test.each([
  [80, 'a.htm                  1.2 kB  a long description of it'],
  [43, 'a.htm                  1.2 kB  a long desc…'],
  [42, 'a.htm                  1.2 kB'],
  [20, 'a.htm', 'quite-a-lo…-name.htm'],
  [1, '…', '…'],
])(
  'a table fits into %i columns by shortening other cells first and names last',
  async (width, first, second?: string) => {
    const rows = [
      ['a.htm', '1.2 kB', 'a long description of it'],
      ['quite-a-long-name.htm', '12 B', '日本日本日本日本日本'],
    ];
    const [, ...lines] = await linesOf(rows, width);
    expect(lines).toEqual([first, second ?? expect.stringMatching(/^quite-a-long-name\.htm {4}12 B/)]);
  },
);

test.each([
  [120, 'x'.repeat(60), '  1.2 kB', '  application/xhtml+xml', '  its description'],
  [80, `${'x'.repeat(27)}…${'x'.repeat(26)}`, '  1.2 kB', '  application/xht…', ''],
  [50, `${'x'.repeat(12)}…${'x'.repeat(11)}`, '  1.2 kB', '  application/xht…', ''],
  [49, `${'x'.repeat(20)}…${'x'.repeat(20)}`, '  1.2 kB', '', ''],
  [32, `${'x'.repeat(12)}…${'x'.repeat(11)}`, '  1.2 kB', '', ''],
  [31, `${'x'.repeat(15)}…${'x'.repeat(15)}`, '', '', ''],
])('at %i columns a long name is shortened so that size and type stay', async (width, ...cells) => {
  const columns = [
    { heading: 'NAME', isName: true },
    { heading: 'SIZE', isRightAligned: true, reservedWidth: 8 },
    { heading: 'TYPE', minWidth: 8, reservedWidth: 16 },
    { heading: 'DESCRIPTION', minWidth: 12 },
  ];
  const row = ['x'.repeat(60), '1.2 kB', 'application/xhtml+xml', 'its description'];
  const lines = await table(columns, [row], { width, paintHeading: (text) => text }, signal);
  expect(lines[1]).toBe(cells.join(''));
});

test('the first of two names is kept whole, and the second is shortened', async () => {
  const columns = [
    { heading: 'ACCESSION', isName: true },
    { heading: 'NAME', isName: true },
    { heading: 'SIZE', isRightAligned: true, reservedWidth: 8 },
  ];
  const rows = [['0001234567-24-000001', 'x'.repeat(60), '12 kB']];
  const at = async (width: number) => (await table(columns, rows, { width, paintHeading: (text) => text }, signal))[1];
  expect(await at(60)).toBe(`0001234567-24-000001  ${'x'.repeat(15)}…${'x'.repeat(15)}  12 kB`);
  expect(await at(50)).toBe(`0001234567-24-000001  ${'x'.repeat(14)}…${'x'.repeat(13)}`);
});

test('a table is never wider than the terminal, whatever the names', async () => {
  const names = ['👩‍👩‍👧‍👦.htm', '🇩🇪🇫🇷.xml', 'ｶﾞﾊﾟ　.txt', 'e\u0301'.repeat(50), '한국어 파일.htm', '字'.repeat(200_000)];
  const rows = names.map((name) => [name, '1.2 kB', name.slice(0, 90)]);
  const kept = COLUMNS.map((column) => ({ ...column, reservedWidth: 8 }));
  for (let width = 1; width < 60; width++) {
    for (const columns of [COLUMNS, kept]) {
      const [, ...lines] = await linesOf(rows, width, columns);
      for (const line of lines) expect(displayWidth(line), `${width}: ${line}`).toBeLessThanOrEqual(width);
    }
  }
});

test.each([
  ['primary.htm', 11, 'primary.htm', 'primary.htm'],
  ['primary.htm', 10, 'primary.h…', 'prima….htm'],
  ['primary.htm', 1, '…', '…'],
  ['日本語の年次報告書.htm', 12, '日本語の年…', '日本語….htm'],
  ['👩‍👩‍👧‍👦'.repeat(9), 5, '👩‍👩‍👧‍👦👩‍👩‍👧‍👦…', '👩‍👩‍👧‍👦…👩‍👩‍👧‍👦'],
  ['🇩🇪🇫🇷', 3, '🇩🇪…', '🇩🇪…'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…', 'e\u0301…'],
])('%s in %i columns is clipped to %s and elided to %s', (text, columns, beginning, both) => {
  expect([clipped(text, columns), elided(text, columns)]).toEqual([beginning, both]);
});

test.each<[stream: { columns?: number }, COLUMNS: string | undefined, columns: number]>([
  [{ columns: 100 }, '40', 100],
  [{ columns: 0 }, '40', 40],
  [{}, '0', 80],
  [{}, undefined, 80],
])('the stream %j with COLUMNS=%s has %d columns', (stream, COLUMNS, columns) => {
  expect(columnsOf(stream as OutputStream, { COLUMNS })).toBe(columns);
});
