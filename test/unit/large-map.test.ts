import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { LargeMap } from '../../src/large-map.ts';

test('has the same entries as a single Map', () => {
  const entries = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.option(fc.integer(), { nil: undefined })));
  fc.assert(
    fc.property(entries, fc.integer({ min: 1, max: 5 }), (all, maxEntries) => {
      const [large, plain] = [
        new LargeMap<number, number | undefined>(maxEntries),
        new Map<number, number | undefined>(),
      ];
      for (const [key, value] of all) {
        large.set(key, value);
        plain.set(key, value);
        expect(large.size).toBe(plain.size);
      }
      for (let key = 0; key <= 30; key += 1) {
        expect([large.has(key), large.get(key)]).toEqual([plain.has(key), plain.get(key)]);
      }
    }),
  );
});

test('no Map in it has more entries than the limit', () => {
  using set = vi.spyOn(Map.prototype, 'set');
  const large = new LargeMap<number, true>(5);
  for (let key = 0; key < 23; key += 1) large.set(key, true);
  const sizes = new Set(set.mock.contexts.map((map) => (map as Map<number, true>).size));
  expect(Math.max(...sizes)).toBe(5);
  expect(large.size).toBe(23);
});
