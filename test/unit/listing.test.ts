import { describe, expect, test } from 'vitest';
import { unmarked } from '../../src/secrets.ts';
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
    return { code, message, hint: unmarked(hint) };
  }
  throw new Error(`${JSON.stringify(json)} was read`);
}

describe('a listing', () => {
  test.each<{ response: unknown; files: string[] }>([
    { response: ['a.htm', 'b.htm', 'a.htm'], files: ['a.htm', 'b.htm'] },
    { response: '\ufeff["a.htm"]', files: ['a.htm'] },
    { response: [], files: [] },
    { response: { files: [] }, files: [] },
    { response: [{ file_name: 'a', name: 'A' }, { 'FILE-NAME': 'b' }, { fileName: 'c' }], files: ['a', 'b', 'c'] },
    { response: [{ filename: '1', size: 1, active: true, note: null }, '2'], files: ['1', '2'] },
    { response: { Documents: ['a'], Total: 1, accessionNumber: '000123456724000001' }, files: ['a'] },
    { response: { files: ['a'], accession_no: 123456724000001 }, files: ['a'] },
    { response: { total: ['a'] }, files: ['a'] },
    { response: { files: names(100), total: 100 }, files: names(100) },
    { response: names(11), files: names(11) },
  ])('is read from $response', ({ response, files }) => {
    const listing = read(response);
    expect(listing.files.map((file) => file.file_name)).toEqual(files);
    expect(listing.pages).toBe(1);
  });

  test('has all members of its records, and counts the records that it drops', () => {
    const record = { accession_no: '000123456724000001', file_name: 'a', form: '10-K', size: null };
    expect(read([record, { file_name: 'b', accession: OTHER }])).toEqual({
      files: [{ ...record, accession_no: ACCESSION }],
      records: 2,
      pages: 1,
    });
  });

  test.each([
    { headers: { 'x-account-id': '7', 'x-nextjs-cache': 'HIT', 'x-powered-by': 'Next' } },
    { headers: { link: '</next.css>; rel=preload, </1>; rel="first prev"', 'accept-ranges': 'bytes' } },
  ])('is read with the fields $headers, which do not speak of pages', ({ headers }) => {
    expect(read(['a'], headers).files).toHaveLength(1);
  });
});

describe('a response that may be incomplete', () => {
  const WORDS = [
    'x-total',
    'x-totalcount',
    'x-totalpages',
    'count',
    'next-page',
    'x-has-more',
    'x-page',
    'total-pages',
  ];
  const FIELDS = [...WORDS, 'content-range', 'pagination', 'x-continuation-id', 'x-ms-continuationtoken'];
  test.each<{ response: unknown; reason: string; headers?: object }>([
    { response: { files: ['a'], exhibits: [] }, reason: "it has several lists: 'files', 'exhibits'" },
    { response: { files: ['a'], has_more: false }, reason: "it has 'has_more' besides the list" },
    { response: { files: ['a'], count: 1 }, reason: "it has 'count' besides the list" },
    { response: { files: ['a'], accession: ACCESSION }, reason: "it has 'accession' besides the list" },
    { response: { files: ['a'], total: 2 }, reason: 'it has 1 record, but its total is 2' },
    { response: { files: ['a'], total: '1' }, reason: 'its total is "1"' },
    { response: { files: ['a'], total: null }, reason: 'its total is null' },
    { response: { files: ['a'], total: 1, Total: 2 }, reason: 'its total is 2' },
    { response: [['a'], ['b']], reason: 'record 1 is neither a name nor an object' },
    { response: ['a', null], reason: 'record 2 is neither a name nor an object' },
    { response: [''], reason: 'record 1 is empty' },
    { response: ['a', {}], reason: 'record 2 has no file_name' },
    { response: [{ name: 'a.htm' }], reason: 'record 1 has no file_name' },
    { response: [{ file_name: 7 }], reason: "record 1 has no name in 'file_name'" },
    { response: [{ file_name: '' }], reason: "record 1 has no name in 'file_name'" },
    { response: [{ file_name: 'a', filename: 'a' }], reason: "several file names: 'file_name', 'filename'" },
    { response: [{ file_name: 'a', exhibits: ['b'] }], reason: "record 1 has more than a value in 'exhibits'" },
    { response: [{ file_name: 'a', meta: {} }], reason: "more than a value in 'meta'" },
    ...[10, 20, 25, 50, 100, 200, 250, 500, 1000].map((count) => ({
      response: count % 4 === 0 ? names(count) : { files: records(count) },
      reason: `${count} records may be the first of several pages`,
    })),
    ...FIELDS.map((field) => ({
      response: ['a'],
      reason: `the response has the field ${field}`,
      headers: { [field]: '1' },
    })),
    ...['<x>; rel="next"', '<x>; rel=next', '<x>;title="a"; REL="last next"', "<x>; rel = 'next'"].map((link) => ({
      response: ['a'],
      reason: 'its Link field names a next page',
      headers: { link },
    })),
    { response: ['a'], reason: 'its Link field', headers: { link: ['<a>; rel="prev"', '<b>; rel="next"'] } },
  ])('is an error: $reason, in $response with $headers', ({ response, reason, headers }) => {
    const { code, message } = refusal(response, headers);
    expect({ code, message }).toEqual({ code: 'integrity', message: expect.stringContaining(reason) });
    expect(message).toMatch(/^the listing of 0001234567-24-000001: may be incomplete: /);
  });
});

