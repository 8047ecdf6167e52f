import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileNameFault } from '../../src/disk/file-name.ts';
import type { Owner } from '../../src/disk/owner/owner.ts';
import { namesOf, type PartKind, parsePartName, partNames, stemOf } from '../../src/transfer/sinks/part/part-name.ts';

const owner: Owner = { host: '0123abcd', boot: '89ef0123', namespace: '00000000', pid: 4_194_303, started: 'zzzzzzz' };

describe('part names', () => {
  test('look as the interface page says', () => {
    const { part, resume, lock } = partNames('primary.htm', owner, '1');
    expect(part).toMatch(/^\.primary\.htm\..+\.part$/);
    expect(namesOf(part.slice(0, -5))).toEqual({ part, resume, lock });
  });

  test('whatever the final name, they are read back, and are allowed in no listing', () => {
    const names = fc.string({ minLength: 1, maxLength: 190, unit: 'grapheme' }).filter((name) => !/[/\0]/.test(name));
    fc.assert(
      fc.property(names, fc.constantFrom<PartKind>('part', 'resume', 'lock'), (final, kind) => {
        const name = partNames(final, owner, 'zzzzzz')[kind];
        expect(parsePartName(name)).toEqual({
          base: name.slice(0, -kind.length - 1),
          stem: stemOf(final),
          owner,
          kind,
        });
        expect(fileNameFault(name)).toBeDefined();
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      }),
    );
  });

  test('the longest name with the longest owner fits', () => {
    const longest = { ...owner, pid: 36 ** 6 - 1, started: 'z'.repeat(13) };
    const final = 'n'.repeat(191);
    expect(fileNameFault(final)).toBeUndefined();
    const { part, resume } = partNames(final, longest, 'zzzzzz');
    expect(Math.max(part.length, resume.length)).toBeLessThanOrEqual(255);
  });

  test('a very long name that -o chose gets a digest of its own', () => {
    const [one, two] = [`${'x'.repeat(254)}1`, `${'x'.repeat(254)}2`];
    expect(partNames(one, owner, '1').part.length).toBeLessThanOrEqual(255);
    expect(stemOf(one)).not.toBe(stemOf(two));
  });

  test.each([
    'primary.htm',
    '.primary.htm.part',
    '.x.0123abcd-89ef0123-00000000-1-1.part',
    '.x.0123abcd-89ef0123-00000000-1-1.1.parts',
    'x.0123abcd-89ef0123-00000000-1-1.1.part',
    '..0123abcd-89ef0123-00000000-1-1.1.part',
  ])('%s is not one', (name) => {
    expect(parsePartName(name)).toBeUndefined();
  });
});
