import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');

/** Phrases that a reader has to decode. */
const DECODED =
  /unless told|gone on with|leave it (away|out)|leave one of them out|\bborne\b|left undone|broken off|there already|exclude each other|for good|is wanted|stands twice|cannot stand in|passed over|goes with|has one user|in the way|tells no length|a part (of it )?came|counted anew/i;

test('no text of the program contains a phrase that has to be decoded', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const found = files.flatMap((name) => {
    const code = readFileSync(join(SRC, name), 'utf8').replace(/^\s*(\/\*\*|\*|\/\/).*$/gm, '');
    return code.split('\n').filter((line) => DECODED.test(line));
  });
  expect(found).toEqual([]);
});
