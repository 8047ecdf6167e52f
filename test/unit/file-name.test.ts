import { posix, win32 } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileNameFault, foldName } from '../../src/disk/file-name.ts';
import {
  hasPartSuffix,
  isKeptPartName,
  isWorkingPartName,
  keptPartName,
  workingPartName,
} from '../../src/disk/part-name.ts';
import { proving } from '../proving.ts';

test.each([
  ...['primary.htm', '0001213900-24-004875-index-headers.html', 'a..b', 'a b.htm', 'x'.repeat(232)],
  ...['a?*<>|"#%&+.htm', "it's (1) [2] {3}~$@!,;=.htm", '_a', '%2e%2e%2fa', 'Jahresabschluß ñ 日本 🙂.pdf'],
  ...['console.log', 'falcon.txt', 'a nul.b', 'com10.txt', 'nulls'],
])('accepts %j', (name) => {
  expect(fileNameFault(name, 'linux')).toBeUndefined();
});

const INVISIBLE = ['a\0b', 'a\nb', 'a\x1b[31m', 'a\x7f', 'a\x85', 'a\u202egpj.exe', 'a\u200bb', 'a\u2028b', '\ufeffa'];
const DEVICES = ['CON', 'con.txt', 'Nul.tar.gz', 'aux .txt', 'COM1', 'lpt9.htm', 'COM¹', 'LPT³.htm', 'CLOCK$', 'prn'];
test.each`
  reason                            | names
  ${'empty'}                        | ${['']}
  ${'separator'}                    | ${['../a', 'a/../b', 'a/', 'a\\b', '..\\a', '/etc/passwd', '\\\\host\\share', 'C:\\a']}
  ${'colon'}                        | ${['c:a', 'ab:stream']}
  ${'a dot or a dash'}              | ${['.', '..', '.bashrc', '...', '-rf']}
  ${'a space, or ends with a dot'}  | ${[' a', 'a.', 'a ']}
  ${'device'}                       | ${[...DEVICES, 'CONIN$', 'conout$.x']}
  ${'control'}                      | ${[...INVISIBLE, 'a\ud800', '\udc00a', 'a\u3164']}
  ${'longer than 232 bytes'}        | ${['x'.repeat(233), 'ß'.repeat(117)]}
  ${'file that --checksums writes'} | ${['SHA256SUMS', 'sha256sums', '\uff33HA256SUMS']}
`('refuses each of $names for its $reason', ({ reason, names }: { reason: string; names: string[] }) => {
  for (const name of names)
    expect(fileNameFault(name, 'linux'), JSON.stringify(name)).toEqual({
      reason: expect.stringContaining(reason),
      hint: expect.stringContaining('-o'),
    });
});

test('refuses names with <>"|?* only on Windows', () => {
  for (const name of ['a<b', 'a>b', 'a"b', 'a|b', 'a?b', 'a*b']) {
    expect(fileNameFault(name, 'win32')?.reason, name).toMatch(/Windows does not allow/);
    expect(fileNameFault(name, 'darwin')).toBeUndefined();
  }
  expect(fileNameFault("a b #%&+,;='()[]{}~.htm", 'win32')).toBeUndefined();
});

test('names a style-sheet folder as the reason and hints at -o', () => {
  expect(fileNameFault('xslF345X05/form4.xml', 'linux')).toEqual({
    reason: expect.stringContaining('style-sheet folder'),
    hint: expect.stringContaining('-o form4.xml'),
  });
  for (const name of ['xslF345X05/../a', 'xslF345X05/..', 'a/xslF345X05/form4.xml', 'xslF345X05/form4.xml/a'])
    expect(fileNameFault(name, 'linux')?.reason).toMatch(/separator/);
});

