import { expect, test } from 'vitest';
import { parseLayout } from '../../src/batch/layout.ts';
import { createNameCheck } from '../../src/batch/name-check.ts';
import { parseAccession } from '../../src/service/accession.ts';

const [A, B] = ['0001234567-24-000001', '0001234567-24-000002'].map((text) => parseAccession(text)) as [never, never];
const kinds = (layout: string, names: [never, string][]) => {
  const checkName = createNameCheck(parseLayout(layout, 'linux'), new Map());
  return names.map(([accession, fileName]) => {
    const item = checkName({ accession, fileName, size: undefined, filing: undefined });
    return 'error' in item ? item.error.code : item.kind;
  });
};

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
const last = ['integrity', 'file', 'integrity', 'duplicate', 'duplicate', 'integrity', 'duplicate'];

test.each`
  layout                          | third
  ${'{accession_no}/{file_name}'} | ${'file'}
  ${'{file_name}'}                | ${'local_io'}
`('with the layout $layout a name of another filing is: $third', ({ layout, third }) => {
  expect(kinds(layout, names as never)).toEqual(['file', 'duplicate', third, ...last]);
});
