import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteText, isUtf8, readable } from '../../src/disk/byte-text.ts';
import { isNetworkType } from '../../src/disk/network-disk.ts';
import { isPlainEntry, parseSumsLine, sumsLine } from '../../src/transfer/checksums/sums-line.ts';
import {
  belongsToSums,
  isSumsName,
  lockNameOf,
  rewriteNameOf,
  sumsNameFor,
  sumsRewrittenBy,
} from '../../src/transfer/checksums/sums-name.ts';
import { SumsSplitter } from '../../src/transfer/checksums/sums-reader.ts';

const HEX = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('a line', () => {
  test.each<[string, string, string]>([
    ['of text', `${HEX}  primary.htm`, 'primary.htm'],
    ['of a binary file', `${HEX} *primary.htm`, 'primary.htm'],
    ['with capital digits', `${HEX.toUpperCase()}  a`, 'a'],
    ['whose name has spaces around it', `${HEX}   a b `, ' a b '],
    ['whose name has a star in front', `${HEX}  *a`, '*a'],
    ['with escapes', `\\${HEX}  a\\\\b\\nc\\rd`, 'a\\b\nc\rd'],
    ['with a backslash that is none', `${HEX}  a\\nb`, 'a\\nb'],
    ['in bytes that are not UTF-8', `${HEX}  \xe9`, '\xe9'],
  ])('%s is read', (_, line, name) => {
    expect(parseSumsLine(line)).toEqual({ name, sha256: HEX });
  });

  test.each<[string, string]>([
    ['one space', `${HEX} a`],
    ['no name', `${HEX}  `],
    ['a digit too few', `${HEX.slice(1)}  a`],
    ['a digit too many', `0${HEX}  a`],
    ['something in front', ` ${HEX}  a`],
    ['an unknown escape', `\\${HEX}  a\\t`],
    ['half an escape', `\\${HEX}  a\\`],
    ['another form (--tag)', `SHA256 (a) = ${HEX}`],
    ['a hash alone', HEX],
    ['a name that a power cut left half of', `${HEX}  prim\0\0\0\0`],
    ['nothing', ''],
  ])('%s is none', (_, line) => {
    expect(parseSumsLine(line)).toBeUndefined();
  });

  test('is written as sha256sum does', () => {
    expect(sumsLine({ name: 'a b', sha256: HEX })).toBe(`${HEX}  a b\n`);
    expect(sumsLine({ name: 'a\\b\nc\rd', sha256: HEX })).toBe(`\\${HEX}  a\\\\b\\nc\\rd\n`);
  });

  test('whatever the name, it is read back', () => {
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

test.each<[string, boolean]>([
  ['primary.htm', true],
  ['.hidden', true],
  ['-rf', true],
  ['a\\b', true],
  ['\xe9', true],
  ['..a', true],
  ['', false],
  ['.', false],
  ['..', false],
  ['../a', false],
  ['a/b', false],
  ['/etc/passwd', false],
  ['a\0b', false],
  ['a'.repeat(255), true],
  ['a'.repeat(256), false],
])('an entry %j may be opened: %s', (name, plain) => {
  expect(isPlainEntry(name)).toBe(plain);
});

describe('a file in pieces', () => {
  const shown = (line: { kind: string; name?: string; open: boolean }) =>
    `${line.kind === 'entry' ? line.name : 'garbage'}${line.open ? ' open' : ''}`;
  const read = (text: string, piece: number) => {
    const splitter = new SumsSplitter();
    const lines = [];
    for (let from = 0; from < text.length; from += piece) lines.push(...splitter.take(text.slice(from, from + piece)));
    return [...lines, ...splitter.end()].map(shown);
  };

  test.each<[string, string, string[]]>([
    ['lines', `${HEX}  a\n${HEX} *b\n`, ['a', 'b']],
    ['Windows line breaks', `${HEX}  a\r\n${HEX}  b\r\n`, ['a', 'b']],
    ['garbage between', `${HEX}  a\n\0\0\0\n<html>\n${HEX}  b\n`, ['a', 'garbage', 'garbage', 'b']],
    ['empty lines and comments', `\n# made by hand\n${HEX}  a\n\n`, ['a']],
    ['a last line without its break', `${HEX}  a\n${HEX}  b`, ['a', 'b open']],
    ['a torn last line', `${HEX}  a\n${HEX.slice(0, 40)}`, ['a', 'garbage open']],
    ['a line without end, then another', `${'x'.repeat(5000)}\n${HEX}  a\n`, ['garbage', 'a']],
    ['a last line without end', `${HEX}  ${'x'.repeat(5000)}`, ['garbage open']],
    ['nothing', '', []],
  ])('%s', (_, text, lines) => {
    for (const piece of [1, 7, 64, 10_000]) expect(read(text, piece)).toEqual(lines);
  });

  test('a line without end is not gathered', () => {
    const splitter = new SumsSplitter();
    const before = process.memoryUsage().heapUsed;
    const piece = 'x'.repeat(1 << 16);
    for (let count = 0; count < 16_384; count += 1) splitter.take(piece);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 << 20);
  });
});

test('a shard keeps a file of its own where appends are not atomic', () => {
  expect(sumsNameFor(undefined, false)).toBe('SHA256SUMS');
  expect(sumsNameFor({ index: 2, count: 4 }, true)).toBe('SHA256SUMS');
  expect(sumsNameFor({ index: 2, count: 4 }, false)).toBe('SHA256SUMS.2-of-4');
});

test.each<[string, boolean, boolean]>([
  ['SHA256SUMS', true, true],
  ['SHA256SUMS.2-of-4', true, true],
  ['SHA256SUMS.12-of-34', true, true],
  ['SHA256SUMS.1234567890-of-1234567890', true, true],
  ['SHA256SUMS.0-of-4', false, false],
  ['SHA256SUMS.2-of-0', false, false],
  ['SHA256SUMS.12345678901-of-4', false, false],
  ['SHA256SUMS.2-of-12345678901', false, false],
  ['SHA256SUMSSHA256SUMS', false, false],
  ['xSHA256SUMS', false, false],
  ['SHA256SUMS.bak', false, false],
  ['SHA256SUMS.2-of-4.old', false, false],
  ['sha256sums', false, false],
  ['.SHA256SUMS.lock', false, true],
  ['.SHA256SUMS.2-of-4.0123456789ab.new', false, true],
  ['.SHA256SUMS.2-of-4.lock', false, true],
  ['.SHA256SUMS.lock.bak', false, false],
  ['x.SHA256SUMS.lock', false, false],
  ['.SHA256SUMS.new', false, false],
  ['.SHA256SUMS.0123456789ab.new', false, true],
  ['.SHA256SUMS.0123456789a.new', false, false],
  ['.SHA256SUMS.0123456789ab.new.bak', false, false],
  ['x.SHA256SUMS.0123456789ab.new', false, false],
])('%s is a checksum file: %s; or belongs to one: %s', (name, is, belongs) => {
  expect([isSumsName(name), belongsToSums(name)]).toEqual([is, belongs]);
});

test.each(['SHA256SUMS', 'SHA256SUMS.2-of-4'])('what stands beside %s while it is rewritten', (sums) => {
  const [lock, rewrite] = [lockNameOf(sums), rewriteNameOf(sums, '0123456789ab')];
  expect([lock, rewrite]).toEqual([`.${sums}.lock`, `.${sums}.0123456789ab.new`]);
  expect([sums, lock, rewrite].map(sumsRewrittenBy)).toEqual([undefined, undefined, sums]);
});

test.each<[string, number, boolean]>([
  ['NFS', 0x6969, true],
  ['CIFS', 0xff534d42, true],
  ['CIFS, with a sign', 0xff534d42 | 0, true],
  ['9P', 0x01021997, true],
  ['FUSE', 0x65735546, true],
  ['Lustre', 0x0bd00bd0, true],
  ['GPFS', 0x47504653, true],
  ['ext4', 0xef53, false],
  ['XFS', 0x58465342, false],
  ['btrfs', 0x9123683e, false],
  ['tmpfs', 0x01021994, false],
  ['overlay', 0x794c7630, false],
])('%s is a network disk: %#', (_, type, network) => {
  expect(isNetworkType(type)).toBe(network);
});

test.each<[string, string, boolean]>([
  ['é', 'c3a9', true],
  ['\\xe9', 'e9', false],
  ['a\\xc3b', '61c362', false],
  ['\\xed\\xa0\\x80', 'eda080', false],
  ['\\xc0\\xaf', 'c0af', false],
  ['😀', 'f09f9880', true],
])('bytes for people: %s', (shown, hex, utf8) => {
  const bytes = Buffer.from(hex, 'hex').toString('latin1');
  expect([readable(bytes), isUtf8(bytes)]).toEqual([shown, utf8]);
  if (utf8) expect(byteText(shown)).toBe(bytes);
});
