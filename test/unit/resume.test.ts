import fc from 'fast-check';
import { expect, test } from 'vitest';
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
const LATER = 'Wed, 02 Apr 2025 10:00:00 GMT';
const ETAG = { kind: 'etag', value: '"v1"' } as const;
const DATED = { kind: 'last-modified', value: MODIFIED } as const;
const HERE = 'https://api.example/v1/download';

type Headers = CameBack['headers'];
const held = (more: Partial<Held> = {}): Held => ({ bytes: 40, validator: ETAG, total: 100, address: HERE, ...more });
const whole = (headers: Headers): CameBack => ({ status: 200, address: HERE, headers });
const part = (headers: Headers = {}): CameBack => ({
  status: 206,
  address: HERE,
  headers: { etag: '"v1"', 'content-range': 'bytes 40-99/100', 'content-length': '60', ...headers },
});
const unsatisfied = (headers: Headers = {}): CameBack => ({
  status: 416,
  address: HERE,
  headers: { etag: '"v1"', 'content-range': 'bytes */100', ...headers },
});

test.each<[string, Headers, ReturnType<typeof strongValidator>]>([
  ['nothing', {}, undefined],
  ['an ETag with a blank', { etag: '"a b"' }, undefined],
  ['an ETag', { etag: '"a-b"' }, { kind: 'etag', value: '"a-b"' }],
  ['an empty ETag', { etag: '""' }, { kind: 'etag', value: '""' }],
  ['a weak ETag, whatever the date', { etag: 'W/"v1"', 'last-modified': MODIFIED, date: LATER }, undefined],
  ['an ETag without quotes', { etag: 'v1' }, undefined],
  ['an ETag with a quote inside', { etag: '"a"b"' }, undefined],
  ['two ETags', { etag: ['"a"', '"b"'] }, undefined],
  ['a list of one ETag', { etag: ['"a"'] }, undefined],
  ['only Last-Modified', { 'last-modified': MODIFIED }, undefined],
  ['only Date', { date: LATER }, undefined],
  ['Last-Modified dated the same second', { 'last-modified': MODIFIED, date: MODIFIED }, undefined],
  ['Last-Modified a second before', { 'last-modified': MODIFIED, date: 'Tue, 01 Apr 2025 10:00:01 GMT' }, DATED],
  ['of asctime, which is UTC', { 'last-modified': 'Tue Apr  1 10:00:00 2025', date: MODIFIED }, undefined],
  ['Last-Modified in the future', { 'last-modified': LATER, date: MODIFIED }, undefined],
  ['Last-Modified that is no date', { 'last-modified': 'yesterday', date: MODIFIED }, undefined],
  ['Date that is no date', { 'last-modified': MODIFIED, date: 'today' }, undefined],
  ['a list of one Last-Modified', { 'last-modified': [MODIFIED], date: LATER }, undefined],
  ['a list of one Date', { 'last-modified': MODIFIED, date: [LATER] }, undefined],
])('the strong validator: %s', (_, headers, expected) => {
  expect(strongValidator(headers)).toEqual(expected);
});

test.each<[string, Held, Record<string, string>]>([
  ['nothing held', held({ bytes: 0 }), {}],
  ['no validator', held({ validator: undefined }), {}],
  ['an ETag', held(), { range: 'bytes=40-', 'if-range': '"v1"' }],
  ['a date', held({ validator: DATED }), { range: 'bytes=40-', 'if-range': MODIFIED }],
  ['all held', held({ bytes: 100 }), { range: 'bytes=100-', 'if-range': '"v1"' }],
])('the range that is asked for: %s', (_, what, expected) => {
  expect(rangeRequest(what)).toEqual(expected);
});

const BY_DATE = held({ validator: DATED });
const ALL = held({ bytes: 100 });
const SHORTER = { etag: '"v1"', 'content-length': '90' };

