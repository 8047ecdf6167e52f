import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CameBack,
  type Decision,
  decide,
  type Held,
  rangeRequest,
  strongValidator,
  type Validator,
} from '../../src/transfer/resume.ts';

const MODIFIED = 'Tue, 01 Apr 2025 10:00:00 GMT';
const ETAG = { kind: 'etag', value: '"v1"' } as const;
const DATED = { kind: 'last-modified', value: MODIFIED } as const;
const HERE = 'https://api.example/v1/download';
const held = (more: Partial<Held> = {}): Held => ({ bytes: 40, validator: ETAG, total: 100, address: HERE, ...more });
const part = (headers: CameBack['headers'] = {}): CameBack => ({
  status: 206,
  address: HERE,
  headers: { etag: '"v1"', 'content-range': 'bytes 40-99/100', 'content-length': '60', ...headers },
});

const whole = (headers: CameBack['headers']): CameBack => ({ status: 200, address: HERE, headers });

describe('strongValidator', () => {
  test.each<[string, CameBack['headers'], ReturnType<typeof strongValidator>]>([
    ['nothing', {}, undefined],
    ['a strong ETag', { etag: '"a b"' }, undefined],
    ['a strong ETag without a blank', { etag: '"a-b"' }, { kind: 'etag', value: '"a-b"' }],
    ['an empty ETag', { etag: '""' }, { kind: 'etag', value: '""' }],
    ['a weak ETag', { etag: 'W/"v1"' }, undefined],
    [
      'a weak ETag does not fall back to the date',
      { etag: 'W/"v1"', 'last-modified': MODIFIED, date: 'Wed, 02 Apr 2025 10:00:00 GMT' },
      undefined,
    ],
    ['an ETag without quotes', { etag: 'v1' }, undefined],
    ['an ETag with a quote inside', { etag: '"a"b"' }, undefined],
    ['two ETags', { etag: ['"a"', '"b"'] }, undefined],
    ['only Last-Modified', { 'last-modified': MODIFIED }, undefined],
    ['Last-Modified dated the same second', { 'last-modified': MODIFIED, date: MODIFIED }, undefined],
    ['Last-Modified a second before', { 'last-modified': MODIFIED, date: 'Tue, 01 Apr 2025 10:00:01 GMT' }, DATED],
    [
      'Last-Modified of asctime, which is UTC, dated the same second',
      { 'last-modified': 'Tue Apr  1 10:00:00 2025', date: MODIFIED },
      undefined,
    ],
    ['Last-Modified in the future', { 'last-modified': MODIFIED, date: 'Tue, 01 Apr 2025 09:00:00 GMT' }, undefined],
    ['Last-Modified that is no date', { 'last-modified': 'yesterday', date: MODIFIED }, undefined],
    ['Date that is no date', { 'last-modified': MODIFIED, date: 'today' }, undefined],
  ])('%s', (_, headers, expected) => {
    expect(strongValidator(headers)).toEqual(expected);
  });
});

describe('rangeRequest', () => {
  test.each<[string, Held, Record<string, string>]>([
    ['nothing held', held({ bytes: 0 }), {}],
    ['no validator', held({ validator: undefined }), {}],
    ['an ETag', held(), { range: 'bytes=40-', 'if-range': '"v1"' }],
    ['a date', held({ validator: DATED }), { range: 'bytes=40-', 'if-range': MODIFIED }],
    ['all held', held({ bytes: 100 }), { range: 'bytes=100-', 'if-range': '"v1"' }],
  ])('%s', (_, what, expected) => {
    expect(rangeRequest(what)).toEqual(expected);
  });
});

