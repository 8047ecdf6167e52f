import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatSumsLine, parseSumsLine } from '../../src/checksums/format.ts';
import { isDirectoryEntryName } from '../../src/disk/file-name.ts';
import { proving } from '../proving.ts';

const HEX = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('a line of SHA256SUMS', () => {
  test.each`
    what                                       | line                          | name
    ${'no escapes'}                            | ${`${HEX}  primary.htm`}      | ${'primary.htm'}
    ${'binary mode'}                           | ${`${HEX} *primary.htm`}      | ${'primary.htm'}
    ${'capital digits'}                        | ${`${HEX.toUpperCase()}  a`}  | ${'a'}
    ${'a name with spaces around it'}          | ${`${HEX}   a b `}            | ${' a b '}
    ${'escapes'}                               | ${`\\${HEX}  a\\\\b\\nc\\rd`} | ${'a\\b\nc\rd'}
    ${'a backslash in a line without escapes'} | ${`${HEX}  a\\nb`}            | ${'a\\nb'}
    ${'bytes that are not UTF-8'}              | ${`${HEX}  \xe9`}             | ${'\xe9'}
  `('is parsed with $what', ({ line, name }) => {
    expect(parseSumsLine(line)).toEqual({ name, sha256: HEX });
  });

  test.each`
    what                             | line
    ${'one space before the name'}   | ${`${HEX} a`}
    ${'no name'}                     | ${`${HEX}  `}
    ${'63 digits'}                   | ${`${HEX.slice(1)}  a`}
    ${'an unknown escape'}           | ${`\\${HEX}  a\\t`}
    ${'an unfinished escape'}        | ${`\\${HEX}  a\\`}
    ${'the --tag format'}            | ${`SHA256 (a) = ${HEX}`}
    ${'NUL bytes after a power cut'} | ${`${HEX}  prim\0\0\0\0`}
    ${'no text'}                     | ${''}
    ${'over 1,024 characters'}       | ${`${HEX}  ${'a'.repeat(1000)}`}
  `('is not parsed with $what', ({ line }) => {
    expect(parseSumsLine(line)).toBeUndefined();
  });

  test('is written as sha256sum writes it', () => {
    expect(formatSumsLine('a\\b\nc\rd', HEX)).toBe(`\\${HEX}  a\\\\b\\nc\\rd\n`);
  });

  test('is parsed as written for any file name', () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 255 }).filter((name) => !name.includes(0));
    fc.assert(
      fc.property(bytes, (each) => {
        const name = Buffer.from(each).toString('latin1');
        const line = formatSumsLine(name, HEX);
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(parseSumsLine(line.slice(0, -1))).toEqual({ name, sha256: HEX });
      }),
      { seed: 1, numRuns: proving ? 1000 : 100 },
    );
  });
});

test('an entry may be opened only if it is a plain name in the directory', () => {
  const names = ['primary.htm', '..a', '', '.', '..', '../a', '/a', 'a/b', 'a\0b'];
  expect(names.filter((name) => isDirectoryEntryName(name, 'linux'))).toEqual(['primary.htm', '..a']);
});

test('on Windows no entry leads out of its directory, to a device or to a hidden stream', () => {
  const out = ['..\\secret.txt', '\\secret.txt', 'a\\b', 'C:secret', 'C:\\secret', '\\\\host\\share', '\\\\.\\NUL'];
  const devices = ['NUL', 'con.txt', 'aux .x', 'LPT\u00b9'];
  const others = ['a:b', 'a.htm::$DATA', '.. ', '...', 'a.', 'a ', 'a?b', 'a*', 'a<b', 'a>b', 'a"b', 'a|b', 'a\nb'];
  const all = [...out, ...devices, ...others];
  expect(all.filter((name) => isDirectoryEntryName(name, 'win32'))).toEqual([]);
  expect(all.filter((name) => isDirectoryEntryName(name, 'linux'))).toEqual(all);
  const plain = ['primary.htm', '..a', '\u00fc b.htm', 'null.txt', 'a%b'];
  expect(plain.filter((name) => isDirectoryEntryName(name, 'win32'))).toEqual(plain);
});
