import { describe, expect, test } from 'vitest';
import { removeMarks } from '../../src/secrets.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { listedSize, readListing } from '../../src/service/listing.ts';

const ACCESSION = parseAccession('0001234567-24-000001');
const OTHER = '0001234567-24-000002';
const names = (count: number) => Array.from({ length: count }, (_, index) => `${index}.htm`);
const records = (count: number) => names(count).map((file_name) => ({ file_name }));

function read(json: unknown, headers = {}) {
  const body = Buffer.isBuffer(json) ? json : Buffer.from(typeof json === 'string' ? json : JSON.stringify(json));
  return readListing({ body, headers }, ACCESSION);
}

/** Returns the error of a response that must not be read. */
function refusal(json: unknown, headers = {}) {
  try {
    read(json, headers);
  } catch (error) {
    const { code, message, hint } = error as { code: string; message: string; hint: string };
    return { code, message, hint: removeMarks(hint) };
  }
  throw new Error(`${JSON.stringify(json)} was read`);
}

describe('a listing', () => {
  test.each`
    response                                                                    | files
    ${['a.htm', 'b.htm', 'a.htm']}                                              | ${['a.htm', 'b.htm']}
    ${'\ufeff["a.htm"]'}                                                        | ${['a.htm']}
    ${[]}                                                                       | ${[]}
    ${{ files: [] }}                                                            | ${[]}
    ${[{ file_name: 'a', name: 'A' }, { 'FILE-NAME': 'b' }, { fileName: 'c' }]} | ${['a', 'b', 'c']}
    ${[{ filename: '1', size: 1, active: true, note: null }, '2']}              | ${['1', '2']}
    ${{ Documents: ['a'], Total: 1, accessionNumber: '000123456724000001' }}    | ${['a']}
    ${{ files: ['a'], accession_no: 123456724000001 }}                          | ${['a']}
    ${{ rows: [{ file_name: 'a' }] }}                                           | ${['a']}
    ${{ 'File-Names': ['a'] }}                                                  | ${['a']}
    ${{ errors: [] }}                                                           | ${[]}
    ${{ files: names(100), total: 100 }}                                        | ${names(100)}
    ${names(11)}                                                                | ${names(11)}
  `('is read from $response', ({ response, files }) => {
    const listing = read(response);
    expect(listing.files.map((file) => file.file_name)).toEqual(files);
    expect(listing.pageCount).toBe(1);
  });

  test('has all members of its records, and counts the records that it drops', () => {
    const record = { accession_no: '000123456724000001', file_name: 'a', form: '10-K', size: null };
    const files = [{ ...record, accession_no: ACCESSION }];
    expect(read([record, { file_name: 'b', accession: OTHER }])).toEqual({ files, recordCount: 2, pageCount: 1 });
  });

  test('is read with fields that do not speak of pages', () => {
    const link = '</next.css>; rel=preload, </1>; rel="first prev"';
    const headers = { 'x-account-id': '7', 'x-nextjs-cache': 'HIT', 'x-powered-by': 'Next', 'accept-ranges': 'bytes' };
    expect(read(['a'], { ...headers, link }).files).toHaveLength(1);
  });
});