describe('decide', () => {
  test.each<[string, Held, CameBack, Decision['kind']]>([
    ['the whole, nothing held', held({ bytes: 0 }), { status: 200, address: HERE, headers: {} }, 'restart'],
    ['range ignored', held(), { status: 200, address: HERE, headers: { etag: '"v1"' } }, 'restart'],
    ['changed, answered whole', held(), { status: 200, address: HERE, headers: { etag: '"v2"' } }, 'restart'],
    ['200 that names a range', held({ bytes: 0 }), whole({ 'content-range': 'bytes 0-99/100' }), 'refuse'],
    ['200 that names two', held(), whole({ 'content-range': ['bytes 0-9/100', 'bytes 0-9/100'] }), 'refuse'],
    ['200 of another length, same ETag', held(), whole({ etag: '"v1"', 'content-length': '90' }), 'refuse'],
    ['before a byte of it came', held({ bytes: 0 }), whole({ etag: '"v1"', 'content-length': '90' }), 'refuse'],
    ['200 of another length, another ETag', held(), whole({ etag: '"v2"', 'content-length': '90' }), 'restart'],
    ['200 of another length, no ETag', held(), whole({ 'content-length': '90' }), 'restart'],
    [
      '200 of another length, same date',
      held({ validator: DATED }),
      whole({ 'last-modified': MODIFIED, 'content-length': '90' }),
      'restart',
    ],
    [
      '200 of another length, same ETag of another address',
      held(),
      { ...whole({ etag: '"v1"', 'content-length': '90' }), address: `${HERE}/v2` },
      'restart',
    ],
    ['200 of the same length, same ETag', held(), whole({ etag: '"v1"', 'content-length': '100' }), 'restart'],
    ['200 whose length was not known', held({ total: undefined }), whole({ 'content-length': '90' }), 'restart'],
    ['a 206 from another address', held(), { ...part(), address: `${HERE}/v2` }, 'ask-anew'],
    ['an exact 206', held(), part(), 'append'],
    ['an exact 206, total not known before', held({ total: undefined }), part(), 'append'],
    ['a chunked 206', held(), part({ 'content-length': undefined }), 'append'],
    [
      'an exact 206 by date',
      held({ validator: DATED }),
      part({ etag: undefined, 'last-modified': MODIFIED }),
      'append',
    ],
    [
      'by date, changed',
      held({ validator: DATED }),
      part({ etag: undefined, 'last-modified': 'Tue, 01 Apr 2025 10:00:01 GMT' }),
      'ask-anew',
    ],
    ['by date, none came', held({ validator: DATED }), part({ etag: undefined }), 'ask-anew'],
    ['206 without an ETag', held(), part({ etag: undefined }), 'ask-anew'],
    ['206 with a weak ETag', held(), part({ etag: 'W/"v1"' }), 'ask-anew'],
    ['206 with a changed ETag', held(), part({ etag: '"v2"' }), 'ask-anew'],
    ['206 with two ETags', held(), part({ etag: ['"v1"', '"v1"'] }), 'ask-anew'],
    ['206 that starts early', held(), part({ 'content-range': 'bytes 39-99/100', 'content-length': '61' }), 'ask-anew'],
    ['206 that starts late', held(), part({ 'content-range': 'bytes 41-99/100', 'content-length': '59' }), 'ask-anew'],
    ['206 from the start', held(), part({ 'content-range': 'bytes 0-99/100', 'content-length': '100' }), 'ask-anew'],
    [
      '206 with another total',
      held(),
      part({ 'content-range': 'bytes 40-109/110', 'content-length': '70' }),
      'ask-anew',
    ],
    ['206 that is short', held(), part({ 'content-range': 'bytes 40-79/100', 'content-length': '40' }), 'ask-anew'],
    [
      'a chunked 206 that is short',
      held(),
      part({ 'content-range': 'bytes 40-79/100', 'content-length': undefined }),
      'ask-anew',
    ],
    ['206 beyond its total', held(), part({ 'content-range': 'bytes 40-100/100', 'content-length': '61' }), 'ask-anew'],
    ['206 whose length is short of its range', held(), part({ 'content-length': '59' }), 'ask-anew'],
    ['206 of unknown total', held(), part({ 'content-range': 'bytes 40-99/*' }), 'ask-anew'],
    ['206 without a range', held(), part({ 'content-range': undefined }), 'ask-anew'],
    [
      '206 of many parts',
      held(),
      part({ 'content-range': undefined, 'content-type': 'multipart/byteranges; boundary=x' }),
      'ask-anew',
    ],
    ['206 with two ranges', held(), part({ 'content-range': ['bytes 40-99/100', 'bytes 40-99/100'] }), 'ask-anew'],
    ['206 in another unit', held(), part({ 'content-range': 'lines 40-99/100' }), 'ask-anew'],
    ['206 unasked', held({ bytes: 0 }), part(), 'refuse'],
    [
      '206 of an empty range, all held',
      held({ bytes: 100 }),
      part({ 'content-range': 'bytes 100-99/100', 'content-length': '0' }),
      'ask-anew',
    ],
    ['206 of an empty range', held(), part({ 'content-range': 'bytes 40-39/40', 'content-length': '0' }), 'ask-anew'],
    ['206 unasked, no validator', held({ validator: undefined }), part(), 'refuse'],
    [
      '416, all held, same file',
      held({ bytes: 100 }),
      { status: 416, address: HERE, headers: { etag: '"v1"', 'content-range': 'bytes */100' } },
      'complete',
    ],
    [
      '416, all held, total not known before',
      held({ bytes: 100, total: undefined }),
      { status: 416, address: HERE, headers: { etag: '"v1"', 'content-range': 'bytes */100' } },
      'complete',
    ],
    [
      '416, all held, no validator came',
      held({ bytes: 100 }),
      { status: 416, address: HERE, headers: { 'content-range': 'bytes */100' } },
      'ask-anew',
    ],
    [
      '416, all held, changed',
      held({ bytes: 100 }),
      { status: 416, address: HERE, headers: { etag: '"v2"', 'content-range': 'bytes */100' } },
      'ask-anew',
    ],
    [
      '416, other total',
      held({ bytes: 100 }),
      { status: 416, address: HERE, headers: { etag: '"v1"', 'content-range': 'bytes */99' } },
      'ask-anew',
    ],
    [
      '416, some missing',
      held(),
      { status: 416, address: HERE, headers: { etag: '"v1"', 'content-range': 'bytes */100' } },
      'ask-anew',
    ],
    [
      '416, held equals its total, but another was told before',
      held({ total: 120 }),
      { status: 416, address: HERE, headers: { etag: '"v1"', 'content-range': 'bytes */40' } },
      'ask-anew',
    ],
    [
      '416 without a range',
      held({ bytes: 100 }),
      { status: 416, address: HERE, headers: { etag: '"v1"' } },
      'ask-anew',
    ],
    ['416 unasked', held({ bytes: 0 }), { status: 416, address: HERE, headers: {} }, 'refuse'],
    ['204', held(), { status: 204, address: HERE, headers: {} }, 'refuse'],
    ['304', held(), { status: 304, address: HERE, headers: { etag: '"v1"' } }, 'refuse'],
  ])('%s', (_, what, came, kind) => {
    expect(decide(what, came).kind).toBe(kind);
  });

  test('an append says the total', () => {
    expect(decide(held({ total: undefined }), part())).toEqual({ kind: 'append', total: 100 });
  });
});

