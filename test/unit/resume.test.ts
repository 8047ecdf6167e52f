import { expect, test } from 'vitest';
import {
  type Decision,
  decide,
  type PartialFile,
  type ResumeResponse,
  rangeRequest,
  strongValidator,
} from '../../src/transfer/resume.ts';

const MODIFIED = 'Tue, 01 Apr 2025 10:00:00 GMT';
const LATER = 'Wed, 02 Apr 2025 10:00:00 GMT';
const ETAG = { kind: 'etag', value: '"v1"' } as const;
const DATED = { kind: 'last-modified', value: MODIFIED } as const;
const HERE = 'https://api.example/v1/download';

type Headers = ResumeResponse['headers'];
const part = (more: Partial<PartialFile> = {}): PartialFile => ({
  bytes: 40,
  validator: ETAG,
  total: 100,
  address: HERE,
  ...more,
});
const whole = (headers: Headers): ResumeResponse => ({ status: 200, address: HERE, headers });
const rest = (headers: Headers = {}): ResumeResponse => ({
  status: 206,
  address: HERE,
  headers: { etag: '"v1"', 'content-range': 'bytes 40-99/100', 'content-length': '60', ...headers },
});
const unsatisfied = (headers: Headers = {}): ResumeResponse => ({
  status: 416,
  address: HERE,
  headers: { etag: '"v1"', 'content-range': 'bytes */100', ...headers },
});

test.each<[string, Headers, ReturnType<typeof strongValidator>]>([
  ['no field', {}, undefined],
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
  ['a Last-Modified of the same second', { 'last-modified': MODIFIED, date: MODIFIED }, undefined],
  ['a Last-Modified a second before', { 'last-modified': MODIFIED, date: 'Tue, 01 Apr 2025 10:00:01 GMT' }, DATED],
  ['a Last-Modified of asctime', { 'last-modified': 'Tue Apr  1 10:00:00 2025', date: MODIFIED }, undefined],
  ['a Last-Modified in the future', { 'last-modified': LATER, date: MODIFIED }, undefined],
  ['a Last-Modified that is not a date', { 'last-modified': 'yesterday', date: MODIFIED }, undefined],
  ['a Date that is not a date', { 'last-modified': MODIFIED, date: 'today' }, undefined],
  ['a list of one Last-Modified', { 'last-modified': [MODIFIED], date: LATER }, undefined],
  ['a list of one Date', { 'last-modified': MODIFIED, date: [LATER] }, undefined],
])('recognizes a strong validator: %s', (_, headers, expected) => {
  expect(strongValidator(headers)).toEqual(expected);
});

test.each<[string, PartialFile, Record<string, string>]>([
  ['an empty part', part({ bytes: 0 }), {}],
  ['a part without a validator', part({ validator: undefined }), {}],
  ['a part with an ETag', part(), { range: 'bytes=40-', 'if-range': '"v1"' }],
  ['a part with a date', part({ validator: DATED }), { range: 'bytes=40-', 'if-range': MODIFIED }],
  ['a complete part', part({ bytes: 100 }), { range: 'bytes=100-', 'if-range': '"v1"' }],
])('requests the range after the part if the version can be checked: %s', (_, file, expected) => {
  expect(rangeRequest(file)).toEqual(expected);
});

const BY_DATE = part({ validator: DATED });
const ALL = part({ bytes: 100 });
const SHORTER = { etag: '"v1"', 'content-length': '90' };

