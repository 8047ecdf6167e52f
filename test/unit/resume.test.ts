import { expect, test } from 'vitest';
import { Secrets } from '../../src/secrets.ts';
import {
  decideResume,
  findStrongValidator,
  makeRangeHeaders,
  type PartialFile,
  type ResumeResponse,
} from '../../src/transfer/resume.ts';

const MODIFIED = 'Tue, 01 Apr 2025 10:00:00 GMT';
const LATER = 'Wed, 02 Apr 2025 10:00:00 GMT';
const ETAG = { kind: 'etag', value: '"v1"' } as const;
const DATED = { kind: 'last-modified', value: MODIFIED } as const;
const HERE = 'https://api.example/v1/download';

type Headers = ResumeResponse['headers'];
const part = (more: Partial<PartialFile> = {}) => ({ bytes: 40, validator: ETAG, total: 100, address: HERE, ...more });
const respond = (status: number, headers: Headers): ResumeResponse => {
  const length = headers['content-length'];
  return { status, address: HERE, headers, contentLength: length === undefined ? undefined : Number(length) };
};
const whole = (headers: Headers) => respond(200, headers);
/** A 206 with a range such as `40-99/100`, and the length of that range. */
const rest = (range: string, length: string | undefined, headers: Headers = {}) =>
  respond(206, { etag: '"v1"', 'content-range': `bytes ${range}`, 'content-length': length, ...headers });
const exact = (headers: Headers = {}) => rest('40-99/100', '60', headers);
const unsatisfied = (range?: string, etag = '"v1"') =>
  respond(416, { etag: etag || undefined, 'content-range': range });

const ETAG_AB = { kind: 'etag', value: '"a-b"' };
const NO_ETAG = { kind: 'etag', value: '""' };
const SECOND_LATER = 'Tue, 01 Apr 2025 10:00:01 GMT';
test.each`
  fields                                  | headers                                                            | validator
  ${'no field'}                           | ${{}}                                                              | ${undefined}
  ${'an ETag'}                            | ${{ etag: '"a-b"' }}                                               | ${ETAG_AB}
  ${'an empty ETag'}                      | ${{ etag: '""' }}                                                  | ${NO_ETAG}
  ${'an ETag with a blank'}               | ${{ etag: '"a b"' }}                                               | ${undefined}
  ${'a weak ETag, whatever the date'}     | ${{ etag: 'W/"v1"', 'last-modified': MODIFIED, date: LATER }}      | ${undefined}
  ${'an ETag without quotes'}             | ${{ etag: 'v1' }}                                                  | ${undefined}
  ${'such an ETag next to a date'}        | ${{ etag: 'v1', 'last-modified': MODIFIED, date: LATER }}          | ${DATED}
  ${'an empty one next to a date'}        | ${{ etag: '', 'last-modified': MODIFIED, date: LATER }}            | ${DATED}
  ${'one with a blank next to a date'}    | ${{ etag: '"a b"', 'last-modified': MODIFIED, date: LATER }}       | ${DATED}
  ${'a small w next to a date'}           | ${{ etag: 'w/"v1"', 'last-modified': MODIFIED, date: LATER }}      | ${undefined}
  ${'two ETags next to a date'}           | ${{ etag: ['a', 'b'], 'last-modified': MODIFIED, date: LATER }}    | ${undefined}
  ${'an ETag with a quote inside'}        | ${{ etag: '"a"b"' }}                                               | ${undefined}
  ${'two ETags'}                          | ${{ etag: ['"a"', '"b"'] }}                                        | ${undefined}
  ${'a list of one ETag'}                 | ${{ etag: ['"a"'] }}                                               | ${undefined}
  ${'only Last-Modified'}                 | ${{ 'last-modified': MODIFIED }}                                   | ${undefined}
  ${'only Date'}                          | ${{ date: LATER }}                                                 | ${undefined}
  ${'a Last-Modified of the same second'} | ${{ 'last-modified': MODIFIED, date: MODIFIED }}                   | ${undefined}
  ${'a Last-Modified a second before'}    | ${{ 'last-modified': MODIFIED, date: SECOND_LATER }}               | ${DATED}
  ${'a Last-Modified of asctime'}         | ${{ 'last-modified': 'Tue Apr  1 10:00:00 2025', date: MODIFIED }} | ${undefined}
  ${'a Last-Modified in the future'}      | ${{ 'last-modified': LATER, date: MODIFIED }}                      | ${undefined}
  ${'a Last-Modified that is not a date'} | ${{ 'last-modified': 'yesterday', date: MODIFIED }}                | ${undefined}
  ${'a Date that is not a date'}          | ${{ 'last-modified': MODIFIED, date: 'today' }}                    | ${undefined}
  ${'a list of one Last-Modified'}        | ${{ 'last-modified': [MODIFIED], date: LATER }}                    | ${undefined}
  ${'a list of one Date'}                 | ${{ 'last-modified': MODIFIED, date: [LATER] }}                    | ${undefined}
`('the strong validator of $fields is $validator', ({ headers, validator }) => {
  expect(findStrongValidator(headers)).toEqual(validator);
});