// Answers that are right but for one or two small things; at random nearly none would be joined at all.
describe('near misses', () => {
  const off = fc.constantFrom(-1, 1);
  const near = (miss: boolean, right: number, by: number) => (miss ? right + by : right);
  const misses = (...of: string[]) => fc.oneof(fc.constant([] as string[]), fc.subarray(of, { maxLength: 2 }));
  const validators = fc.constantFrom<Validator>(ETAG, DATED);
  const carrying = ({ kind, value }: Validator, miss: boolean) => ({
    [kind]: miss ? value.replace('1', '2') : value,
  });

  /** Holds the property in enough cases, and says how often each decision was reached. */
  function decisions<T>(cases: fc.Arbitrary<T>, property: (one: T) => Decision['kind']): Record<string, number> {
    const reached: Record<string, number> = {};
    fc.assert(
      fc.property(cases, (one) => {
        const kind = property(one);
        reached[kind] = (reached[kind] ?? 0) + 1;
      }),
      { numRuns: 1000 },
    );
    return reached;
  }

  test('a part is joined only at the offset, up to the total, under the same validator', () => {
    const cases = fc.record({
      bytes: fc.integer({ min: 2, max: 100 }),
      rest: fc.integer({ min: 3, max: 100 }),
      validator: validators,
      by: off,
      miss: misses('start', 'last', 'total', 'known', 'length', 'validator', 'address'),
      unknown: fc.subarray(['known', 'length']),
    });
    const reached = decisions(cases, ({ bytes, rest, validator, by, miss, unknown }) => {
      const missed = (what: string) => miss.includes(what);
      const start = near(missed('start'), bytes, by);
      const total = near(missed('total'), bytes + rest, by);
      const last = near(missed('last'), bytes + rest - 1, by);
      const known = unknown.includes('known') ? undefined : near(missed('known'), bytes + rest, by);
      const length = unknown.includes('length') ? undefined : near(missed('length'), last - start + 1, by);
      const decision = decide(
        { bytes, validator, total: known, address: HERE },
        {
          status: 206,
          address: missed('address') ? `${HERE}/v2` : HERE,
          headers: {
            ...carrying(validator, missed('validator')),
            'content-range': `bytes ${start}-${last}/${total}`,
            ...(length === undefined ? {} : { 'content-length': String(length) }),
          },
        },
      );
      const exact =
        !missed('validator') &&
        !missed('address') &&
        start === bytes &&
        last === total - 1 &&
        (known ?? total) === total &&
        (length ?? total - start) === total - start;
      expect(decision).toEqual(exact ? { kind: 'append', total } : { kind: 'ask-anew', why: expect.any(String) });
      return decision.kind;
    });
    expect(reached).toEqual({ append: expect.any(Number), 'ask-anew': expect.any(Number) });
    expect(Math.min(...Object.values(reached))).toBeGreaterThan(100);
  });
});

