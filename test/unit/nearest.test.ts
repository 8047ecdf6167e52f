import { expect, test } from 'vitest';
import { didYouMean } from '../../src/spec/nearest.ts';

const KEYS = ['apiKey', 'apiKeyFile', 'baseUrl', 'jobs', 'rate', 'jwt'];

test.each`
  word             | candidate
  ${'apikey'}      | ${'apiKey'}
  ${'apiKye'}      | ${'apiKey'}
  ${'apKey'}       | ${'apiKey'}
  ${'APIKEYFILES'} | ${'apiKeyFile'}
  ${'baesUlr'}     | ${'baseUrl'}
  ${'job'}         | ${'jobs'}
  ${'jot'}         | ${'jwt'}
  ${'jat'}         | ${'jwt'}
  ${'jo'}          | ${undefined}
  ${'xyz'}         | ${undefined}
  ${''}            | ${undefined}
`('the word $word was probably meant to be $candidate', ({ word, candidate }) => {
  expect(didYouMean(word, KEYS)).toBe(candidate && `did you mean ${candidate}?`);
});
