import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printable, printableJson } from '../../src/terminal/printable.ts';
import { proving } from '../proving.ts';

test.each`
  text                                            | shown
  ${'Jahresabschluß ñ 日本 🙂'}                   | ${'Jahresabschluß ñ 日本 🙂'}
  ${'a\nb\r\tc'}                                  | ${'a\\nb\\r\\tc'}
  ${'\x1b[31mred'}                                | ${'\\x1b[31mred'}
  ${'\0\x7f\x80\x9b'}                             | ${'\\x00\\x7f\\x80\\x9b'}
  ${'a\u202egpj.exe'}                             | ${'a\\u202egpj.exe'}
  ${'\u2066\u2069\u061c\u200b\u200d\ufeff\u00ad'} | ${'\\u2066\\u2069\\u061c\\u200b\\u200d\\ufeff\\xad'}
  ${'\ud800x\udc00'}                              | ${'\\ud800x\\udc00'}
  ${'\u{e0041}'}                                  | ${'\\u{e0041}'}
`('invisible characters are escaped: $shown', ({ text, shown }) => {
  expect(printable(text)).toBe(shown);
});

test('leaves no invisible character in any text and keeps to the length', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (text, length) => {
      expect(printable(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
      expect(printable(text, length).length).toBeLessThanOrEqual(length);
    }),
    { seed: 1, numRuns: proving ? 1000 : 100 },
  );
});

test('printableJson escapes invisible characters and keeps the value', () => {
  const value = { 'a\u202e': ['\x9b', '\n', '\x7f', '\u2028', '\u{e0041}', '\ud800', 'ß'] };
  const json = printableJson(value);
  expect(json).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
  expect(json).toContain('ß');
  expect(JSON.parse(json)).toEqual(value);
});
