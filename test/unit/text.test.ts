import { expect, test } from 'vitest';
import { humanBytes, humanDuration, shortened, textOf } from '../../src/text.ts';

test.each([
  ['abcde', 5, 'abcde'],
  ['abcdef', 5, 'abcd…'],
  ['abc\u{1f600}d', 5, 'abc…'],
])('shortens %j to %i characters: %j', (text, length, expected) => expect(shortened(text, length)).toBe(expected));

test.each<[string, Buffer, string]>([
  ['UTF-8', Buffer.from('aü\r\n'), 'aü\r\n'],
  ['UTF-16 as PowerShell writes it', Buffer.from('\ufeffaü\r\n', 'utf16le'), 'aü\r\n'],
  ['UTF-16 with its bytes the other way round', Buffer.from('\ufeffaü', 'utf16le').swap16(), 'aü'],
  ['UTF-8 with a mark', Buffer.from('\ufeffa'), 'a'],
  ['nothing', Buffer.alloc(0), ''],
])('reads a text in %s', (_, bytes, text) => expect(textOf(bytes)).toBe(text));

test.each([
  [0, '0 B'],
  [1000, '1.0 kB'],
  [9949, '9.9 kB'],
  [9950, '10 kB'],
  [999_499, '999 kB'],
  [999_500, '1.0 MB'],
  [2.5e18, '2500 PB'],
])('shows %i bytes as %s', (bytes, expected) => expect(humanBytes(bytes)).toBe(expected));

test.each([
  [-5, '0.0 s'],
  [9949, '9.9 s'],
  [9950, '10 s'],
  [185_000, '3 min'],
  [7_500_000, '2 h'],
])('shows %i ms as %s', (milliseconds, expected) => expect(humanDuration(milliseconds)).toBe(expected));
