import { posix, win32 } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileNameFault, twinKey } from '../../src/disk/file-name.ts';
import { hasOurSuffix, isKeptName, isPartName, keptName, partName } from '../../src/disk/part-name.ts';

test.each([
  'primary.htm',
  '0001213900-24-004875-index-headers.html',
  'a..b',
  'a b.htm',
  'a?*<>|"#%&+.htm',
  "it's (1) [2] {3}~$@!,;=.htm",
  'Jahresabschluß ñ 日本 🙂.pdf',
  'console.log',
  'falcon.txt',
  'a nul.b',
  'com10.txt',
  'nulls',
  'x'.repeat(232),
  '_a',
  '%2e%2e%2fa',
])('accepts %j', (name) => {
  expect(fileNameFault(name, 'linux')).toBeUndefined();
});

test.each<[reason: RegExp, names: string[]]>([
  [/empty/, ['']],
  [/separator/, ['../a', 'a/../b', 'a/', 'a\\b', '..\\a', '/etc/passwd', '\\\\host\\share', 'C:\\a']],
  [/colon/, ['c:a', 'ab:stream']],
  [/a dot or a dash/, ['.', '..', '.bashrc', '...', '-rf']],
  [/a space, or ends with a dot/, [' a', 'a.', 'a ']],
  [/device/, ['CON', 'con.txt', 'Nul.tar.gz', 'aux .txt', 'COM1', 'lpt9.htm', 'COM¹', 'LPT³.htm', 'CLOCK$']],
  [/device/, ['CONIN$', 'conout$.x', 'prn']],
  [/control/, ['a\0b', 'a\nb', 'a\x1b[31m', 'a\x7f', 'a\x85', 'a\u202egpj.exe', 'a\u200bb', 'a\u2028b', '\ufeffa']],
  [/control/, ['a\ud800', '\udc00a', 'a\u3164']],
  [/longer than 232 bytes/, ['x'.repeat(233), 'ß'.repeat(117)]],
  [/list of checksums/, ['SHA256SUMS', 'sha256sums', '\uff33HA256SUMS']],
])('gives a reason that matches %s for each of %j', (reason, names) => {
  for (const name of names) {
    expect(fileNameFault(name, 'linux')?.reason, JSON.stringify(name)).toMatch(reason);
    expect(fileNameFault(name, 'linux')?.hint).toContain('-o');
  }
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
    { numRuns: 3000 },
  );
  expect(reasonCounts.none).toBeGreaterThan(100);
  // Every rule is covered except those for the length and for lists of checksums.
  expect(Object.keys(reasonCounts)).toHaveLength(8);
});

describe('the key of a name', () => {
  test.each([
    ['A.HTM', 'a.htm'],
    ['é.htm', 'e\u0301.htm'],
    ['straße', 'STRASSE'],
    ['straße', 'STRA\u1e9eE'],
    ['ſ', 's'],
    ['İ', 'i'],
    ['ﬁle', 'FILE'],
    ['K', 'k'],
    ['ς', 'σ'],
    ['Å', 'Å'],
    ['a\ufe0f', 'a'],
    ['ａ', 'A'],
  ])('is the same for %j and %j', (one, two) => {
    expect(twinKey(one)).toBe(twinKey(two));
  });

  test.each([
    ['a.htm', 'b.htm'],
    ['a.htm', 'a.html'],
    ['a_1', 'a-1'],
    ['é', 'e'],
    ['R1', 'R11'],
  ])('differs for %j and %j', (one, two) => {
    expect(twinKey(one)).not.toBe(twinKey(two));
  });

  test('is the same for every case and normalization of a character', () => {
    for (let point = 0x20; point < 0x1e950; point++) {
      if (point >= 0xd800 && point < 0xe000) continue;
      const name = `a${String.fromCodePoint(point)}z`;
      const key = twinKey(name);
      for (const same of [name.toLowerCase(), name.toUpperCase(), name.normalize('NFC'), name.normalize('NFD')]) {
        if (same !== name && twinKey(same) !== key) expect.fail(`${point.toString(16)}: ${name} and ${same}`);
      }
    }
  });
});

describe('a hidden name', () => {
  test('is recognised whatever the final name and the random number are', () => {
    for (const final of ['a', 'a.htm', 'a\n', 'x'.repeat(232), 'x'.repeat(255)]) {
      for (const random of [0, 0.5, 0.123456789, 1 - 2 ** -53]) {
        const [part, kept] = [partName(final, random), keptName(final)];
        expect([part, kept].map((name) => [isPartName(name), isKeptName(name)])).toEqual([
          [true, false],
          [false, true],
        ]);
        expect([part, kept].map((name) => Buffer.byteLength(name) <= 255 && hasOurSuffix(name))).toEqual([true, true]);
      }
    }
    expect(partName('a.htm', 0.123456789)).toMatch(/^\.a\.htm\.[a-z\d]{8}\.filings-part$/);
    expect(keptName('a.htm')).toBe('.a.htm.filings-resume');
  });

  test.each([
    'a.part',
    '.a.part',
    '.a.abcd1234.part',
    'a.filings-part',
    '.a.filings-part',
    '.filings-resume',
    '.a.ABCD1234.filings-part',
  ])('is not %s, a file of the user', (name) => expect(isPartName(name) || isKeptName(name)).toBe(false));
});
