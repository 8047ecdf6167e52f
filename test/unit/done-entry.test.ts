import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AccessionNumber } from '../../src/service/accession.ts';
import { doneLine, parseDoneLine, type Selection, selectionId } from '../../src/transfer/selection/done/done-entry.ts';

const asked = '0001234567-24-000001' as AccessionNumber;
const selection: Selection = {
  service: 'https://archive.example/',
  include: ['ex*', '*.xml'],
  exclude: [],
  layout: '{accession_no}/{file_name}',
  directory: '/data/exhibits',
};

describe('selectionId', () => {
  test('is what a shell computes, and never changes', () => {
    const json = '["https://archive.example/",["*.xml","ex*"],[],"{accession_no}/{file_name}","/data/exhibits"]';
    const sum = execFileSync('sh', ['-c', 'printf %s "$1" | sha256sum | cut -c1-16', 'sh', json], { encoding: 'utf8' });
    expect(selectionId(selection)).toBe(sum.trim());
    expect(selectionId(selection)).toBe('f7b73d2c4338532d');
  });

  test('the order of globs and one typed twice change nothing', () => {
    expect(selectionId({ ...selection, include: ['*.xml', 'ex*', '*.xml'] })).toBe(selectionId(selection));
  });

  test('everything else is another selection', () => {
    const others: Selection[] = [
      selection,
      { ...selection, service: 'https://archive.example/x/' },
      { ...selection, include: ['ex*'] },
      { ...selection, include: ['ex*,*.xml'] },
      { ...selection, include: ['ex*","*.xml'] },
      { ...selection, include: [], exclude: ['ex*', '*.xml'] },
      { ...selection, exclude: ['*.jpg'] },
      { ...selection, layout: '{accession_no}-{file_name}' },
      { ...selection, directory: '/data/exhibits2' },
    ];
    expect(new Set(others.map(selectionId)).size).toBe(others.length);
  });
});

describe('a line of the done list', () => {
  const id = '0123456789abcdef';

  test('says what was done, and when', () => {
    const line = doneLine({ accession: asked, selection: id, time: Date.UTC(2024, 4, 1, 12, 34, 56, 789), files: 12 });
    expect(line).toBe(`${asked}\t${id}\t2024-05-01T12:34:56Z\t12\n`);
  });

  test('is read as it was written', () => {
    fc.assert(
      fc.property(fc.nat(4_000_000_000), fc.nat(1_000_000), (seconds, files) => {
        const entry = { accession: asked, selection: id, time: seconds * 1000, files };
        expect(parseDoneLine(doneLine(entry).slice(0, -1))).toEqual(entry);
      }),
    );
  });

  test.each([
    [`${asked}\t${id}\t2024-05-01T12:34:56.25Z\t1`, Date.UTC(2024, 4, 1, 12, 34, 56, 250)],
    [`${asked}\t${id}\t2024-05-01T14:34:56+02:00\t1`, Date.UTC(2024, 4, 1, 12, 34, 56)],
  ])('%j is read, too', (line, time) => {
    expect(parseDoneLine(line)?.time).toBe(time);
  });

  const whole = `${asked}\t${id}\t2024-05-01T12:34:56Z\t12`;
  test.each([
    '',
    ' ',
    asked,
    whole.replace('\t12', ''),
    `${whole}\t`,
    `${whole}\tmore`,
    ` ${whole}`,
    `${whole}\n`,
    `${asked}${whole}`,
    whole.replace(id, id.toUpperCase()),
    whole.replace(id, id.slice(1)),
    whole.replace('2024-05', '2024-13'),
    whole.replace('Z', ''),
    whole.replaceAll('\t', ' '),
    whole.replace('\t12', '\t-1'),
    whole.replace('0001234567', '000123456'),
    '\0\0\0\0',
  ])('%j is none', (line) => {
    expect(parseDoneLine(line)).toBeUndefined();
  });

  test('whatever is missing of it at its beginning or end, it is none, or the same filing', () => {
    for (let length = 0; length < whole.length - 1; length += 1) {
      expect(parseDoneLine(whole.slice(0, length))).toBeUndefined();
      expect(parseDoneLine(whole.slice(whole.length - length))).toBeUndefined();
    }
    expect(parseDoneLine(whole.slice(0, -1))?.accession).toBe(asked);
  });
});