const PART = part();
const EMPTY = part({ bytes: 0 });
const ALL = part({ bytes: 100 });
const BY_DATE = { ...PART, validator: DATED };
const UNCHECKED = { ...PART, validator: undefined };
const UNKNOWN = { ...PART, total: undefined };

test.each`
  what                            | file         | fields
  ${'an empty part'}              | ${EMPTY}     | ${{}}
  ${'a part without a validator'} | ${UNCHECKED} | ${{}}
  ${'a part with an ETag'}        | ${PART}      | ${{ range: 'bytes=40-', 'if-range': '"v1"' }}
  ${'a part with a date'}         | ${BY_DATE}   | ${{ range: 'bytes=40-', 'if-range': MODIFIED }}
  ${'a complete part'}            | ${ALL}       | ${{ range: 'bytes=100-', 'if-range': '"v1"' }}
`('the range after a part is requested if its version can be checked: $what', ({ file, fields }) => {
  expect(makeRangeHeaders(file, new Secrets())).toEqual(fields);
});

const SHORTER = { etag: '"v1"', 'content-length': '90' };
const SAME_DATE = { etag: undefined, 'last-modified': MODIFIED };
const OTHER_DATE = { etag: undefined, 'last-modified': LATER };
const SAME_LENGTH = { etag: '"v1"', 'content-length': '100' };
const TWO_RANGES = ['bytes 0-9/100', 'bytes 0-9/100'];
const ELSEWHERE = { address: `${HERE}/v2` };

