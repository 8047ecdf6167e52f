import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  flushedLine,
  parseRecord,
  type ResumeRecord,
  recordLine,
} from '../../src/transfer/sinks/part/resume-record.ts';

const IDENTITY = { base_url: 'https://h.example/', accession_no: '0001234567-24-000001', file_name: 'primary.htm' };
const RECORD: ResumeRecord = {
  v: 1,
  ...IDENTITY,
  validator: { kind: 'etag', value: '"v1"' },
  total: 2_000_000,
  address: 'https://files.example/a',
};
const DATED = { kind: 'last-modified', value: 'Tue, 01 Apr 2025 10:00:00 GMT' } as const;
const LINE = recordLine(RECORD) ?? '';
const json = (changes: object) => `${JSON.stringify({ ...JSON.parse(LINE), ...changes })}\n`;

describe('a record', () => {
  test.each<[string, ResumeRecord]>([
    ['with an ETag', RECORD],
    ['with a date', { ...RECORD, validator: DATED }],
    ['of unknown length', { ...RECORD, total: null }],
    ['with an ETag beyond ASCII', { ...RECORD, validator: { kind: 'etag', value: '"\xe9\xff\\"' } }],
  ])('%s is read back', (_, record) => {
    expect(parseRecord(recordLine(record) ?? '', IDENTITY)).toEqual({ record, flushed: 0 });
  });

  test('tells how far it is flushed; a torn line behind is passed over', () => {
    const text = LINE + flushedLine(5) + flushedLine(1_000_000);
    for (const torn of ['', '{"flu', '{"flushed":1500000}', '\0\0\0\0'])
      expect(parseRecord(text + torn, IDENTITY)).toEqual({ record: RECORD, flushed: 1_000_000 });
  });

  test('whatever is flushed, in whatever order, the most counts', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2_000_000)), (numbers) => {
        const text = LINE + numbers.map(flushedLine).join('');
        expect(parseRecord(text, IDENTITY)?.flushed).toBe(Math.max(0, ...numbers));
      }),
    );
  });

  test.each<[string, string]>([
    ['empty', ''],
    ['torn in its first line', LINE.slice(0, -1)],
    ['null', 'null\n'],
    ['a list', '[]\n'],
    ['binary', '\0\0\0\0\n'],
    ['of another version', json({ v: 2 })],
    ['with one member more', json({ more: 1 })],
    ['with a member twice', LINE.replace('{"v":1', '{"v":1,"v":1')],
    ['with white space', LINE.replace(':', ': ')],
    ['without a total', json({ total: undefined })],
    ['with a total that is text', json({ total: '5' })],
    ['with a negative total', json({ total: -1 })],
    ['with a total that is no whole number', json({ total: 1.5 })],
    ['with a total beyond all numbers', LINE.replace('2000000', '9007199254740993')],
    ['with a total of 1e400', LINE.replace('2000000', '1e400')],
    ['of another service', json({ base_url: 'https://elsewhere.example/' })],
    ['of another filing', json({ accession_no: '0001234567-24-000009' })],
    ['of another file', json({ file_name: 'secondary.htm' })],
    ['with a validator of another kind', json({ validator: { kind: 'md5', value: '"v1"' } })],
    ['with a validator that is no text', json({ validator: { kind: 'etag', value: 5 } })],
    ['with one member more in the validator', json({ validator: { kind: 'etag', value: '"v1"', weak: true } })],
    ['without a validator', json({ validator: null })],
    ['with a weak ETag', json({ validator: { kind: 'etag', value: 'W/"v1"' } })],
    ['with an ETag that breaks the line', json({ validator: { kind: 'etag', value: '"v1"\r\nX-Evil: 1' } })],
    ['with an ETag with a line break inside', json({ validator: { kind: 'etag', value: '"v\n1"' } })],
    ['with a date that is none', json({ validator: { ...DATED, value: 'yesterday' } })],
    ['with a date that breaks the line', json({ validator: { ...DATED, value: `${DATED.value}(\r\nX-Evil: 1)` } })],
    ['with an ETag of 20 kB', json({ validator: { kind: 'etag', value: `"${'x'.repeat(20_000)}"` } })],
    ['flushed beyond the total', LINE + flushedLine(2_000_001)],
    ['flushed to less than nothing', `${LINE}{"flushed":-1}\n`],
    ['flushed to half a byte', `${LINE}{"flushed":1.5}\n`],
    ['flushed to no number', `${LINE}{"flushed":null}\n`],
    ['with a line of another kind', `${LINE}{"flushed":5,"by":"me"}\n`],
    ['with an empty line', `${LINE}\n`],
  ])('%s is none', (_, text) => {
    expect(parseRecord(text, IDENTITY)).toBeUndefined();
  });

  test.each<[string, Partial<ResumeRecord>]>([
    ['a line break in the ETag', { validator: { kind: 'etag', value: '"v1\n"' } }],
    ['a huge ETag', { validator: { kind: 'etag', value: `"${'x'.repeat(20_000)}"` } }],
    ['no whole number', { total: 0.5 }],
  ])('what could not be read back is not written: %s', (_, changes) => {
    expect(recordLine({ ...RECORD, ...changes })).toBeUndefined();
  });
});
