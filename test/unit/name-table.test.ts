import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NameTable } from '../../src/transfer/checksums/name-table.ts';
import { sorted } from '../../src/transfer/checksums/sorted.ts';

test('a table of names is as a Map is', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.nat()), { maxLength: 500 }), (entries) => {
      const table = new NameTable();
      for (const [name, number] of entries) table.set(name, number);
      const map = new Map(entries);
      expect(table.size).toBe(map.size);
      for (const [name, number] of map) expect(table.get(name)).toBe(number);
      expect(table.get('not there')).toBeUndefined();
    }),
  );
});

test('a hundred thousand names take 16 bytes a place, whatever their length', () => {
  const table = new NameTable();
  for (let number = 0; number < 100_000; number += 1) table.set(`${'n'.repeat(100)}${number}`, number);
  const numbers = Array.from({ length: 100_000 }, (_, number) => number);
  expect(numbers.filter((number) => table.get(`${'n'.repeat(100)}${number}`) !== number)).toEqual([]);
  expect(table.bytes).toBe(16 << 18);
});

test('texts are sorted by their characters, however many', async () => {
  const texts = Array.from({ length: 30_000 }, (_, index) => `${(index * 7919) % 30_000}\xe9${index}`);
  expect(await sorted(texts)).toEqual([...texts].sort());
  expect(await sorted([])).toEqual([]);
});
