import { expect, test } from 'vitest';
import { parseLayout } from '../../src/batch/layout.ts';
import { NameCheck } from '../../src/batch/name-check.ts';
import { parseAccession } from '../../src/service/accession.ts';

const [A, B] = ['0001234567-24-000001', '0001234567-24-000002'].map(parseAccession) as [never, never];
const kinds = (layout: string, names: [never, string][], most?: number) => {
  const check = new NameCheck(parseLayout(layout, 'linux'), most);
  return names.map(([accession, fileName]) => {
    const item = check.check({ accession, fileName, size: undefined, filing: undefined });
    return 'error' in item ? item.error.code : item.kind;
  });
};

test.each([
  [
    '{accession_no}/{file_name}',
    ['file', 'duplicate', 'file', 'integrity', 'file', 'integrity', 'duplicate', 'duplicate', 'integrity', 'duplicate'],
  ],
  [
    '{file_name}',
    [
      'file',
      'duplicate',
      'local_io',
      'integrity',
      'file',
      'integrity',
      'duplicate',
      'duplicate',
      'integrity',
      'duplicate',
    ],
  ],
])('with the layout %s the names are %j', (layout, expected) => {
  const names = [
    [A, 'x.htm'],
    [A, 'x.htm'],
    [B, 'x.htm'],
    [A, 'X.htm'],
    [A, 'Ä.htm'],
    [A, 'a\u0308.htm'],
    [A, 'Ä.htm'],
    [B, 'x.htm'],
    [A, '../x'],
    [A, '../x'],
  ];
  expect(kinds(layout, names as never)).toEqual(expected);
});

test('too many names are an error', () => {
  expect(() =>
    kinds(
      '{file_name}',
      [
        [A, 'a'],
        [A, 'b'],
        [A, 'c'],
      ],
      2,
    ),
  ).toThrow(/more than 2 files/);
});
