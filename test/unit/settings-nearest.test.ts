import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance, nearest } from '../../src/spec/nearest.ts';

const KEYS = ['baseUrl', 'apiKey', 'apiKeyFile', 'jobs', 'rate', 'retries'];

test.each([
  ['baseURL', 'baseUrl'],
  ['base_url', 'baseUrl'],
  ['apikey', 'apiKey'],
  ['job', 'jobs'],
  ['jbos', 'jobs'],
  ['retrys', 'retries'],
  ['profile', undefined],
  ['colour', undefined],
  ['x', undefined],
  ['', undefined],
])('%j was meant to be %s', (word, meant) => expect(nearest(word, KEYS)).toBe(meant));

test('the distance is none to itself, and the same both ways', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (a, b) => {
      expect(editDistance(a, a)).toBe(0);
      expect(editDistance(a, b)).toBe(editDistance(b, a));
    }),
  );
});
