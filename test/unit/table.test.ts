import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../src/terminal/columns.ts';
import { fileList, type Listed, type ListForm } from '../../src/terminal/file-list.ts';
import { tableLines } from '../../src/terminal/table.ts';
import { humanBytes } from '../../src/terminal/units.ts';
import { humanDuration } from '../../src/text.ts';

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
    [59_600, '1 min'],
    [185_000, '3 min 5 s'],
    [3_599_600, '1 h'],
    [7_500_000, '2 h 5 min'],
    [86_400_000, '1 d'],
    [97_200_000, '1 d 3 h'],
  ])('%i ms: %s', (milliseconds, shown) => {
    expect(humanDuration(milliseconds)).toBe(shown);
  });
});

describe('tableLines', () => {
  const columns = [{ heading: 'NAME' }, { heading: 'SIZE', right: true }, { heading: 'WHAT' }];
  const plain = { headings: true, paintHeading: (text: string) => text };

  it('aligns, numbers to the right, without trailing blanks', () => {
    expect(
      tableLines(
        columns,
        [
          ['a.htm', '1 B', 'x'],
          ['日本.htm', '12 kB', ''],
        ],
        plain,
      ),
    ).toEqual(['NAME       SIZE  WHAT', 'a.htm       1 B  x', '日本.htm  12 kB']);
  });

  it('cuts the last cell to the width, and nothing else', () => {
    const rows = [
      ['a.htm', '1 B', 'a long description of it'],
      ['quite-a-long-name.htm', '1 B', '日本日本日本日本日本'],
    ];
    const lines = tableLines(columns, rows, { ...plain, headings: false, width: 40 });
    expect(lines).toEqual(['a.htm                  1 B  a long desc…', 'quite-a-long-name.htm  1 B  日本日本日…']);
    expect(tableLines(columns, rows, { ...plain, headings: false, width: 10 })[1]).toContain('quite-a-long-name.htm');
  });

  it('paints the headings', () => {
    const paintHeading = (text: string) => `<${text}>`;
    expect(tableLines(columns, [['a', 'b', 'c']], { headings: true, paintHeading })[0]).toBe('<NAME  SIZE  WHAT>');
  });

  it.each([
    ['abc', 3],
    ['日本', 4],
    ['e\u0301', 1],
    ['🙂', 2],
    ['ñ', 1],
    ['ａ', 2],
  ])('%s takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

describe('fileList', () => {
  const look = { headings: true, paintHeading: (text: string) => text };
  const number = '0001234567-24-000001';
  const files: Listed[] = [
    { accession_no: number, file_name: 'a.htm', size: 1234, type: 'text/html', description: 'The \x1b[31mreport' },
    { accession_no: number, file_name: 'b\n\u202e.xml', size: '99', type: null },
  ];
  const shown = (form: ListForm, some = files) => fileList(some, form, look);

  it('is one name a line, escaped', () => {
    expect(shown({ kind: 'names', end: '\n', raw: false, accession: false })).toBe('a.htm\nb\\n\\u202e.xml\n');
  });

  it('names the filing where there are several', () => {
    expect(shown({ kind: 'names', end: '\n', raw: false, accession: true })).toBe(
      `${number}\ta.htm\n${number}\tb\\n\\u202e.xml\n`,
    );
  });

  it('is raw for programs that split at NUL', () => {
    expect(shown({ kind: 'names', end: '\0', raw: true, accession: false })).toBe('a.htm\0b\n\u202e.xml\0');
  });

  it('is JSON Lines of all that is known', () => {
    const text = shown({ kind: 'json', end: '\n' });
    expect(text).not.toContain('\u202e');
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(files);
  });

  it('is a table of the columns that have something in them', () => {
    expect(shown({ kind: 'table', width: undefined, accession: false })).toBe(
      [
        'NAME             SIZE  TYPE       DESCRIPTION',
        'a.htm          1.2 kB  text/html  The \\x1b[31mreport',
        'b\\n\\u202e.xml    99 B',
        '',
      ].join('\n'),
    );
    const bare = [{ accession_no: number, file_name: 'a.htm' }];
    expect(shown({ kind: 'table', width: 80, accession: false }, bare)).toBe('NAME\na.htm\n');
    expect(shown({ kind: 'table', width: 80, accession: true }, bare)).toContain(`${number}  a.htm`);
    expect(shown({ kind: 'table', width: 80, accession: true }, [])).toBe('');
  });

  it.each([-1, 'x', null, {}, Number.NaN, true])('leaves out a size of %s', (size) => {
    const odd = [{ accession_no: number, file_name: 'a.htm', size }];
    expect(shown({ kind: 'table', width: 80, accession: false }, odd)).toBe('NAME\na.htm\n');
  });
});
