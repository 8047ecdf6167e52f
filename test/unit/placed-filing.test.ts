import { expect, test } from 'vitest';
import { parseLayout } from '../../src/batch/layout.ts';
import { filingOfPath } from '../../src/commands/download/targets.ts';
import { parseAccession } from '../../src/service/accession.ts';

const [A, B] = ['0001234567-24-000001', '0001234567-24-000002'].map(parseAccession) as [never, never];
const [DIGITS_A, DIGITS_B] = ['000123456724000001', '000123456724000002'];

// A file of filing A is placed below a directory by a layout. The last column is the filing that alone owns the
// resulting directory.
test.each<[name: string, directory: string, layout: string, file: string, filing: string | undefined]>([
  ['no accession number', '/mirror', '{file_name}', 'a.htm', undefined],
  ['the default layout of a mirror', '/mirror', '{accession_no}/{file_name}', 'a.htm', A],
  ['an accession number above the directory', `/x/${A}/y/z`, '{file_name}', 'a.htm', A],
  ['an accession number as 18 digits', `/x/${DIGITS_A}`, '{file_name}', 'a.htm', A],
  ["a mirror in another filing's directory", `/x/${B}`, '{accession_no}/{file_name}', 'a.htm', A],
  ["another filing's directory below this one's", `/x/${A}/${B}`, '{file_name}', 'a.htm', B],
  ["another filing's number as 18 digits", `/x/${A}/${DIGITS_B}`, '{file_name}', 'a.htm', B],
  ["another filing's number in the layout", `/x/${A}`, `${B}/{file_name}`, 'a.htm', B],
  ["another filing's number behind this one's", '/x', `{accession_no}/${DIGITS_B}/{file_name}`, 'a.htm', B],
  ["this filing's number behind another one's", '/x', `${B}/{accession_no}/{file_name}`, 'a.htm', A],
  ['only a part of a segment', `/x/${A}-old`, '{accession_no}-{file_name}', 'a.htm', undefined],
  ['a part of a segment below a whole one', `/x/${A}`, 'old-{accession_no}/{file_name}', 'a.htm', A],
  ['the last segment', '/x', '{file_name}/{accession_no}', 'a.htm', A],
  ['17 digits', `/x/${DIGITS_A.slice(1)}`, '{file_name}', 'a.htm', undefined],
  ['misplaced hyphens', '/x/0001234567-24000001', '{file_name}', 'a.htm', undefined],
  ["only the file's own name", '/x', '{file_name}', A, undefined],
  ["only the file's own name, as a directory", '/x', '{file_name}/x', DIGITS_A, undefined],
  ["a number that the layout makes of the file's name", '/x', '{file_name}-000001', '0001234567-24', undefined],
  ["another filing's number as the file's name", `/x/${A}`, '{file_name}', B, undefined],
])('finds the filing that owns a path: %s', (_, directory, layout, file, filing) => {
  const { template, pathFor } = parseLayout(layout, 'linux');
  const { path = '' } = pathFor(A, file);
  const above = filingOfPath(directory.split('/'));
  expect(filingOfPath(path.split('/'), template.split('/'), above)).toBe(filing);
});
