import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultLayout } from '../../src/batch/layout.ts';
import { NameCheck } from '../../src/batch/name-check.ts';
import { twinKey } from '../../src/disk/file-name.ts';
import { parseAccession } from '../../src/service/accession.ts';

const one = parseAccession('0001234567-24-000001');
const other = parseAccession('0001234567-24-000002');

/** What becomes of names of one filing, one after the other. */
function kinds(names: readonly string[]): string[] {
  const check = new NameCheck(defaultLayout(true));
  return names.map((fileName) => check.check({ accession: one, fileName, size: undefined, filing: undefined }).kind);
}

const LONG = 'a'.repeat(40);
test.each<[names: string[], last: string]>([
  [['ü.htm', 'u\u0308.htm'], 'refused'],
  [['ﬁ.htm', 'FI.htm'], 'refused'],
  [['A.HTM', 'A.HTM'], 'again'],
  [['a', 'A', 'A'], 'again'],
  [['a', 'A', 'a'], 'again'],
  [[`${LONG}B`, `${LONG}B`], 'again'],
  [[`${LONG}B`, `${LONG}b`], 'refused'],
  [[`A${LONG.slice(0, 32)}`, `${LONG.slice(0, 32)}A`], 'refused'],
  [['../a', '../a'], 'again'],
  [['b\u200b', 'b'], 'file'],
])('%j', (names, last) => {
  expect(kinds(names).at(-1)).toBe(last);
});

test('the same name in another filing is another file', () => {
  const names = new NameCheck(defaultLayout(false));
  const file = { accession: one, fileName: 'a.htm', size: undefined, filing: undefined };
  expect([file, file, { ...file, accession: other }].map((each) => names.check(each).kind)).toEqual([
    'file',
    'again',
    'file',
  ]);
  const hint = expect.stringContaining('-o PATH');
  expect(names.check({ ...file, fileName: 'A.HTM' })).toMatchObject({ error: { hint } });
});

test('tells what twinKey tells', () => {
  const counts: Record<string, number> = { file: 0, again: 0, refused: 0 };
  const letters = ['a', 'A', 'ß', 's', 'S', 'ı', 'İ', 'i', '\u0301', 'é', 'e', 'K', 'k'];
  const name = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 2 });
  fc.assert(
    fc.property(fc.array(name, { maxLength: 40, size: 'max' }), (names) => {
      const [exact, folded] = [new Set<string>(), new Set<string>()];
      const expected = names.map((text) => {
        const kind = exact.has(text) ? 'again' : folded.has(twinKey(text)) ? 'refused' : 'file';
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
