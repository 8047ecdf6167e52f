import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPlainEntry, parseSumsLine, sumsLine } from '../../src/checksums/format.ts';

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
    expect(sumsLine('a\\b\nc\rd', HEX)).toBe(`\\${HEX}  a\\\\b\\nc\\rd\n`);
  });

  test('is parsed as written for any file name', () => {
    const names = fc.uint8Array({ minLength: 1, maxLength: 255 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
    fc.assert(
      fc.property(
        names.filter((name) => !name.includes('\0')),
        (name) => {
          const line = sumsLine(name, HEX);
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
  const devices = ['NUL', 'nul', 'con.txt', 'aux .x', 'COM1', 'LPT\u00b9', 'CONIN$', 'prn'];
  const others = ['a:b', 'a.htm::$DATA', '.. ', '...', 'a.', 'a ', 'a?b', 'a*', 'a<b', 'a>b', 'a"b', 'a|b', 'a\nb'];
  for (const name of [...out, ...devices, ...others]) {
    expect([name, isPlainEntry(name, 'win32')]).toEqual([name, false]);
    expect([name, isPlainEntry(name, 'linux')]).toEqual([name, true]);
  }
  const plain = ['primary.htm', '..a', '\u00fc b.htm', 'null.txt', 'a%b'];
  expect(plain.filter((name) => isPlainEntry(name, 'win32'))).toEqual(plain);
});