describe('a response may be incomplete', () => {
  const mayBeIncomplete = (reason: string, response: unknown, headers?: object) => {
    const message = expect.stringMatching(/^may be incomplete: /);
    const error = refusal(response, headers);
    expect(error).toMatchObject({ code: 'integrity', message });
    expect(error.message).toContain(reason);
  };

  test.each`
    reason                                              | response
    ${"it has several lists: 'files', 'exhibits'"}      | ${{ files: ['a'], exhibits: [] }}
    ${"it has 'has_more' besides the list"}             | ${{ files: ['a'], has_more: false }}
    ${"it has 'errors' besides the list"}               | ${{ files: ['a'], errors: ['x'] }}
    ${"it has 'count' besides the list"}                | ${{ files: ['a'], count: 1 }}
    ${"it has 'accession' besides the list"}            | ${{ files: ['a'], accession: ACCESSION }}
    ${'it has 1 record, but its total is 2'}            | ${{ files: ['a'], total: 2 }}
    ${'its total is "1"'}                               | ${{ files: ['a'], total: '1' }}
    ${'its total is 2'}                                 | ${{ files: ['a'], total: 1, Total: 2 }}
    ${'record 1 is neither a name nor an object'}       | ${[['a'], ['b']]}
    ${'record 2 is neither a name nor an object'}       | ${['a', null]}
    ${'record 1 is empty'}                              | ${['']}
    ${'record 2 has no file_name'}                      | ${['a', {}]}
    ${'record 1 has no file_name'}                      | ${[{ name: 'a.htm' }]}
    ${"record 1 has no name in 'file_name'"}            | ${[{ file_name: 7 }]}
    ${"record 1 has no name in 'file_name'"}            | ${[{ file_name: '' }]}
    ${"several file names: 'file_name', 'filename'"}    | ${[{ file_name: 'a', filename: 'a' }]}
    ${"record 1 has a list or an object in 'exhibits'"} | ${[{ file_name: 'a', exhibits: ['b'] }]}
    ${"a list or an object in 'meta'"}                  | ${[{ file_name: 'a', meta: {} }]}
  `('because $reason', ({ reason, response }) => mayBeIncomplete(reason, response));

  test.each([10, 20, 25, 50, 100, 200, 250, 500, 1000])('because it has %i records, as a page does', (count) => {
    mayBeIncomplete(`${count} records may be the first of several pages`, names(count));
    mayBeIncomplete(`${count} records may be the first of several pages`, { files: records(count) });
  });

  test('because one of its fields speaks of pages', () => {
    const words = 'x-total x-totalcount x-totalpages count next-page x-has-more x-page total-pages content-range';
    for (const field of `${words} pagination x-continuation-id x-ms-continuationtoken`.split(' '))
      mayBeIncomplete(`its ${field} header suggests further pages`, ['a'], { [field]: '1' });
  });

  const LINKS = ['<x>; rel="next"', '<x>; rel=next', '<x>;title="a"; REL="last next"', "<x>; rel = 'next'"];
  test('because its Link header points to a next page', () => {
    for (const link of [...LINKS, ['<a>; rel="prev"', '<b>; rel="next"']])
      mayBeIncomplete('its Link header points to a next page', ['a'], { link });
  });
});

const NO_LIST = [
  'null',
  '"a.htm"',
  '{"error":"x","status":1}',
  '{"files":{"a.htm":{}}}',
  '{"data":{"files":["a"]}}',
  '{"errors":["The key has expired."]}',
  '{"Messages":["a.htm"],"total":1}',
  '{"":["a"]}',
  '{"warnings":[{"file_name":"a"},"b"]}',
];
test.each(NO_LIST)('a response without a list of files is an error that shows it: %s', (shown) => {
  const message = `the response has no list of files: ${shown}`;
  expect(refusal(shown)).toMatchObject({ code: 'integrity', message });
});

test.each`
  words                                            | response
  ${'is not JSON: the body is empty'}              | ${''}
  ${'is not JSON: <!doctype html><title> Sign in'} | ${'<!doctype html><title>\nSign  in</title>'}
  ${'is not JSON'}                                 | ${'["a",]'}
  ${'is not JSON'}                                 | ${Buffer.from('["\xe4"]', 'latin1')}
  ${'is not JSON'}                                 | ${Buffer.from('\ufeff["a"]', 'utf16le')}
  ${'has more than 100 levels of JSON'}            | ${'['.repeat(100_000) + ']'.repeat(100_000)}
  ${'has a duplicate member: 0.file_name'}         | ${'[{"file_name":"a","file_name":"b"}]'}
  ${'has a duplicate member: files'}               | ${'{"files":["a"],"files":["b"]}'}
  ${'has a duplicate member: files'}               | ${'{"files":["a"],"f\\u0069les":[]}'}
`('a response that readers of JSON may read differently is an error: it $words', ({ response, words }) => {
  const message = expect.stringContaining(`response ${words}`);
  expect(refusal(response)).toMatchObject({ code: 'integrity', message });
});

