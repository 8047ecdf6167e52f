import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LargeMap } from '../../src/large-map.ts';

test('a map of several maps holds what one map would hold', () => {
  const entries = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer()));
  fc.assert(
    fc.property(entries, fc.integer({ min: 1, max: 5 }), (all, maxEntries) => {
      const [large, plain] = [new LargeMap<number, number>(maxEntries), new Map<number, number>()];
      for (const [key, value] of all) {
        large.set(key, value);
        plain.set(key, value);
      }
      expect([...large]).toEqual([...plain]);
      expect(large.size).toBe(plain.size);
      for (let key = 0; key <= 30; key += 1) {
        expect([large.has(key), large.get(key)]).toEqual([plain.has(key), plain.get(key)]);
      }
    }),
  );
});