test.each<{ response: unknown }>([
  ...['null', '"a.htm"', '7'].map((response) => ({ response })),
  { response: {} },
  { response: { error: 'Invalid API key', status: 1 } },
  { response: { files: { 'a.htm': {} } } },
  { response: { data: { files: ['a'] } } },
])('a response without a list of files is an error that shows it: $response', ({ response }) => {
  const shown = typeof response === 'string' ? response : JSON.stringify(response);
  const message = `the listing of ${ACCESSION}: the response has no list of files: ${shown}`;
  expect(refusal(response)).toMatchObject({ code: 'integrity', message });
});

test.each<{ response: string | Buffer; message: string }>([
  { response: '', message: 'is not JSON: it is empty' },
  { response: '<!doctype html><title>\nSign  in</title>', message: 'is not JSON: <!doctype html><title> Sign in' },
  { response: '["a"] ["b"]', message: 'is not JSON: ["a"] ["b"]' },
  { response: '["a",]', message: 'is not JSON' },
  { response: Buffer.from('["\xe4"]', 'latin1'), message: 'is not JSON' },
  { response: Buffer.from('\ufeff["a"]', 'utf16le'), message: 'is not JSON' },
  { response: '['.repeat(100_000), message: 'has more than 100 levels of JSON' },
  { response: '[{"file_name":"a","file_name":"b"}]', message: 'has a member twice: 0.file_name' },
  { response: '{"files":["a"],"files":["b"]}', message: 'has a member twice: files' },
  { response: '{"files":["a"],"f\\u0069les":[]}', message: 'has a member twice: files' },
])('a response that is not JSON, or not the same to all readers, is an error: $message', ({ response, message }) => {
  expect(refusal(response)).toMatchObject({
    code: 'integrity',
    message: expect.stringContaining(`response ${message}`),
  });
});

describe('a record', () => {
  test.each<{ record: object; belongs: boolean }>([
    { record: {}, belongs: true },
    { record: { accession_no: null }, belongs: true },
    { record: { accession_no: ACCESSION, accession: null }, belongs: true },
    { record: { Accession_Number: '000123456724000001' }, belongs: true },
    { record: { accession: 123456724000001 }, belongs: true },
    { record: { accession_no: OTHER }, belongs: false },
    { record: { accessionNumber: '000123456724000002' }, belongs: false },
    { record: { accession: 123456724000002 }, belongs: false },
  ])('belongs to the filing: $belongs, with $record', ({ record, belongs }) => {
    expect(read([{ file_name: 'a', ...record }]).files).toHaveLength(belongs ? 1 : 0);
  });

  test.each<{ record: object }>([
    ...['', 'n/a', ` ${ACCESSION}`, 7, -1, 1.5, true, 123456789012345680].map((accession) => ({
      record: { accession },
    })),
    { record: { accession_no: ACCESSION, accession: OTHER } },
  ])('with $record is an error', ({ record }) => {
    const message = `the listing of ${ACCESSION}: a record does not name one filing: ${JSON.stringify(record)}`;
    expect(refusal([{ file_name: 'a', ...record }])).toMatchObject({ code: 'integrity', message });
  });

  test.each([OTHER, null, 'x', 7])('is never taken from a response about the filing %j', (accession_no) => {
    const message = `the response is about another filing: its accession_no is ${JSON.stringify(accession_no)}`;
    expect(refusal({ files: ['a'], accession_no }).message).toContain(message);
  });
});