test.each`
  kind             | answer                                     | file                            | response
  ${'restart'}     | ${'a 200 without a part'}                  | ${EMPTY}                        | ${whole({})}
  ${'restart'}     | ${'a 200 instead of the range, same ETag'} | ${PART}                         | ${whole({ etag: '"v1"' })}
  ${'restart'}     | ${'a 200, other ETag'}                     | ${PART}                         | ${whole({ etag: '"v2"' })}
  ${'refuse'}      | ${'a 200 with Content-Range'}              | ${EMPTY}                        | ${whole({ 'content-range': 'bytes 0-99/100' })}
  ${'refuse'}      | ${'a 200 with two Content-Ranges'}         | ${PART}                         | ${whole({ 'content-range': TWO_RANGES })}
  ${'refuse'}      | ${'a 200 of another length, same ETag'}    | ${PART}                         | ${whole(SHORTER)}
  ${'refuse'}      | ${'such a 200 before the first byte'}      | ${EMPTY}                        | ${whole(SHORTER)}
  ${'restart'}     | ${'a 200 of another length, other ETag'}   | ${PART}                         | ${whole({ ...SHORTER, etag: '"v2"' })}
  ${'restart'}     | ${'a 200 of another length, no ETag'}      | ${PART}                         | ${whole({ 'content-length': '90' })}
  ${'restart'}     | ${'a shorter 200, same date'}              | ${BY_DATE}                      | ${whole({ ...SAME_DATE, 'content-length': '90' })}
  ${'restart'}     | ${'a shorter 200 from another address'}    | ${PART}                         | ${{ ...whole(SHORTER), ...ELSEWHERE }}
  ${'restart'}     | ${'a 200 of the same length, same ETag'}   | ${PART}                         | ${whole(SAME_LENGTH)}
  ${'restart'}     | ${'a 200 for a part of unknown total'}     | ${UNKNOWN}                      | ${whole(SHORTER)}
  ${'restart'}     | ${'a 200 for a part without a validator'}  | ${UNCHECKED}                    | ${whole(SHORTER)}
  ${'append'}      | ${'an exact 206'}                          | ${PART}                         | ${exact()}
  ${'append'}      | ${'an exact 206, unknown total'}           | ${UNKNOWN}                      | ${exact()}
  ${'append'}      | ${'a chunked 206'}                         | ${PART}                         | ${rest('40-99/100', undefined)}
  ${'retry-whole'} | ${'a 206 of a wrong length'}               | ${PART}                         | ${rest('40-99/100', '61')}
  ${'retry-whole'} | ${'a 206 from another address'}            | ${PART}                         | ${{ ...exact(), ...ELSEWHERE }}
  ${'append'}      | ${'a 206, same date'}                      | ${BY_DATE}                      | ${exact(SAME_DATE)}
  ${'retry-whole'} | ${'a 206, other date'}                     | ${BY_DATE}                      | ${exact(OTHER_DATE)}
  ${'retry-whole'} | ${'a 206 for a date, no date'}             | ${BY_DATE}                      | ${exact({ etag: undefined })}
  ${'retry-whole'} | ${'a 206 for a part without a validator'}  | ${UNCHECKED}                    | ${exact()}
  ${'retry-whole'} | ${'a 206, no ETag'}                        | ${PART}                         | ${exact({ etag: undefined })}
  ${'retry-whole'} | ${'a 206, weak ETag'}                      | ${PART}                         | ${exact({ etag: 'W/"v1"' })}
  ${'retry-whole'} | ${'a 206, other ETag'}                     | ${PART}                         | ${exact({ etag: '"v2"' })}
  ${'retry-whole'} | ${'a 206, two ETags'}                      | ${PART}                         | ${exact({ etag: ['"v1"', '"v1"'] })}
  ${'retry-whole'} | ${'a 206 of another total'}                | ${PART}                         | ${rest('40-119/120', '80')}
  ${'retry-whole'} | ${'a 206 that starts late'}                | ${PART}                         | ${rest('41-99/100', '59')}
  ${'retry-whole'} | ${'a 206 that ends early'}                 | ${PART}                         | ${rest('40-98/100', '60')}
  ${'retry-whole'} | ${'a 206 from the start'}                  | ${PART}                         | ${rest('0-99/100', '100')}
  ${'retry-whole'} | ${'a 206 beyond its total'}                | ${PART}                         | ${rest('40-100/100', '61')}
  ${'retry-whole'} | ${'a 206 of an empty range'}               | ${ALL}                          | ${rest('100-99/100', '0')}
  ${'complete'}    | ${'a 416 for a complete part, same ETag'}  | ${ALL}                          | ${unsatisfied('bytes */100')}
  ${'complete'}    | ${'a 416 for all bytes, unknown total'}    | ${{ ...ALL, total: undefined }} | ${unsatisfied('bytes */100')}
  ${'retry-whole'} | ${'a 416 for a complete part, no ETag'}    | ${ALL}                          | ${unsatisfied('bytes */100', '')}
  ${'retry-whole'} | ${'a 416 for a complete part, other ETag'} | ${ALL}                          | ${unsatisfied('bytes */100', '"v2"')}
  ${'retry-whole'} | ${'a 416 with another total'}              | ${ALL}                          | ${unsatisfied('bytes */99')}
  ${'retry-whole'} | ${'a 416 for an incomplete part'}          | ${PART}                         | ${unsatisfied('bytes */100')}
  ${'retry-whole'} | ${'a 416 with a smaller total'}            | ${part({ total: 120 })}         | ${unsatisfied('bytes */40')}
  ${'retry-whole'} | ${'a 416 without a range'}                 | ${ALL}                          | ${unsatisfied()}
`('$answer: $kind', ({ file, response, kind }: { kind: string; file: PartialFile; response: ResumeResponse }) => {
  expect(decideResume(file, response)).toMatchObject(kind === 'append' ? { kind, total: 100 } : { kind });
});

test('the file is requested again if a Content-Range is not exact', () => {
  const range = 'bytes 40-99/100';
  const lists = [[range], [range, range], `${range}, ${range}`];
  const partials = [undefined, 'lines 40-99/100', `x${range}`, `x ${range}`, `${range}x`, ...lists];
  const unknown = ['bytes 40-99/*', 'bytes 40-99/1000000000000000'];
  const unsatisfied = [['bytes */40'], 'xbytes */40', 'bytes */40x', 'bytes 0-39/40'];
  const kindFor = (status: number, value: string | string[] | undefined) =>
    decideResume(UNKNOWN, respond(status, { etag: '"v1"', 'content-range': value })).kind;
  expect([...partials, ...unknown].filter((value) => kindFor(206, value) !== 'retry-whole')).toEqual([]);
  expect(unsatisfied.filter((value) => kindFor(416, value) !== 'retry-whole')).toEqual([]);
  expect([kindFor(206, range), kindFor(416, 'bytes */40')]).toEqual(['append', 'complete']);
});
