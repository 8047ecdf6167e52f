import { expect, test } from 'vitest';
import { nearest } from '../../src/spec/nearest.ts';

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