// A list is how a field comes that was sent more than once; of one, too, nothing may be made by accident.
describe('fields in lists, and with something around them', () => {
  const LATER = 'Wed, 02 Apr 2025 10:00:00 GMT';
  test.each<[string, CameBack['headers']]>([
    ['an ETag', { etag: ['"a"'] }],
    ['Last-Modified', { 'last-modified': [MODIFIED], date: LATER }],
    ['Date', { 'last-modified': MODIFIED, date: [LATER] }],
    ['Date alone', { date: LATER }],
  ])('%s: no validator', (_, headers) => {
    expect(strongValidator(headers)).toBeUndefined();
  });

  test.each<[number, string | string[]]>([
    [206, ['bytes 40-99/100']],
    [206, 'xbytes 40-99/100'],
    [206, 'x bytes 40-99/100'],
    [206, 'bytes 40-99/100x'],
    [206, 'bytes 40-99/100, bytes 40-99/100'],
    [206, 'bytes 40-99/1000000000000000'],
    [416, ['bytes */40']],
    [416, 'xbytes */40'],
    [416, 'bytes */40x'],
    [416, 'bytes 0-39/40'],
  ])('a %i with Content-Range %j is not exact', (status, range) => {
    const headers = { etag: '"v1"', 'content-range': range };
    expect(decide(held({ total: undefined }), { status, headers, address: HERE }).kind).toBe('ask-anew');
  });

  test.each<[string | string[], Decision['kind']]>([
    ['60', 'append'],
    ['61', 'ask-anew'],
    ['', 'ask-anew'],
    ['sixty', 'ask-anew'],
  ])('a 206 of length %j: %s', (length, kind) => {
    expect(decide(held(), part({ 'content-length': length })).kind).toBe(kind);
  });
});
