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

test.each<[what: string, names: string[], last: string]>([
  ['the same file', ['a.htm', 'a.htm'], 'again'],
  ['another name', ['a.htm', 'b.htm'], 'file'],
  ['another case', ['a.htm', 'A.htm'], 'refused'],
  ['another case, the other way', ['A.htm', 'a.htm'], 'refused'],
  ['both in capitals', ['A.HTM', 'A.HTM'], 'again'],
  ['another normal form', ['ü.htm', 'u\u0308.htm'], 'refused'],
  ['a ligature', ['ﬁ.htm', 'FI.htm'], 'refused'],
  ['a twin again', ['a', 'A', 'A'], 'again'],
  ['the first again, after its twin', ['a', 'A', 'a'], 'again'],
  ['a third of the kind', ['aa', 'Aa', 'aA'], 'refused'],
  ['a long name, again', [`${'a'.repeat(40)}B`, `${'a'.repeat(40)}B`], 'again'],
  ['a long twin', [`${'a'.repeat(40)}B`, `${'a'.repeat(40)}b`], 'refused'],
  ['an unsafe name', ['../a'], 'refused'],
  ['an unsafe name again', ['../a', '../a'], 'again'],
  ['a name whose twin is unsafe', ['b\u200b', 'b'], 'file'],
])('%s', (_what, names, last) => {
  expect(kinds(names).at(-1)).toBe(last);
});

test('the same name in another filing is another file', () => {
  const names = new NameCheck(defaultLayout(false));
  const file = { accession: one, fileName: 'a.htm', size: undefined, filing: undefined };
  expect(names.check(file).kind).toBe('file');
  expect(names.check(file).kind).toBe('again');
  expect(names.check({ ...file, accession: other }).kind).toBe('file');
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
