import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { twinKey } from '../../src/disk/file-name.ts';
import { type Digest, keyedDigester } from '../../src/transfer/selection/seen/name-digest.ts';
import { PairSet } from '../../src/transfer/selection/seen/pair-set.ts';
import { Seen, type Sight } from '../../src/transfer/selection/seen/seen.ts';

const one = '0001234567-24-000001';
const other = '0001234567-24-000002';

/** Asked too often for `expect`. */
function must(holds: boolean): void {
  if (!holds) expect.unreachable('it does not hold');
}

describe('PairSet', () => {
  test('is the set it says to be, whatever is added and taken away', () => {
    let [grown, takenOut] = [0, 0];
    const word = fc.oneof(fc.constantFrom(0, 1, 0xffffffff), fc.nat(9), fc.nat(0xffffffff));
    const step = fc.tuple(fc.constantFrom('add', 'add', 'add', 'delete'), word, word);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 2000, size: 'max' }), (steps) => {
        const set = new PairSet();
        const model = new Set<string>();
        for (const [what, high, low] of steps) {
          const key = `${high} ${low}`;
          must(set.has(high, low) === model.has(key));
          if (what === 'add') must(set.add(high, low) !== model.has(key));
          else set.delete(high, low);
          if (what === 'delete' && model.has(key)) takenOut += 1;
          if (what === 'add') model.add(key);
          else model.delete(key);
          must(set.has(high, low) === (what === 'add'));
          must(set.size === model.size);
        }
        if (set.size > 300) grown += 1;
        for (const key of model) must(set.has(...(key.split(' ').map(Number) as [number, number])));
      }),
      { numRuns: 60 },
    );
    expect(grown).toBeGreaterThan(5);
    expect(takenOut).toBeGreaterThan(500);
  });

  test('takes away from full segments without losing those behind', () => {
    const set = new PairSet();
    for (let i = 0; i < 40_000; i += 1) set.add(i, i * 7);
    for (let i = 0; i < 40_000; i += 3) set.delete(i, i * 7);
    for (let i = 0; i < 40_000; i += 1) must(set.has(i, i * 7) === (i % 3 !== 0));
    expect(set.size).toBe(26_666);
  });

  test('does not grow with what came and went', () => {
    const set = new PairSet();
    for (let i = 1; i < 50_000; i += 1) {
      set.add(i, i);
      if (i > 100) set.delete(i - 100, i - 100);
    }
    expect(set.size).toBe(100);
    expect(set.bytes).toBeLessThan(40_000);
  });

  test('of 300,000 values each takes at most 14 bytes, in whichever order their bits are', () => {
    for (const value of [(i: number) => [0, i], (i: number) => [i, 0], (i: number) => [i >>> 9, (i << 23) >>> 0]]) {
      const set = new PairSet();
      for (let i = 0; i < 300_000; i += 1) {
        const [high = 0, low = 0] = value(i);
        set.add(high, low);
        if (i >= 30_000 && i % 500 === 0) expect(set.bytes / set.size).toBeLessThan(13.4);
      }
      expect(set.size).toBe(300_000);
    }
  });
});

