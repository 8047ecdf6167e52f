import { expect, test } from 'vitest';
import { decodeText, humanBytes, humanDuration, humanSizes, shellWord, shortened } from '../../src/text.ts';

test.each`
  text               | length | shown
  ${'abcde'}         | ${5}   | ${'abcde'}
  ${'abcdef'}        | ${5}   | ${'abcd…'}
  ${'abc\u{1f600}d'} | ${5}   | ${'abc…'}
`('$text is shortened to $length characters as $shown', ({ text, length, shown }) => {
  expect(shortened(text, length)).toBe(shown);
});

test.each`
  form                                           | bytes                                          | text
  ${'UTF-8'}                                     | ${Buffer.from('aü\r\n')}                       | ${'aü\r\n'}
  ${'UTF-16 as PowerShell writes it'}            | ${Buffer.from('\ufeffaü\r\n', 'utf16le')}      | ${'aü\r\n'}
  ${'UTF-16 with its bytes the other way round'} | ${Buffer.from('\ufeffaü', 'utf16le').swap16()} | ${'aü'}
  ${'UTF-8 with a mark'}                         | ${Buffer.from('\ufeffa')}                      | ${'a'}
  ${'no bytes'}                                  | ${Buffer.alloc(0)}                             | ${''}
`('a text in $form is read', ({ bytes, text }) => {
  expect(decodeText(bytes)).toBe(text);
});

test.each`
  text       | word
  ${'a.htm'} | ${'a.htm'}
  ${'$a *'}  | ${"'$a *'"}
  ${"it's"}  | ${"'it'\\''s'"}
  ${''}      | ${"''"}
`('a command that is to be pasted has $text as $word', ({ text, word }) => {
  expect(shellWord(text)).toBe(word);
});

test('bytes are shown in decimal units with two or three digits', () => {
  const shown = [0, 1000, 9949, 9950, 999_499, 999_500, 2.5e18].map(humanBytes);
  expect(shown).toEqual(['0 B', '1.0 kB', '9.9 kB', '10 kB', '999 kB', '1.0 MB', '2500 PB']);
});

test.each([
  [1e6, 2e6, '1.0 MB', '2.0 MB'],
  [1e6, 1e6, '1.0 MB', '1.0 MB'],
  [2_999_999, 3e6, '2,999,999 B', '3,000,000 B'],
])('two sizes are exact if they differ but would look the same: %d and %d', (one, other, ...shown) => {
  expect(humanSizes(one, other)).toEqual(shown);
});

test('milliseconds are shown as seconds, minutes or hours', () => {
  const shown = [-5, 9949, 9950, 185_000, 7_500_000].map(humanDuration);
  expect(shown).toEqual(['0.0 s', '9.9 s', '10 s', '3 min', '2 h']);
});
