import { posix, win32 } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileNameFault, twinKey, twins } from '../../src/disk/file-name.ts';

describe('fileNameFault', () => {
  it.each([
    'primary.htm',
    '0001213900-24-004875-index-headers.html',
    'R1.htm',
    'a..b',
    'a b.htm',
    'a?*<>|"#%&+.htm',
    "it's (1) [2] {3}~$@!,;=.htm",
    'Jahresabschluß ñ 日本 🙂.pdf',
    'console.log',
    'icon',
    'falcon.txt',
    'a nul.b',
    'com10.txt',
    'nulls',
    'x'.repeat(191),
    '_a',
    '~a',
    '%2e%2e%2fa',
  ])('takes %j', (name) => {
    expect(fileNameFault(name)).toBeUndefined();
  });

  it.each<[name: string, reason: RegExp]>([
    ['', /empty/],
    ['.', /directory/],
    ['..', /directory/],
    ['../a', /separator/],
    ['a/../b', /separator/],
    ['a/b', /separator/],
    ['a/', /separator/],
    ['a\\b', /separator/],
    ['..\\a', /separator/],
    ['/etc/passwd', /absolute/],
    ['\\\\host\\share', /absolute/],
    ['C:\\a', /absolute/],
    ['c:a', /absolute/],
    ['ab:stream', /colon/],
    ['.bashrc', /dot/],
    ['...', /dot/],
    ['-rf', /dash/],
    [' a', /space/],
    ['a.', /ends with/],
    ['a ', /ends with/],
    ['CON', /device/],
    ['con.txt', /device/],
    ['Nul.tar.gz', /device/],
    ['aux .txt', /device/],
    ['COM1', /device/],
    ['lpt9.htm', /device/],
    ['COM¹', /device/],
    ['LPT³.htm', /device/],
    ['CONIN$', /device/],
    ['conout$.x', /device/],
    ['a\0b', /NUL/],
    ['a\nb', /control/],
    ['a\x1b[31m', /control/],
    ['a\x7f', /control/],
    ['a\x85', /control/],
    ['a\u202egpj.exe', /invisible/],
    ['a\u200bb', /invisible/],
    ['a\u2028b', /invisible/],
    ['\ufeffa', /invisible/],
    ['a\ud800', /Unicode/],
    ['\udc00a', /Unicode/],
    ['x'.repeat(192), /longer than 191 bytes/],
    ['ß'.repeat(96), /longer than 191 bytes/],
    ['SHA256SUMS', /list of checksums/],
    ['sha256sums', /list of checksums/],
    ['\uff33HA256SUMS', /list of checksums/],
  ])('refuses %j', (name, reason) => {
    const fault = fileNameFault(name);
    expect(fault?.reason).toMatch(reason);
    if (name !== '') expect(fault?.hint).toContain('-o');
  });

  it('says so of a style-sheet folder, and names -o', () => {
    expect(fileNameFault('xslF345X05/form4.xml')).toEqual({
      reason: expect.stringContaining('style-sheet folder'),
      hint: expect.stringContaining('-o form4.xml'),
    });
    expect(fileNameFault('xslF345X05/../a')?.reason).toMatch(/separator/);
    expect(fileNameFault('xslF345X05/..')?.reason).toMatch(/separator/);
    expect(fileNameFault('a/xslF345X05/form4.xml')?.reason).toMatch(/separator/);
    expect(fileNameFault('xslF345X05/form4.xml/a')?.reason).toMatch(/separator/);
  });

  it('has no advice for a name that is empty', () => {
    expect(fileNameFault('')).toEqual({ reason: 'it is empty' });
  });

  // Made of what matters, for among random characters there is hardly ever a separator, a device or a blank at an end.
  it('takes nothing that could leave its directory', () => {
    const pieces = [
      'a',
      'R1.htm',
      '日本',
      '.',
      '..',
      '/',
      '\\',
      ':',
      '-',
      ' ',
      '\0',
      '\n',
      '\u202e',
      '\ud800',
      'con',
      'con.x',
      'nul.x',
    ];
    const names = fc
      .array(fc.oneof({ weight: 2, arbitrary: fc.constant('b') }, fc.constantFrom(...pieces)), { maxLength: 5 })
      .map((parts) => parts.join(''));
    const reached: Record<string, number> = {};
    fc.assert(
      fc.property(names, (name) => {
        const reason = fileNameFault(name)?.reason ?? 'none';
        reached[reason] = (reached[reason] ?? 0) + 1;
        if (reason !== 'none') return;
        expect(posix.resolve('/directory', name)).toBe(`/directory/${name}`);
        expect(win32.resolve('C:\\directory', name)).toBe(`C:\\directory\\${name}`);
        expect(name).not.toMatch(/^[.\- ]|[. ]$|:|[\p{Cc}\p{Cf}\p{Cs}]|^(con|nul)( *\.|$)/u);
      }),
      { numRuns: 3000 },
    );
    expect(reached.none).toBeGreaterThan(100);
    // Every rule, but that of the length.
    expect(Object.keys(reached).length).toBeGreaterThanOrEqual(14);
  });
});

describe('twins', () => {
  it.each([
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
  ])('%j and %j are', (one, two) => {
    expect(twinKey(one)).toBe(twinKey(two));
  });

  it.each([
    ['a.htm', 'b.htm'],
    ['a.htm', 'a.html'],
    ['a_1', 'a-1'],
    ['é', 'e'],
    ['R1', 'R11'],
  ])('%j and %j are not', (one, two) => {
    expect(twinKey(one)).not.toBe(twinKey(two));
  });

  it('hold for every case and normalization of a character', () => {
    for (let point = 0x20; point < 0x1e950; point++) {
      if (point >= 0xd800 && point < 0xe000) continue;
      const name = `a${String.fromCodePoint(point)}z`;
      const key = twinKey(name);
      for (const same of [name.toLowerCase(), name.toUpperCase(), name.normalize('NFC'), name.normalize('NFD')]) {
        if (same !== name && twinKey(same) !== key) expect.fail(`${point.toString(16)}: ${name} and ${same}`);
      }
    }
  });

  it('are found in a filing, both ways, and only among different names', () => {
    expect([...twins(['a.htm', 'b.htm', 'A.htm', 'b.htm', 'a.HTM'])]).toEqual([
      ['A.htm', 'a.htm'],
      ['a.htm', 'A.htm'],
      ['a.HTM', 'a.htm'],
    ]);
  });
});
