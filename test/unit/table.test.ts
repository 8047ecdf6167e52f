import { expect, test } from 'vitest';
import { terminalColumns } from '../../src/stdio/output.ts';
import { formatTable } from '../../src/terminal/table.ts';
import { clipToColumns } from '../../src/terminal/width.ts';
import type { OutputStream } from '../../src/world.ts';

test('a table is aligned, with numbers to the right and without trailing blanks', () => {
  const rows = [
    ['NAME', 'SIZE', 'WHAT'],
    ['a.htm', '1 B', 'x'],
    ['日本.htm', '12 kB', ''],
  ];
  expect(formatTable(rows, { rightAlignedIndex: 1 })).toEqual([
    'NAME       SIZE  WHAT',
    'a.htm       1 B  x',
    '日本.htm  12 kB',
  ]);
});

test.each<{ text: string; columns: number; beginning: string }>([
  { text: 'primary.htm', columns: 11, beginning: 'primary.htm' },
  { text: 'primary.htm', columns: 10, beginning: 'primary.h…' },
  { text: 'primary.htm', columns: 1, beginning: '…' },
  { text: '日本語の年次報告書.htm', columns: 12, beginning: '日本語の年…' },
  { text: '👩‍👩‍👧‍👦'.repeat(9), columns: 5, beginning: '👩‍👩‍👧‍👦👩‍👩‍👧‍👦…' },
  { text: '🇩🇪🇫🇷', columns: 3, beginning: '🇩🇪…' },
  { text: 'e\u0301e\u0301e\u0301', columns: 2, beginning: 'e\u0301…' },
])('$text in $columns columns is clipped to $beginning', ({ text, columns, beginning }) => {
  expect(clipToColumns(text, columns)).toBe(beginning);
});

test.each<{ stream: { columns?: number }; COLUMNS: string | undefined; columns: number }>([
  { stream: { columns: 100 }, COLUMNS: '40', columns: 100 },
  { stream: { columns: 0 }, COLUMNS: '40', columns: 40 },
  { stream: {}, COLUMNS: '0', columns: 80 },
  { stream: {}, COLUMNS: undefined, columns: 80 },
])('the stream $stream with COLUMNS=$COLUMNS has $columns columns', ({ stream, COLUMNS, columns }) => {
  expect(terminalColumns(stream as OutputStream, { COLUMNS })).toBe(columns);
});
