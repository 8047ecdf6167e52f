import { describe, expect, test } from 'vitest';
import { Secrets } from '../../src/secrets.ts';
import { counted, inSeconds, quoted, shellWord, shortened } from '../../src/text.ts';

describe('shortened', () => {
  test.each([
    ['', 5, ''],
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
  [counted(0, 'file'), '0 files'],
  [counted(1, 'file'), '1 file'],
  [counted(2, 'directory', 'directories'), '2 directories'],
])('what is counted is told as %s', (text, expected) => expect(text).toBe(expected));

test.each([
  ['a/b.c', 'a/b.c'],
  ['', "''"],
  ["it's", "'it'\\''s'"],
])('%j as a word of a shell', (text, word) => expect(shellWord(text)).toBe(word));