describe('Seen', () => {
  test.each<[what: string, names: readonly (readonly [string, string])[], last: Sight]>([
    [
      'the same file',
      [
        [one, 'a.htm'],
        [one, 'a.htm'],
      ],
      'again',
    ],
    [
      'another name',
      [
        [one, 'a.htm'],
        [one, 'b.htm'],
      ],
      'new',
    ],
    [
      'the name in another filing',
      [
        [one, 'a.htm'],
        [other, 'a.htm'],
      ],
      'new',
    ],
    [
      'another case',
      [
        [one, 'a.htm'],
        [one, 'A.htm'],
      ],
      'twin',
    ],
    [
      'another case, the other way',
      [
        [one, 'A.htm'],
        [one, 'a.htm'],
      ],
      'twin',
    ],
    [
      'both in capitals',
      [
        [one, 'A.HTM'],
        [one, 'A.HTM'],
      ],
      'again',
    ],
    [
      'another normal form',
      [
        [one, 'ü.htm'],
        [one, 'u\u0308.htm'],
      ],
      'twin',
    ],
    [
      'a ligature',
      [
        [one, 'ﬁ.htm'],
        [one, 'FI.htm'],
      ],
      'twin',
    ],
    [
      'a twin again',
      [
        [one, 'a'],
        [one, 'A'],
        [one, 'A'],
      ],
      'again',
    ],
    [
      'the first again, after its twin',
      [
        [one, 'a'],
        [one, 'A'],
        [one, 'a'],
      ],
      'again',
    ],
    [
      'a third of the kind',
      [
        [one, 'aa'],
        [one, 'Aa'],
        [one, 'aA'],
      ],
      'twin',
    ],
    [
      'another lone surrogate',
      [
        [one, 'a\ud800'],
        [one, 'a\ud801'],
      ],
      'new',
    ],
    [
      'the text of a surrogate',
      [
        [one, '\ud800'],
        [one, '"\\ud800"'],
      ],
      'new',
    ],
  ])('%s', (_what, names, last) => {
    const seen = new Seen();
    expect(names.map(([accession, name]) => seen.add(accession, name)).at(-1)).toBe(last);
  });

  test.each<[what: string, names: readonly (readonly [string, string])[], last: Sight]>([
    [
      'the same file',
      [
        [one, 'a'],
        [one, 'a'],
      ],
      'again',
    ],
    [
      'the name in another filing',
      [
        [one, 'a'],
        [other, 'a'],
      ],
      'new',
    ],
    [
      'the name in another filing, again',
      [
        [one, 'a'],
        [other, 'a'],
        [other, 'a'],
      ],
      'again',
    ],
    [
      'another case in another filing',
      [
        [one, 'a'],
        [other, 'A'],
      ],
      'twin',
    ],
    [
      'what was refused once, in yet another filing',
      [
        [one, 'a'],
        [other, 'A'],
        ['3', 'A'],
      ],
      'twin',
    ],
    [
      'another case in the same',
      [
        [one, 'a'],
        [one, 'A'],
      ],
      'twin',
    ],
    [
      'another name',
      [
        [one, 'a'],
        [other, 'b'],
      ],
      'new',
    ],
  ])('in shared directories: %s', (_what, names, last) => {
    const seen = new Seen('shared');
    expect(names.map(([accession, name]) => seen.add(accession, name)).at(-1)).toBe(last);
  });

  test('tells what twinKey tells', () => {
    const counts = { new: 0, again: 0, twin: 0 };
    const letters = ['a', 'A', 'ß', 's', 'S', 'ı', 'İ', 'i', '\u0301', 'é', 'e', 'K', 'k'];
    const name = fc.oneof(
      fc.string({ unit: fc.constantFrom(...letters), maxLength: 2 }),
      fc.string({ unit: 'binary', maxLength: 2 }),
    );
    fc.assert(
      fc.property(fc.array(name, { maxLength: 40, size: 'max' }), (names) => {
        const seen = new Seen();
        const [exact, folded] = [new Set<string>(), new Set<string>()];
        for (const text of names) {
          const expected = exact.has(text) ? 'again' : folded.has(twinKey(text)) ? 'twin' : 'new';
          must(seen.add(one, text) === expected);
          counts[expected] += 1;
          exact.add(text);
          folded.add(twinKey(text));
        }
      }),
      { numRuns: 500 },
    );
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(50);
  });

  test('two names whose digests collide in one half are never taken for each other', () => {
    const halves = (first: Digest, second: Digest) => {
      const digests = new Map([
        ['a', first],
        ['b', second],
      ]);
      const seen = new Seen('own', (_accession, name) => digests.get(name) ?? [0, 0, 0, 0]);
      expect(seen.add(one, 'a')).toBe('new');
      return seen.add(one, 'b');
    };
    expect(halves([1, 2, 3, 4], [5, 6, 7, 8])).toBe('new');
    expect(halves([1, 2, 3, 4], [1, 2, 7, 8])).toBe('new');
    expect(halves([1, 2, 3, 4], [5, 6, 3, 4])).toBe('twin');
    expect(halves([1, 2, 3, 4], [1, 6, 3, 4])).toBe('twin');
    expect(halves([1, 2, 3, 4], [5, 2, 3, 4])).toBe('twin');
    expect(halves([1, 2, 3, 4], [1, 2, 3, 8])).toBe('new');
    expect(halves([1, 2, 3, 4], [1, 2, 7, 4])).toBe('new');
  });

  test.each(['own', 'shared'] as const)(
    '%s directories: a file is known after 100,000 others, in at most 40 bytes each',
    (directories) => {
      const seen = new Seen(directories);
      const accession = (i: number) => `000${1_000_000 + (i >> 3)}-24-000001`;
      const name = (i: number) => `${directories === 'own' ? '' : i}ex${i & 7}.htm`;
      let most = 0;
      for (let i = 0; i < 100_000; i += 1) {
        must(seen.add(accession(i), name(i)) === 'new');
        if (i > 30_000 && i % 100 === 0) most = Math.max(most, seen.bytes / i);
      }
      expect(most).toBeGreaterThan(16);
      expect(most).toBeLessThan(40);
      for (let i = 0; i < 100_000; i += 997) expect(seen.add(accession(i), name(i))).toBe('again');
      expect(seen.add(accession(5), name(5).toUpperCase())).toBe('twin');
    },
  );

  test('the digest is another one in each run, and all of its words tell', () => {
    const [digest, another] = [keyedDigester(), keyedDigester()];
    expect(digest(one, 'a')).toEqual(digest(one, 'a'));
    expect(digest(one, 'a')).not.toEqual(another(one, 'a'));
    const words = Array.from({ length: 2000 }, (_, i) => digest(one, `${i}`));
    for (const at of [0, 1, 2, 3]) expect(new Set(words.map((four) => four[at])).size).toBeGreaterThan(1990);
    for (const word of words.flat()) must(word >= 0 && word < 2 ** 32);
  });
});