// The names are built from critical pieces, because random characters hardly ever contain a separator, a device name or
// a trailing blank.
test('accepts no name that could leave its directory', () => {
  const bad = ['.', '..', '/', '\\', ':', '-', ' ', '\0', '\n', '\u202e', '\ud800', 'con', 'con.x', 'nul.x'];
  const pieces = ['a', 'R1.htm', '日本', ...bad];
  const names = fc
    .array(fc.oneof({ weight: 2, arbitrary: fc.constant('b') }, fc.constantFrom(...pieces)), { maxLength: 5 })
    .map((parts) => parts.join(''));
  const reasonCounts: Record<string, number> = {};
  fc.assert(
    fc.property(names, (name) => {
      const reason = fileNameFault(name, 'linux')?.reason ?? 'none';
      reasonCounts[reason] = (reasonCounts[reason] ?? 0) + 1;
      if (reason !== 'none') return;
      expect(posix.resolve('/directory', name)).toBe(`/directory/${name}`);
      expect(win32.resolve('C:\\directory', name)).toBe(`C:\\directory\\${name}`);
      expect(name).not.toMatch(/^[.\- ]|[. ]$|:|[\p{Cc}\p{Cf}\p{Cs}]|^(con|nul)( *\.|$)/u);
    }),
    { seed: 1, numRuns: proving ? 10_000 : 1000 },
  );
  expect(reasonCounts.none).toBeGreaterThan(100);
  // Every rule is covered except those for the length and for lists of checksums.
  expect(Object.keys(reasonCounts)).toHaveLength(8);
});

describe('the key of a name', () => {
  test.each`
    one          | two
    ${'straße'}  | ${'STRA\u1e9eE'}
    ${'İ'}       | ${'i'}
    ${'a\ufe0f'} | ${'a'}
    ${'ａ'}      | ${'A'}
  `('is the same for $one and $two', ({ one, two }) => {
    expect(foldName(one)).toBe(foldName(two));
  });

  test('differs for names that no file system takes for one file', () => {
    const names = ['a.htm', 'b.htm', 'a.html', 'a_1', 'a-1', 'é', 'e', 'R1', 'R11'];
    expect(new Set(names.map(foldName)).size).toBe(names.length);
  });

  test('is the same for every case and normalization of a character', () => {
    for (let point = 0x20; point < 0x1e950; point++) {
      if (point >= 0xd800 && point < 0xe000) continue;
      const name = `a${String.fromCodePoint(point)}z`;
      const key = foldName(name);
      for (const same of [name.toLowerCase(), name.toUpperCase(), name.normalize('NFC'), name.normalize('NFD')]) {
        if (same !== name && foldName(same) !== key) expect.fail(`${point.toString(16)}: ${name} and ${same}`);
      }
    }
  });
});

describe('a hidden name', () => {
  test('is recognized whatever the final name and the random number are', () => {
    for (const final of ['a', 'a.htm', 'a\n', 'x'.repeat(232), 'x'.repeat(255)]) {
      for (const random of [0, 0.5, 0.123456789, 1 - 2 ** -53]) {
        const [part, kept] = [workingPartName(final, random), keptPartName(final)];
        expect([isWorkingPartName(part), isKeptPartName(part), hasPartSuffix(part)]).toEqual([true, false, true]);
        expect([isWorkingPartName(kept), isKeptPartName(kept), hasPartSuffix(kept)]).toEqual([false, true, true]);
        expect(Math.max(Buffer.byteLength(part), Buffer.byteLength(kept))).toBeLessThanOrEqual(255);
      }
    }
    expect(workingPartName('a.htm', 0.123456789)).toMatch(/^\.a\.htm\.[a-z\d]{8}\.filings-part$/);
    expect(keptPartName('a.htm')).toBe('.a.htm.filings-resume');
  });

  test('is none of a user', () => {
    const unclear = ['a.filings-part', '.a.filings-part', '.filings-resume', '.a.ABCD1234.filings-part'];
    const names = ['a.part', '.a.part', '.a.abcd1234.part', ...unclear];
    expect(names.filter((name) => isWorkingPartName(name) || isKeptPartName(name))).toEqual([]);
  });
});