test.each<[string, Held, CameBack, Decision['kind']]>([
  ['the whole, nothing held', held({ bytes: 0 }), whole({}), 'restart'],
  ['range ignored', held(), whole({ etag: '"v1"' }), 'restart'],
  ['changed, answered whole', held(), whole({ etag: '"v2"' }), 'restart'],
  ['200 that names a range', held({ bytes: 0 }), whole({ 'content-range': 'bytes 0-99/100' }), 'refuse'],
  ['200 that names two', held(), whole({ 'content-range': ['bytes 0-9/100', 'bytes 0-9/100'] }), 'refuse'],
  ['200 of another length, same ETag', held(), whole(SHORTER), 'refuse'],
  ['before a byte of it came', held({ bytes: 0 }), whole(SHORTER), 'refuse'],
  ['200 of another length, another ETag', held(), whole({ ...SHORTER, etag: '"v2"' }), 'restart'],
  ['200 of another length, no ETag', held(), whole({ 'content-length': '90' }), 'restart'],
  ['200, shorter, same date', BY_DATE, whole({ 'last-modified': MODIFIED, 'content-length': '90' }), 'restart'],
  ['200 of another length, another address', held(), { ...whole(SHORTER), address: `${HERE}/v2` }, 'restart'],
  ['200 of the same length, same ETag', held(), whole({ etag: '"v1"', 'content-length': '100' }), 'restart'],
  ['200 whose length was not known', held({ total: undefined }), whole(SHORTER), 'restart'],
  ['200, no validator held', held({ validator: undefined }), whole(SHORTER), 'restart'],
  ['an exact 206', held(), part(), 'append'],
  ['an exact 206, total not known before', held({ total: undefined }), part(), 'append'],
  ['a chunked 206', held(), part({ 'content-length': undefined }), 'append'],
  ['a 206 from another address', held(), { ...part(), address: `${HERE}/v2` }, 'ask-anew'],
  ['by date', BY_DATE, part({ etag: undefined, 'last-modified': MODIFIED }), 'append'],
  ['by date, changed', BY_DATE, part({ etag: undefined, 'last-modified': LATER }), 'ask-anew'],
  ['by date, none came', BY_DATE, part({ etag: undefined }), 'ask-anew'],
  ['without a validator', held({ validator: undefined }), part(), 'ask-anew'],
  ['206 without an ETag', held(), part({ etag: undefined }), 'ask-anew'],
  ['206 with a weak ETag', held(), part({ etag: 'W/"v1"' }), 'ask-anew'],
  ['206 with a changed ETag', held(), part({ etag: '"v2"' }), 'ask-anew'],
  ['206 with two ETags', held(), part({ etag: ['"v1"', '"v1"'] }), 'ask-anew'],
  ['206 from the start', held(), part({ 'content-range': 'bytes 0-99/100', 'content-length': '100' }), 'ask-anew'],
  ['206 beyond its total', held(), part({ 'content-range': 'bytes 40-100/100', 'content-length': '61' }), 'ask-anew'],
  ['206 of an empty range', ALL, part({ 'content-range': 'bytes 100-99/100', 'content-length': '0' }), 'ask-anew'],
  ['416, all held, same file', ALL, unsatisfied(), 'complete'],
  ['416, all held, total not known before', held({ bytes: 100, total: undefined }), unsatisfied(), 'complete'],
  ['416, all held, no validator came', ALL, unsatisfied({ etag: undefined }), 'ask-anew'],
  ['416, all held, changed', ALL, unsatisfied({ etag: '"v2"' }), 'ask-anew'],
  ['416, other total', ALL, unsatisfied({ 'content-range': 'bytes */99' }), 'ask-anew'],
  ['416, some missing', held(), unsatisfied(), 'ask-anew'],
  ['416, another total before', held({ total: 120 }), unsatisfied({ 'content-range': 'bytes */40' }), 'ask-anew'],
  ['416 without a range', ALL, unsatisfied({ 'content-range': undefined }), 'ask-anew'],
])('%s', (_, what, came, kind) => {
  expect(decide(what, came).kind).toBe(kind);
});

test.each<[number, string | string[] | undefined]>([
  [206, undefined],
  [206, 'lines 40-99/100'],
  [206, 'bytes 40-99/*'],
  [206, ['bytes 40-99/100']],
  [206, ['bytes 40-99/100', 'bytes 40-99/100']],
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
  expect(decide(held({ total: undefined }), { status, headers, address: HERE })).toEqual({ kind: 'ask-anew' });
});

test.each<[string, Decision]>([
  ['60', { kind: 'append', total: 100 }],
  ['61', { kind: 'ask-anew' }],
  ['', { kind: 'ask-anew' }],
  ['sixty', { kind: 'ask-anew' }],
])('a 206 of length %j', (length, decision) => {
  expect(decide(held(), part({ 'content-length': length }))).toEqual(decision);
});

// Answers that are right but for one or two small things; at random nearly none would be joined at all.
test('a part is joined only at the offset, up to the total, under the same validator', () => {
  const near = (miss: boolean, right: number, by: number) => (miss ? right + by : right);
  const misses = ['start', 'last', 'total', 'known', 'length', 'validator', 'address'];
  const cases = fc.record({
    bytes: fc.integer({ min: 2, max: 100 }),
    rest: fc.integer({ min: 3, max: 100 }),
    validator: fc.constantFrom<Validator>(ETAG, DATED),
    by: fc.constantFrom(-1, 1),
    miss: fc.oneof(fc.constant([] as string[]), fc.subarray(misses, { maxLength: 2 })),
    unknown: fc.subarray(['known', 'length']),
  });
  const reached = { append: 0, 'ask-anew': 0 };
  const property = fc.property(cases, ({ bytes, rest, validator, by, miss, unknown }) => {
    const missed = (what: string) => miss.includes(what);
    const start = near(missed('start'), bytes, by);
    const total = near(missed('total'), bytes + rest, by);
    const last = near(missed('last'), bytes + rest - 1, by);
    const known = unknown.includes('known') ? undefined : near(missed('known'), bytes + rest, by);
    const length = unknown.includes('length') ? undefined : near(missed('length'), last - start + 1, by);
    const headers = {
      [validator.kind]: missed('validator') ? validator.value.replace('1', '2') : validator.value,
      'content-range': `bytes ${start}-${last}/${total}`,
      'content-length': length?.toString(),
    };
    const came = { status: 206, address: missed('address') ? `${HERE}/v2` : HERE, headers };
    const exact =
      !missed('validator') &&
      !missed('address') &&
      start === bytes &&
      last === total - 1 &&
      (known ?? total) === total &&
      (length ?? total - start) === total - start;
    const decision = exact ? ({ kind: 'append', total } as const) : ({ kind: 'ask-anew' } as const);
    expect(decide({ bytes, validator, total: known, address: HERE }, came)).toEqual(decision);
    reached[decision.kind] += 1;
  });
  fc.assert(property, { numRuns: 1000 });
  expect(Math.min(...Object.values(reached))).toBeGreaterThan(100);
});