test.each<[string, PartialFile, ResumeResponse, Decision['kind']]>([
  ['a 200 without a part', part({ bytes: 0 }), whole({}), 'restart'],
  ['a 200 instead of the range, same ETag', part(), whole({ etag: '"v1"' }), 'restart'],
  ['a 200, other ETag', part(), whole({ etag: '"v2"' }), 'restart'],
  ['a 200 with Content-Range', part({ bytes: 0 }), whole({ 'content-range': 'bytes 0-99/100' }), 'refuse'],
  ['a 200 with two Content-Ranges', part(), whole({ 'content-range': ['bytes 0-9/100', 'bytes 0-9/100'] }), 'refuse'],
  ['a 200 of another length, same ETag', part(), whole(SHORTER), 'refuse'],
  ['a 200 of another length, same ETag, before the first byte', part({ bytes: 0 }), whole(SHORTER), 'refuse'],
  ['a 200 of another length, other ETag', part(), whole({ ...SHORTER, etag: '"v2"' }), 'restart'],
  ['a 200 of another length, no ETag', part(), whole({ 'content-length': '90' }), 'restart'],
  ['a shorter 200, same date', BY_DATE, whole({ 'last-modified': MODIFIED, 'content-length': '90' }), 'restart'],
  ['a 200 of another length from another address', part(), { ...whole(SHORTER), address: `${HERE}/v2` }, 'restart'],
  ['a 200 of the same length, same ETag', part(), whole({ etag: '"v1"', 'content-length': '100' }), 'restart'],
  ['a 200 for a part of unknown total', part({ total: undefined }), whole(SHORTER), 'restart'],
  ['a 200 for a part without a validator', part({ validator: undefined }), whole(SHORTER), 'restart'],
  ['an exact 206', part(), rest(), 'append'],
  ['an exact 206 for a part of unknown total', part({ total: undefined }), rest(), 'append'],
  ['a chunked 206', part(), rest({ 'content-length': undefined }), 'append'],
  ['a 206 from another address', part(), { ...rest(), address: `${HERE}/v2` }, 'retry-whole'],
  ['a 206, same date', BY_DATE, rest({ etag: undefined, 'last-modified': MODIFIED }), 'append'],
  ['a 206, other date', BY_DATE, rest({ etag: undefined, 'last-modified': LATER }), 'retry-whole'],
  ['a 206 for a date, no date', BY_DATE, rest({ etag: undefined }), 'retry-whole'],
  ['a 206 for a part without a validator', part({ validator: undefined }), rest(), 'retry-whole'],
  ['a 206, no ETag', part(), rest({ etag: undefined }), 'retry-whole'],
  ['a 206, weak ETag', part(), rest({ etag: 'W/"v1"' }), 'retry-whole'],
  ['a 206, other ETag', part(), rest({ etag: '"v2"' }), 'retry-whole'],
  ['a 206, two ETags', part(), rest({ etag: ['"v1"', '"v1"'] }), 'retry-whole'],
  [
    'a 206 of another total',
    part(),
    rest({ 'content-range': 'bytes 40-119/120', 'content-length': '80' }),
    'retry-whole',
  ],
  [
    'a 206 that starts late',
    part(),
    rest({ 'content-range': 'bytes 41-99/100', 'content-length': '59' }),
    'retry-whole',
  ],
  [
    'a 206 that ends early',
    part(),
    rest({ 'content-range': 'bytes 40-98/100', 'content-length': '60' }),
    'retry-whole',
  ],
  ['a 206 from the start', part(), rest({ 'content-range': 'bytes 0-99/100', 'content-length': '100' }), 'retry-whole'],
  [
    'a 206 beyond its total',
    part(),
    rest({ 'content-range': 'bytes 40-100/100', 'content-length': '61' }),
    'retry-whole',
  ],
  ['a 206 of an empty range', ALL, rest({ 'content-range': 'bytes 100-99/100', 'content-length': '0' }), 'retry-whole'],
  ['a 416 for a complete part, same ETag', ALL, unsatisfied(), 'complete'],
  ['a 416 for a complete part of unknown total', part({ bytes: 100, total: undefined }), unsatisfied(), 'complete'],
  ['a 416 for a complete part, no validator', ALL, unsatisfied({ etag: undefined }), 'retry-whole'],
  ['a 416 for a complete part, other ETag', ALL, unsatisfied({ etag: '"v2"' }), 'retry-whole'],
  ['a 416 with another total', ALL, unsatisfied({ 'content-range': 'bytes */99' }), 'retry-whole'],
  ['a 416 for an incomplete part', part(), unsatisfied(), 'retry-whole'],
  ['a 416 with a smaller total', part({ total: 120 }), unsatisfied({ 'content-range': 'bytes */40' }), 'retry-whole'],
  ['a 416 without a range', ALL, unsatisfied({ 'content-range': undefined }), 'retry-whole'],
])('decides the next step from the response: %s', (_, file, response, kind) => {
  expect(decide(file, response).kind).toBe(kind);
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
])('requests the file again after a %i with Content-Range %j, which is not exact', (status, range) => {
  const headers = { etag: '"v1"', 'content-range': range };
  expect(decide(part({ total: undefined }), { status, headers, address: HERE })).toEqual({ kind: 'retry-whole' });
});

test.each<[string, Decision]>([
  ['60', { kind: 'append', total: 100 }],
  ['61', { kind: 'retry-whole' }],
  ['', { kind: 'retry-whole' }],
  ['sixty', { kind: 'retry-whole' }],
])('a 206 with Content-Length %j gives %j', (length, decision) => {
  expect(decide(part(), rest({ 'content-length': length }))).toEqual(decision);
});