describe('a record', () => {
  test.each`
    record                                          | belongs
    ${{}}                                           | ${true}
    ${{ accession_no: null }}                       | ${true}
    ${{ accession_no: ACCESSION, accession: null }} | ${true}
    ${{ Accession_Number: '000123456724000001' }}   | ${true}
    ${{ accession: 123456724000001 }}               | ${true}
    ${{ accession_no: OTHER }}                      | ${false}
    ${{ accessionNumber: '000123456724000002' }}    | ${false}
    ${{ accession: 123456724000002 }}               | ${false}
  `('belongs to the filing: $belongs, with $record', ({ record, belongs }) => {
    expect(read([{ file_name: 'a', ...record }]).files).toHaveLength(belongs ? 1 : 0);
  });

  const NOT_ONE = ['', 'n/a', ` ${ACCESSION}`, 7, -1, 1.5, true];
  test.each([{ accession_no: ACCESSION, accession: OTHER }, ...NOT_ONE.map((accession) => ({ accession }))])(
    'with %j is an error',
    (record) => {
      const message = `a record has an invalid or ambiguous accession number: ${JSON.stringify(record)}`;
      expect(refusal([{ file_name: 'a', ...record }])).toMatchObject({ code: 'integrity', message });
    },
  );

  test('with a number that JSON.parse rounds is an error that says so', () => {
    const { message, hint } = refusal('[{"file_name":"a","accession":123456789012345678}]');
    expect(message).toContain('a record has a rounded accession number: ');
    expect(hint).toContain('as a string');
  });

  test.each([OTHER, null, 'x', 7])('is never taken from a response about the filing %j', (accession_no) => {
    const message = `the response is about another filing: its accession_no is ${JSON.stringify(accession_no)}`;
    expect(refusal({ files: ['a'], accession_no }).message).toContain(message);
  });
});

// What else is suggested is tried in test/program/suggested-listings.test.ts.
test('a hint visits each of 30,000 members once', () => {
  const members = Array.from({ length: 30_000 }, (_, n) => [`m${n}`, records(1)]);
  const before = process.cpuUsage();
  expect(refusal(Object.fromEntries(members)).hint).toContain('(m0, m1, m2, m3 or m4)');
  // Processor time, because others use the machine.
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(20);
});

test('a hint does not repeat a name of 100,000 letters for each list inside it', () => {
  const inside = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`m${n}`, records(1)]));
  const { hint } = refusal({ ['x'.repeat(100_000)]: inside });
  expect(hint?.length).toBeLessThan(3000);
});

test('a string of millions of escapes is read, and quoted in an error', () => {
  const name = '\n'.repeat(3_000_000);
  expect(read([name]).files[0]?.file_name).toBe(name);
  expect(refusal([{ file_name: name, accession: name }]).message).toContain('invalid or ambiguous accession number');
});

test.each`
  record                           | size
  ${{ size: 7 }}                   | ${7}
  ${{ 'File-Size': '12' }}         | ${12}
  ${{ size: '', bytes: 0 }}        | ${0}
  ${{ size: '1 kB', length: '3' }} | ${3}
`('the size of $record is $size', ({ record, size }) => {
  expect(listedSize({ accession_no: ACCESSION, file_name: 'a', ...record })).toBe(size);
});

test('a size that is not a number of bytes is none', () => {
  const sizes = [-1, 1.5, true, null, '1 kB', 1e300];
  const sizeOf = (size: unknown) => listedSize({ accession_no: ACCESSION, file_name: 'a', size });
  expect(sizes.filter((size) => sizeOf(size) !== undefined)).toEqual([]);
});
