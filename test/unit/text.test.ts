import { describe, expect, test } from 'vitest';
import { Secrets } from '../../src/secrets.ts';
import { counted, humanBytes, humanDuration, inSeconds, quoted, shellWord, shortened } from '../../src/text.ts';

describe('shortened', () => {
  test.each([
    ['abcde', 5, 'abcde'],
    ['abcdef', 5, 'abcd…'],
    ['abc\u{1f600}d', 5, 'abc…'],
    ['abc\u{1f600}', 5, 'abc\u{1f600}'],
  ])('%j to %i: %j', (text, length, shown) => expect(shortened(text, length)).toBe(shown));

  test('what is left of a secret is known to be one', () => {
    const secrets = new Secrets();
    secrets.add('a-key-of-forty-characters-and-a-few-more-of-them');
    expect(secrets.redact(quoted('a-key-of-forty-characters-and-a-few-more-of-them'))).toBe('"[redacted]…"');
  });
});

test('a name in quotes has its quotes and line breaks escaped', () => expect(quoted('a"b\n')).toBe('"a\\"b\\n"'));

test.each([
  [60_000, '60 s'],
  [500, '0.5 s'],
])('%i ms are %s', (milliseconds, shown) => expect(inSeconds(milliseconds)).toBe(shown));

test.each([
  [counted(1, 'file'), '1 file'],
  [counted(2, 'directory', 'directories'), '2 directories'],
])('what is counted is told as %s', (text, expected) => expect(text).toBe(expected));

test.each([
  ['', "''"],
  ["it's", "'it'\\''s'"],
])('%j as a word of a shell', (text, word) => expect(shellWord(text)).toBe(word));

test.each([
  [0, '0 B'],
  [1000, '1.0 kB'],
  [9949, '9.9 kB'],
  [9950, '10 kB'],
  [999_499, '999 kB'],
  [999_500, '1.0 MB'],
  [2.5e18, '2500 PB'],
])('%i bytes: %s', (bytes, shown) => expect(humanBytes(bytes)).toBe(shown));

test.each([
  [-5, '0.0 s'],
  [9949, '9.9 s'],
  [9950, '10 s'],
  [185_000, '3 min'],
  [7_500_000, '2 h'],
])('%i ms: %s', (milliseconds, shown) => expect(humanDuration(milliseconds)).toBe(shown));
