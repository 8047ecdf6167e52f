import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultLayout, parseLayout } from '../../src/batch/layout.ts';
import { NameCheck } from '../../src/batch/name-check.ts';
import { twinKey } from '../../src/disk/file-name.ts';
import { parseAccession } from '../../src/service/accession.ts';

const one = parseAccession('0001234567-24-000001');
const other = parseAccession('0001234567-24-000002');

/** Returns the kinds of the items that the names of one filing become, in their order. */
function kinds(names: readonly string[]): string[] {
  const check = new NameCheck(defaultLayout(true, 'linux'));
  return names.map((fileName) => check.check({ accession: one, fileName, size: undefined, filing: undefined }).kind);
}

const LONG = 'a'.repeat(40);
test.each<[names: string[], last: string]>([
  [['ü.htm', 'u\u0308.htm'], 'refused'],
  [['ﬁ.htm', 'FI.htm'], 'refused'],
  [['A.HTM', 'A.HTM'], 'duplicate'],
  [['a', 'A', 'A'], 'duplicate'],
  [['a', 'A', 'a'], 'duplicate'],
  [[`${LONG}B`, `${LONG}B`], 'duplicate'],
  [[`${LONG}B`, `${LONG}b`], 'refused'],
  [[`A${LONG.slice(0, 32)}`, `${LONG.slice(0, 32)}A`], 'refused'],
  [['../a', '../a'], 'duplicate'],
  [['\ud800', '\ud801'], 'refused'],
  [['b\u200b', 'b'], 'file'],
])('of the names %j the last one has the kind %s', (names, last) => {
  expect(kinds(names).at(-1)).toBe(last);
});

const fileOf = (accession: typeof one, fileName: string) => ({
  accession,
  fileName,
  size: undefined,
  filing: undefined,
});

test('more file names than fit into memory stop the run with an error', () => {
  const names = new NameCheck(defaultLayout(true, 'linux'), 3);
  const check = (fileName: string) => names.check(fileOf(one, fileName));
  expect(['a', 'b', '../c'].map((name) => check(name).kind)).toEqual(['file', 'file', 'refused']);
  const error = { code: 'local_io', stopsRun: true, message: expect.stringMatching(/^more than 3 file names/) };
  expect(() => check('d')).toThrow(expect.objectContaining(error));
});

test.each([
  [8, 'valid'],
  [30, 'valid'],
  [150, 'valid'],
  [250, 'invalid'],
])('a name of %d characters, which is %s, takes at most 100 bytes of memory', (length) => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  const usedHeap = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  // V8's table has just doubled.
  const count = 2 ** 15 + 500;
  const names = new NameCheck(defaultLayout(true, 'linux'));
  const before = usedHeap();
  for (let at = 0; at < count; at += 1) names.check(fileOf(one, `${at}`.padStart(length, 'a')));
  expect((usedHeap() - before) / count).toBeLessThan(100);
  expect(names.check(fileOf(one, '0'.padStart(length, 'a'))).kind).toBe('duplicate');
});

test('the same name in another filing is another file if the layout has the accession number', () => {
  const names = new NameCheck(parseLayout('{file_name}-{accession_no}', 'linux'));
  const [first, second] = [fileOf(one, 'a.htm'), fileOf(other, 'a.htm')];
  const items = [first, first, second].map((file) => names.check(file));
  expect(items.map(({ kind }) => kind)).toEqual(['file', 'duplicate', 'file']);
  expect(items[2]).toMatchObject({ pathOwner: undefined });
  const hint = expect.stringContaining('-o PATH');
  expect(names.check(fileOf(one, 'A.HTM'))).toMatchObject({ kind: 'refused', error: { hint } });
  const invalid = [fileOf(one, '../a'), fileOf(other, '../a')];
  expect(invalid.map((file) => names.check(file).kind)).toEqual(['refused', 'refused']);
});

const LONG_NAME = `${'a'.repeat(40)}.htm`;
test.each<[first: string, second: string, isTwin: boolean | undefined]>([
  ['a.htm', 'a.htm', false],
  ['a.htm', 'A.htm', true],
  ['A.htm', 'a.htm', true],
  ['A.htm', 'A.htm', false],
  ['e\u0301.htm', '\u00e9.htm', true],
  [LONG_NAME, LONG_NAME, false],
  [LONG_NAME, LONG_NAME.toUpperCase(), true],
  ['a.htm', 'b.htm', undefined],
])('without the accession number in the layout, %j and %j of two filings give isTwin = %s', (first, second, isTwin) => {
  const names = new NameCheck(parseLayout('x/{file_name}', 'linux'));
  const pathOwner = isTwin === undefined ? undefined : { accession: one, isTwin };
  expect(names.check(fileOf(one, first))).toMatchObject({ kind: 'file', pathOwner: undefined });
  expect(names.check(fileOf(other, second))).toMatchObject({ kind: 'file', pathOwner });
  // Each file is reported once, and the first filing keeps the path.
  expect([fileOf(other, second), fileOf(one, first)].map((file) => names.check(file).kind)).toEqual([
    'duplicate',
    'duplicate',
  ]);
});

test('gives the same result as a comparison by twinKey', () => {
  const counts: Record<string, number> = { file: 0, duplicate: 0, refused: 0 };
  const letters = ['a', 'A', 'ß', 's', 'S', 'ı', 'İ', 'i', '\u0301', 'é', 'e', 'K', 'k'];
  const name = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 2 });
  fc.assert(
    fc.property(fc.array(name, { maxLength: 40, size: 'max' }), (names) => {
      const [exact, folded] = [new Set<string>(), new Set<string>()];
      const expected = names.map((text) => {
        const kind = exact.has(text) ? 'duplicate' : folded.has(twinKey(text)) ? 'refused' : 'file';
        counts[kind] = (counts[kind] ?? 0) + 1;
        exact.add(text);
        folded.add(twinKey(text));
        return kind;
      });
      expect(kinds(names)).toEqual(expected);
    }),
    { numRuns: 150 },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(20);
});