describe('the hint', () => {
  const SET = 'filings config set';
  const UNKNOWN = `${SET} listing.files EXPRESSION && ${SET} listing.name EXPRESSION`;
  const PAGES =
    'first find out whether the service sends pages (listing.page, listing.next, listing.more and listing.total describe them); if this is the whole list';
  const NESTED = 'the records hold no further files';
  test.each<{ response: unknown; command: string; first?: string; headers?: object }>([
    { response: { data: { documents: records(3) } }, command: `${SET} listing.files data.documents` },
    { response: { data: { files: records(50), total: 50 } }, command: `${SET} listing.files data.files` },
    { response: { data: { 'the files': ['a'] } }, command: `${SET} listing.files 'data."the files"'` },
    { response: [{ id: 'x', name: 'a' }], command: `${SET} listing.name name` },
    { response: [{ 'FILE-NAME': 'a', filename: 'b' }], command: `${SET} listing.name '"FILE-NAME"'` },
    { response: { data: { ['x'.repeat(300)]: records(2) } }, command: UNKNOWN },
    {
      response: { data: [{ id: 1, file: { name: 'a' } }] },
      command: `${SET} listing.files data && ${SET} listing.name file.name`,
      first: `if ${NESTED}`,
    },
    { response: [{ file_name: 'a', tags: ['x'] }], command: `${SET} listing '{}'`, first: `if ${NESTED}` },
    { response: names(100), command: `${SET} listing '{}'`, first: PAGES },
    { response: ['a'], command: `${SET} listing '{}'`, first: PAGES, headers: { link: '<x>; rel="next"' } },
    { response: { files: ['a'], next: '/2' }, command: `${SET} listing.files files`, first: PAGES },
    { response: { files: ['a'], links: {} }, command: `${SET} listing.files files`, first: PAGES },
    { response: { files: records(2), notes: ['x'] }, command: `${SET} listing.files files`, first: PAGES },
    { response: { data: { files: records(50) } }, command: `${SET} listing.files data.files`, first: PAGES },
    {
      response: { files: [{ name: 'a', of: {} }], more: true },
      command: `${SET} listing.files files && ${SET} listing.name name`,
      first: `${PAGES} and ${NESTED}`,
    },
    ...[
      { error: 'x' },
      [{ id: 1 }],
      [{ file_name: 'a' }, { title: 'b' }],
      [{ accession_no: ACCESSION, documents: records(2) }],
      { files: records(2), exhibits: records(1) },
    ].map((response) => ({ response, command: UNKNOWN, first: PAGES })),
  ])('describes $response by $command, but first: $first', ({ response, command, first, headers }) => {
    const before = first === undefined ? '' : `${first}, `;
    expect(refusal(response, headers).hint).toBe(`${before}describe the listing: ${command}`);
  });
});

test.each<{ record: object; size: number | undefined }>([
  { record: { size: 7 }, size: 7 },
  { record: { 'File-Size': '12' }, size: 12 },
  { record: { size: '', bytes: 0 }, size: 0 },
  ...[-1, 1.5, true, null, '1 kB', 1e300].map((size) => ({ record: { size }, size: undefined })),
])('the size of $record is $size', ({ record, size }) => {
  expect(listedSize({ accession_no: ACCESSION, file_name: 'a', ...record })).toBe(size);
});
