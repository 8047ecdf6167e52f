import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');

/** Phrases that a reader has to decode, and what says the same. */
const DECODED: Readonly<Record<string, string>> = {
  'unless told': 'default:',
  'gone on with': 'resumed',
  'leave it away': 'omit it',
  'leave it out': 'omit it',
  'leave one of them out': 'remove one of them',
  borne: 'tolerated',
  'left undone': 'not started',
  'broken off': 'unfinished',
  'there already': 'already exists',
  'exclude each other': 'cannot be used together',
  'for good': 'permanently',
  'is wanted': 'is missing',
  'stands twice': 'is given twice',
  'cannot stand in': 'cannot be set in',
  'passed over': 'ignored',
};

test.each(Object.entries(DECODED))('no text of the program says "%s", but "%s"', (phrase) => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const found = files.filter((name) => {
    const code = readFileSync(join(SRC, name), 'utf8').replace(/^\s*(\/\*\*|\*|\/\/).*$/gm, '');
    return code.includes(phrase);
  });
  expect(found).toEqual([]);
});
