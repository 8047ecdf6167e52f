import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteText, isPlainEntry, parseSumsLine, readable, sumsIn, sumsLine } from '../../src/checksums/read.ts';

const HEX = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('a line of SHA256SUMS', () => {
  test.each<[string, string, string]>([
    ['no escapes', `${HEX}  primary.htm`, 'primary.htm'],
    ['capital digits', `${HEX.toUpperCase()}  a`, 'a'],
    ['a name with spaces around it', `${HEX}   a b `, ' a b '],
    ['escapes', `\\${HEX}  a\\\\b\\nc\\rd`, 'a\\b\nc\rd'],
    ['a backslash in a line without escapes', `${HEX}  a\\nb`, 'a\\nb'],
    ['bytes that are not UTF-8', `${HEX}  \xe9`, '\xe9'],
  ])('is parsed: %s', (_, line, name) => {
    expect(parseSumsLine(line)).toEqual({ name, sha256: HEX });
  });

  test.each<[string, string]>([
    ['one space before the name', `${HEX} a`],
    ['no name', `${HEX}  `],
    ['63 digits', `${HEX.slice(1)}  a`],
    ['an unknown escape', `\\${HEX}  a\\t`],
    ['an unfinished escape', `\\${HEX}  a\\`],
    ['the --tag format', `SHA256 (a) = ${HEX}`],
    ['NUL bytes after a power cut', `${HEX}  prim\0\0\0\0`],
    ['an empty line', ''],
  ])('is not parsed: %s', (_, line) => {
    expect(parseSumsLine(line)).toBeUndefined();
  });

  test('is written as sha256sum writes it', () => {
    expect(sumsLine({ name: 'a\\b\nc\rd', sha256: HEX })).toBe(`\\${HEX}  a\\\\b\\nc\\rd\n`);
  });

  test('is parsed as written for any file name', () => {
    const names = fc.uint8Array({ minLength: 1, maxLength: 255 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
    fc.assert(
      fc.property(
        names.filter((name) => !name.includes('\0')),
        (name) => {
          const line = sumsLine({ name, sha256: HEX });
          expect(line.indexOf('\n')).toBe(line.length - 1);
          expect(parseSumsLine(line.slice(0, -1))).toEqual({ name, sha256: HEX });
        },
      ),
    );
  });
});

test('an entry may be opened only if it is a plain name in the directory', () => {
  const names = ['primary.htm', '..a', '', '.', '..', '../a', '/a', 'a/b', 'a\0b', 'a'.repeat(256)];
  expect(names.filter((name) => isPlainEntry(name, 'linux'))).toEqual(['primary.htm', '..a']);
});

test('on Windows no entry leads out of its directory, to a device or to a hidden stream', () => {
  const out = [
    '..\\secret.txt',
    '\\secret.txt',
    'a\\b',
    'C:secret',
    'C:\\secret',
    '\\\\host\\share',
    '\\\\.\\NUL',
    '\\\\?\\C:\\a',
  ];
  const devices = ['NUL', 'nul', 'con.txt', 'aux .x', 'COM1', byteText('LPT\u00b9'), 'CONIN$', 'prn'];
  const others = ['a:b', 'a.htm::$DATA', '.. ', '...', 'a.', 'a ', 'a?b', 'a*', 'a<b', 'a>b', 'a"b', 'a|b', 'a\nb'];
  for (const name of [...out, ...devices, ...others]) {
    expect([name, isPlainEntry(name, 'win32')]).toEqual([name, false]);
    expect([name, isPlainEntry(name, 'linux')]).toEqual([name, true]);
  }
  const plain = ['primary.htm', '..a', byteText('\u00fc b.htm'), 'null.txt', 'a%b'];
  expect(plain.filter((name) => isPlainEntry(name, 'win32'))).toEqual(plain);
});

describe('a SHA256SUMS file in pieces of any size', () => {
  const read = async (text: string, piece: number) => {
    const pieces = Array.from({ length: Math.ceil(text.length / piece) }, (_, at) =>
      Buffer.from(text.slice(at * piece, (at + 1) * piece), 'latin1'),
    );
    const { entries, unreadable, isTorn } = await sumsIn(pieces);
    return [[...entries.keys()].join(' '), unreadable, isTorn];
  };

  test.each<[string, string, string, number[], boolean]>([
    ['valid lines', `${HEX}  a\n${HEX} *b\n`, 'a b', [], false],
    ['Windows line breaks', `${HEX}  a\r\n${HEX}  b\r\n`, 'a b', [], false],
    ['garbage between valid lines', `${HEX}  a\n\0\0\0\n<html>\n${HEX}  b\n`, 'a b', [2, 3], false],
    ['a last line without a line feed', `${HEX}  a\n${HEX}  b`, 'a', [], true],
    ['a truncated last line', `${HEX}  a\n${HEX.slice(0, 40)}`, 'a', [], true],
    ['an overlong line before a valid one', `${'x'.repeat(5000)}\n${HEX}  a\n`, 'a', [1], false],
    ['an overlong last line', `${HEX}  ${'x'.repeat(5000)}`, '', [], true],
    ['an empty file', '', '', [], false],
  ])('gives the same entries, line numbers and tear: %s', async (_, text, entries, unreadable, isTorn) => {
    for (const piece of [1, 7, 64, 10_000]) expect(await read(text, piece)).toEqual([entries, unreadable, isTorn]);
  });

  test('is read without buffering an overlong line', async () => {
    const before = process.memoryUsage().heapUsed;
    await sumsIn(Array<Buffer>(16_384).fill(Buffer.alloc(1 << 16, 'x')));
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 << 20);
  });
});

test.each([
  ['é', 'c3a9'],
  ['\\xe9', 'e9'],
  ['a\\xc3b', '61c362'],
  ['\\xed\\xa0\\x80', 'eda080'],
  ['😀', 'f09f9880'],
])('shows a file name for people as %s from the bytes %s', (expected, hex) => {
  expect(readable(Buffer.from(hex, 'hex').toString('latin1'))).toBe(expected);
});
