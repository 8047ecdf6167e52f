import { describe, expect, it, test } from 'vitest';
import { columnsOf } from '../../src/stdio/output.ts';
import { fitted, table as tableOf } from '../../src/terminal/table.ts';
import { clipped, displayWidth, elided } from '../../src/terminal/width.ts';
import { humanBytes, humanDuration } from '../../src/text.ts';
import type { OutputStream } from '../../src/world.ts';

describe('humanBytes', () => {
  it.each([
    [0, '0 B'],
    [1, '1 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [1234, '1.2 kB'],
    [9949, '9.9 kB'],
    [9950, '10 kB'],
    [999_499, '999 kB'],
    [999_500, '1.0 MB'],
    [143_000_000, '143 MB'],
    [1e9, '1.0 GB'],
    [2.5e18, '2500 PB'],
  ])('%i: %s', (bytes, shown) => {
    expect(humanBytes(bytes)).toBe(shown);
  });
});

describe('humanDuration', () => {
  it.each([
    [-5, '0.0 s'],
    [0, '0.0 s'],
    [440, '0.4 s'],
    [9949, '9.9 s'],
    [9950, '10 s'],
    [59_400, '59 s'],
    [185_000, '3 min'],
    [7_500_000, '2 h'],
  ])('%i ms: %s', (milliseconds, shown) => {
    expect(humanDuration(milliseconds)).toBe(shown);
  });
});

const { signal } = new AbortController();
const table = (
  ...args: [Parameters<typeof tableOf>[0], Parameters<typeof tableOf>[1], Parameters<typeof tableOf>[2]]
) => tableOf(...args, signal);

describe('table', () => {
  const columns = [
    { heading: 'NAME', name: true },
    { heading: 'SIZE', right: true },
    { heading: 'WHAT', least: 12 },
  ];
  const plain = { paintHeading: (text: string) => text };

  it('aligns, numbers to the right, without trailing blanks', async () => {
    const rows = [
      ['a.htm', '1 B', 'x'],
      ['日本.htm', '12 kB', ''],
    ];
    expect(await table(columns, rows, plain)).toEqual([
      'NAME       SIZE  WHAT',
      'a.htm       1 B  x',
      '日本.htm  12 kB',
    ]);
  });

  const rows = [
    ['a.htm', '1.2 kB', 'a long description of it'],
    ['quite-a-long-name.htm', '12 B', '日本日本日本日本日本'],
  ];

  it.each([
    [
      80,
      [
        'a.htm                  1.2 kB  a long description of it',
        'quite-a-long-name.htm    12 B  日本日本日本日本日本',
      ],
    ],
    [43, ['a.htm                  1.2 kB  a long desc…', 'quite-a-long-name.htm    12 B  日本日本日…']],
    [42, ['a.htm                  1.2 kB', 'quite-a-long-name.htm    12 B']],
    [29, ['a.htm                  1.2 kB', 'quite-a-long-name.htm    12 B']],
    [28, ['a.htm', 'quite-a-long-name.htm']],
    [20, ['a.htm', 'quite-a-lo…-name.htm']],
    [1, ['…', '…']],
  ])('fits into %i columns: the rest gives way, the name last', async (width, lines) => {
    expect((await table(columns, rows, { ...plain, width })).slice(1)).toEqual(lines);
  });

  it('is never wider than the terminal, whatever the names are', async () => {
    const names = ['👩‍👩‍👧‍👦.htm', '🇩🇪🇫🇷.xml', 'ｶﾞﾊﾟ　.txt', `${'e\u0301'.repeat(50)}`, '한국어 파일.htm'];
    const wide = names.map((name) => [name, '1.2 kB', name.repeat(9)]);
    for (let width = 1; width < 60; width++) {
      for (const line of await table(columns, wide, { ...plain, width })) {
        expect(displayWidth(line), `${width}: ${line}`).toBeLessThanOrEqual(width);
      }
    }
  });

  it('cuts names, leaves out what cannot be cut', () => {
    const two = [{ heading: 'ACCESSION', name: true }, ...columns];
    expect(fitted(two, [20, 30, 6, 40], 80)).toEqual([20, 30, 6, 18]);
    expect(fitted(two, [20, 30, 6, 40], 52)).toEqual([20, 30, 0, 0]);
    expect(fitted(two, [20, 30, 6, 40], 40)).toEqual([20, 18, 0, 0]);
    expect(fitted(two, [20, 30, 6, 40], 10)).toEqual([10, 0, 0, 0]);
  });

  it('takes no time over what is far too long', async () => {
    const long = [['字'.repeat(2_000_000), '', '']];
    expect((await table(columns, long, { ...plain, width: 20 }))[1]).toBe(`${'字'.repeat(5)}…${'字'.repeat(4)}`);
  });

  it('paints the headings', async () => {
    const paintHeading = (text: string) => `<${text}>`;
    expect((await table(columns, [['a', 'b', 'c']], { paintHeading }))[0]).toBe('<NAME  SIZE  WHAT>');
  });
});

describe('displayWidth', () => {
  it.each([
    ['abc', 3],
    ['e\u0301', 1],
    ['日本', 4],
    ['ｶﾞ', 2],
    ['👩‍👩‍👧‍👦', 2],
    ['🇩🇪🇫🇷', 4],
    ['…', 1],
  ])('%s takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

describe('clipped', () => {
  it.each([
    ['primary.htm', 11, 'primary.htm'],
    ['primary.htm', 10, 'primary.h…'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3, '👩‍👩‍👧‍👦…'],
    ['🇩🇪🇫🇷', 3, '🇩🇪…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ])('%s in %i columns is %s', (text, columns, shown) => {
    expect(clipped(text, columns)).toBe(shown);
  });
});

describe('elided', () => {
  it.each([
    ['primary.htm', 11, 'primary.htm'],
    ['a-long-exhibit-99.htm', 12, 'a-long…9.htm'],
    ['a-long-exhibit-99.htm', 13, 'a-long…99.htm'],
    ['日本語の年次報告書.htm', 12, '日本語….htm'],
    ['👩‍👩‍👧‍👦'.repeat(9), 5, '👩‍👩‍👧‍👦…👩‍👩‍👧‍👦'],
    ['primary.htm', 1, '…'],
  ])('%s in %i columns is %s', (text, columns, shown) => {
    expect(elided(text, columns)).toBe(shown);
  });
});

test.each<[stream: { columns?: number }, COLUMNS: string | undefined, columns: number]>([
  [{ columns: 100 }, '40', 100],
  [{ columns: 0 }, '40', 40],
  [{}, '40', 40],
  [{}, '0', 80],
  [{}, 'wide', 80],
  [{}, '-5', 80],
  [{}, undefined, 80],
])('%j with COLUMNS=%s has %d columns', (stream, COLUMNS, columns) => {
  expect(columnsOf(stream as OutputStream, { COLUMNS })).toBe(columns);
});
