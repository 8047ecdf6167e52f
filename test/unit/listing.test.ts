import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { noMatchError } from '../../src/input/glob.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { listedSize, readListing } from '../../src/service/listing.ts';
import { findRecords } from '../../src/service/listing-records.ts';

const own = '0001234567-24-000001';
const other = '0001234567-24-000002';
const accession = parseAccession(own);
const mine = { accession_no: own };
const theirs = { accession_no: other };

function read(body: unknown, link?: string) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return readListing({ body: Buffer.from(text), link }, accession);
}

function names(body: unknown): string {
  return read(body)
    .files.map((file) => file.file_name)
    .join(' ');
}

const hit = (source: object) => ({ _index: 'files', _id: '1', _score: 1, _source: source });
const hits = (list: readonly object[], more = {}) => ({
  ...{ took: 5, timed_out: false, _shards: { total: 5, successful: 5, skipped: 0, failed: 0 } },
  ...{ hits: { total: { value: list.length, relation: 'eq' }, max_score: 1, hits: list } },
  ...more,
});
const edges = (list: readonly unknown[], pageInfo: object) => ({
  data: { filing: { files: { edges: list.map((node, index) => ({ cursor: `c${index}`, node })), pageInfo } } },
});

describe('reads the names of', () => {
  const namings = ['file_name', 'fileName', 'FILE-NAME', 'name', 'document', 'primary_document'];
  it.each<[what: string, expected: string, body: unknown]>([
    ['an array of strings', 'a.htm b.xml', ['a.htm', 'b.xml']],
    ['an array of strings without extensions', 'README x', ['README', 'x']],
    ['objects with each member that names a file', '0 1 2 3 4 5', namings.map((name, i) => ({ [name]: `${i}` }))],
    ['records whose file_name is null', 'a.htm', [{ file_name: null, name: 'a.htm' }]],
    ['an empty array', '', []],
    ['an empty array in a container', '', { data: [], meta: { name: 'listing service' } }],
    ['null instead of an empty array', '', { files: null }],
    ['an array in an object', 'a.htm', { files: ['a.htm'] }],
    [
      'OData',
      'a.htm b.htm',
      { '@odata.context': 'x', '@odata.count': 2, value: [{ name: 'a.htm' }, { name: 'b.htm' }] },
    ],
    [
      'HAL',
      'a.htm b.htm',
      {
        _links: { self: { href: '/1' }, next: null },
        _embedded: { filingFiles: [{ name: 'a.htm' }, { name: 'b.htm' }] },
        page: { size: 20, totalElements: 2, totalPages: 1, number: 0 },
      },
    ],
    [
      'JSON:API',
      'a.htm',
      {
        data: [{ type: 'files', id: '1', attributes: { file_name: 'a.htm', size: 3 }, links: { self: '/1' } }],
        ...{ meta: { total: 1 }, links: { self: '/', next: null } },
      },
    ],
    [
      'a JSON:API filing',
      'a.htm',
      { data: { type: 'filings', id: own, attributes: { form: '8-K', files: ['a.htm'] } } },
    ],
    [
      'Spring',
      'a.htm',
      {
        ...{
          content: [{ name: 'a.htm' }],
          pageable: { sort: { empty: true }, offset: 0, pageNumber: 0, pageSize: 20 },
        },
        ...{
          totalPages: 1,
          totalElements: 1,
          last: true,
          first: true,
          size: 20,
          number: 0,
          numberOfElements: 1,
          empty: false,
        },
      },
    ],
    ['Django REST', 'a.htm', { count: 1, next: null, previous: null, results: [{ file_name: 'a.htm' }] }],
    ['GraphQL', 'a.htm b.htm', edges([{ name: 'a.htm' }, { name: 'b.htm' }], { hasNextPage: false, endCursor: 'c1' })],
    ['Elasticsearch', 'a.htm', hits([hit({ file_name: 'a.htm' })])],
    [
      'Solr',
      'a.htm',
      { responseHeader: { status: 0 }, response: { numFound: 1, start: 0, docs: [{ name: 'a.htm' }] } },
    ],
    [
      'a directory index',
      'a.htm b.txt',
      {
        directory: {
          item: [
            { name: 'a.htm', size: '1' },
            { name: 'b.txt', size: '' },
          ],
          name: '/data/1',
        },
      },
    ],
    [
      'Laravel',
      'a.htm',
      {
        ...{ current_page: 1, data: [{ name: 'a.htm' }], last_page: 1, next_page_url: null, per_page: 15, total: 1 },
        ...{ links: [{ url: null, label: 'Next', active: false }] },
      },
    ],
    ['a single file', 'a.htm', { ...mine, file_name: 'a.htm', size: 3 }],
    ['a single file by a name with an extension', 'a.htm', { name: 'a.htm', pages: 12 }],
    [
      'a filing with its primary document',
      'a.htm',
      { ...mine, form: '8-K', items: ['2.02'], primary_document: 'a.htm' },
    ],
    ['filings of a company', 'x/4.xml', [{ ...mine, name: 'Acme', primary_document: 'x/4.xml' }]],
    ['a filing around its files', 'a.htm', { data: { filing: { ...mine, files: [{ file_name: 'a.htm' }] } } }],
    ['a filing under any member', 'a.htm', { submission: { ...mine, files: ['a.htm'] } }],
    ['filings under any member', 'a.htm', { submissions: [{ ...mine, files: ['a.htm'] }] }],
    ['a document beside the list', 'a.htm b.htm', { primary_document: 'a.htm', attachments: ['b.htm'] }],
    ['a document of any kind beside the list', 'a.htm b.htm', { document: 'a.htm', files: ['b.htm'] }],
    [
      'a document beside a list that has it',
      'a.htm b.htm',
      { primary_document: 'a.htm', documents: ['a.htm', 'b.htm'] },
    ],
    [
      'a document of a filing beside the list',
      'a.htm b.htm',
      { filing: { document: 'a.htm' }, files: ['a.htm', 'b.htm'] },
    ],
    ['a document in a list with files of its own', 'a.htm b.jpg', [{ file_name: 'a.htm', graphics: ['b.jpg'] }]],
    ['several lists that name files', 'a.htm README', { documents: ['a.htm'], exhibits: [{ name: 'README' }] }],
    ['a list that names files around another object', 'a.htm', { files: { file: [{ name: 'a.htm' }], total: 1 } }],
    ['a list whose member is spelled differently', 'a.htm', { 'File-Names': ['a.htm'] }],
    ['files beside metadata', 'a.htm', { files: ['a.htm'], companies: [{ name: 'Acme' }], tickers: ['BRK.B'] }],
    [
      'files beside lists that cannot be files',
      'a.htm',
      { files: ['a.htm'], dates: [{ at: 1 }], kinds: ['10-K'], by: [{ user: { name: 'Kim' } }] },
    ],
    ['files beside texts in a container', 'a.htm', { files: ['a.htm'], items: ['2.02', '9.01'] }],
    ['a filing with the name of a company', 'a.htm', { name: 'Company.com', filings: [{ ...mine, files: ['a.htm'] }] }],
    ['a name beside a kind of document', 'a', [{ name: 'a', document: 'Annual report' }]],
    [
      'a filing with a list in a container',
      'a.htm b.htm',
      [{ primary_document: 'a.htm', content: [{ name: 'b.htm' }] }],
    ],
    ['a file whose record has other files', 'a.htm', [{ file_name: 'a.htm', related: [{ file_name: 'b.htm' }] }]],
    ['a file whose record reports something', 'a.htm', [{ file_name: 'a.htm', error: 'x', next: 'b.htm', total: 9 }]],
    ['duplicate files', 'a.htm b.htm', ['a.htm', 'b.htm', 'a.htm']],
    [
      'files and documents without a name',
      'a.htm',
      [{ name: '' }, null, { file_name: null, pages: 3 }, { name: 'a.htm' }],
    ],
    ['odd file names', '../x a\nb constructor __proto__ b.htm', ['../x', 'a\nb', 'constructor', '__proto__', 'b.htm']],
    ['files beside members that report nothing', 'a.htm', { error: null, errors: [], status: 'ok', files: ['a.htm'] }],
    ['files beside a default and a count of 0 errors', 'a.htm', { default: true, error_count: 0, files: ['a.htm'] }],
    ['files beside a quota', 'a.htm', { quota: { remaining: 5 }, rate_limit: { total: 90 }, files: ['a.htm'] }],
  ])('%s', (_what, expected, body) => {
    expect(names(body)).toBe(expected);
  });
});

describe('records of another filing', () => {
  it.each(['accession_no', 'accession_number', 'accessionNo', 'AccessionNumber', 'accession'])(
    'are dropped by %s, in either form',
    (member) => {
      const numbers = [other, own, own.replaceAll('-', ''), other.replaceAll('-', ''), null, ' ', ` ${own} `];
      const records = numbers.map((value, index) => ({ [member]: value, name: `${index}` }));
      expect(names(records)).toBe('1 2 4 5 6');
    },
  );

  it.each<[what: string, expected: string, body: unknown]>([
    ['a single record', '', { ...theirs, file_name: 'b.htm' }],
    ['a filing with its files', '', { ...theirs, files: ['b.htm'] }],
    ['a filing around its files', '', { data: { ...theirs, files: [{ name: 'b.htm' }] } }],
    ['a filing beside its files', '', { filing: theirs, files: ['b.htm'] }],
    [
      'a numeric accession number',
      'a.htm',
      [
        { accession_no: 123456724000001, name: 'a.htm' },
        { accession_no: 123456724000002, name: 'b' },
      ],
    ],
  ])('are dropped: %s', (_what, expected, body) => {
    expect(names(body)).toBe(expected);
  });

  it.each<[what: string, body: unknown]>([
    ['names both numbers', [{ ...mine, accession_number: other, name: 'a.htm' }]],
    ['has a number that is not an accession number', [{ accession: 5, name: 'a.htm' }]],
    ['is inside another filing', { ...theirs, files: [{ ...mine, name: 'a.htm' }] }],
  ])('do not include a record of this filing that %s', (_what, body) => {
    expect(names(body)).toBe('a.htm');
  });
});

describe('the members of a record', () => {
  it('are kept after accession_no and file_name', () => {
    const { files } = read([{ size: 3, accessionNo: own, name: 'a.htm', nested: { a: [1] } }]);
    const kept = { ...mine, file_name: 'a.htm', size: 3, accessionNo: own, name: 'a.htm', nested: { a: [1] } };
    expect(JSON.stringify(files)).toBe(JSON.stringify([kept]));
  });

  it('are dropped if the record names several files', () => {
    expect(read({ file_name: 'a.htm', size: 9, attachments: [{ name: 'b.htm', size: 3 }] }).files).toEqual([
      { ...mine, file_name: 'a.htm' },
      { ...mine, file_name: 'b.htm', name: 'b.htm', size: 3 },
    ]);
  });

  it.each<[size: number | undefined, record: object]>([
    ...['size', 'file_size', 'fileSize', 'size_bytes', 'bytes', 'length', 'content_length'].map(
      (member): [number, object] => [12, { [member]: '12' }],
    ),
    [0, { size: 0, bytes: 9 }],
    [9, { size: null, bytes: 9 }],
    ...[-1, 1.5, 2 ** 53, '', ' 12', '12 ', '-12', '1.5', [12], true].map((size): [undefined, object] => [
      undefined,
      { size },
    ]),
  ])('give the size %j: %j', (size, record) => {
    expect(listedSize({ ...mine, file_name: 'a.htm', ...record })).toBe(size);
  });

  it('cannot pollute a prototype', () => {
    const [file] = read('[{"file_name":"a.htm","__proto__":{"polluted":true,"file_name":"b"}}]').files;
    expect(file?.file_name).toBe('a.htm');
    expect(JSON.stringify(file)).toContain('"__proto__":{"polluted":true');
    expect(Object.getPrototypeOf(file)).toBe(Object.prototype);
  });
});

it.each<[what: string, summary: string, body: string]>([
  ['an empty response', 'an empty response', ' \n'],
  ['an HTML page', 'an HTML page: Sign in', '<!DOCTYPE html><html><title>Sign in</title></html>'],
  ['an HTML page without a head', 'an HTML page: Sign in', ' \n<Body>Sign in'],
  ['text', 'not JSON: a.htm', 'a.htm\nb.htm'],
  ['XML', 'not JSON: a', '<?xml version="1.0"?><files><file>a</file></files>'],
  ['truncated JSON', 'not JSON: ["a.htm", "b', '["a.htm", "b'],
  ['a number', 'JSON without a list of file names: 5', '5'],
  ['a string', 'JSON without a list of file names: a.htm', '"a.htm"'],
  ['an object without members', 'JSON without a list of file names: its members are (none)', '{}'],
  ['a message', 'JSON without a list of file names: quota spent', '{"message":"quota spent"}'],
  ['null in a container', 'JSON without a list of file names: its members are data', '{"data":null}'],
  ['metadata', 'JSON without a list of file names: its members are tags', '{"tags":["10-K"]}'],
  ['only a name', 'JSON without a list of file names: its members are name', '{"name":"Acme"}'],
  ['JSON nested too deep', 'JSON nested more than 100 levels deep', '['.repeat(1000) + ']'.repeat(1000)],
])('refuses a response that is not a listing: %s', (_what, summary, body) => {
  const message = `the listing of ${own}: cannot be read: it is ${summary}`;
  const fault = summary.includes('JSON ') ? undefined : 'foreign';
  const hint = expect.stringContaining(fault ? 'base URL' : '"listing" in the config file');
  expect(() => read(body)).toThrow(expect.objectContaining({ code: 'integrity', message, hint, fault }));
});

it.each<[member: string, body: unknown]>([
  ['status', { title: 'No', status: 404, errors: { a: ['b'] } }],
  ['error', { error: 'Quota exceeded', data: [] }],
  ['errors', { errors: [{ code: 5 }], files: ['a.htm'] }],
  ['errorMessage', { errorMessage: 'x', files: ['a.htm'] }],
  ['last_error', { last_error: 'x', files: ['a.htm'] }],
  ['fault', { fault: { code: 5 }, files: ['a.htm'] }],
  ['status', { status: 'Fail', files: [] }],
  ['status', { status: 'failed', files: ['a.htm'] }],
  ['status', { status: '503', files: ['a.htm'] }],
  ['code', { meta: { code: 429 }, files: ['a.htm'] }],
  ['success', { data: { success: false, files: ['a.htm'] } }],
  ['ok', { ok: 'false', files: ['a.htm'] }],
  ['timed_out', hits([hit({ name: 'a.htm' })], { timed_out: true })],
  ['failed', hits([hit({ name: 'a.htm' })], { _shards: { total: 2, failed: 1 } })],
  ['title', { type: 'about:blank', title: 'Bad', detail: 'x', files: ['a.htm'] }],
  ['error', { files: [{ name: 'a.htm' }, { error: 'no access' }] }],
  ['error', { data: { files: { edges: [{ node: { name: 'a.htm' }, error: 'x' }] } } }],
  ['message', { files: [], message: 'no access' }],
  ['detail', { files: null, detail: 'no access' }],
  ['status', { files: [], status: 'pending' }],
])('refuses a response with an error in %s: %j', (member, body) => {
  const message = expect.stringContaining(`cannot be read: it is JSON that reports an error in '${member}'`);
  expect(() => read(body)).toThrow(expect.objectContaining({ code: 'integrity', message }));
});

it.each([{ status: 'ok' }, { status: 200 }, { message: '' }, { total: 0 }, { status: null }])(
  'reads an empty list beside %j',
  (members) => {
    expect(names({ files: [], ...members })).toBe('');
  },
);

it.each<[why: string, body: unknown]>([
  ["'[1]' has no file name, but holds 'b.htm'", [{ name: 'a.htm' }, { path: 'b.htm' }]],
  ["'[1]' has no file name, but holds 'b.htm'", [{ name: 'a.htm' }, { type: 'x', file: { id: 'b.htm' } }]],
  ["'[0]' has no file name, but holds 'https://x/y/b.htm?v=1'", [{ url: 'https://x/y/b.htm?v=1' }, { name: 'a.htm' }]],
  ["'data[0]' has no file name, but holds 'b.htm'", { data: [{ id: 'b.htm', attributes: { size: 3 } }] }],
  ['the list has 2 records and no file name', [{ size: 1 }, null]],
  ["'data' has 1 record and no file name", { data: [{ size: 1 }] }],
  ['the list holds other items than file names or records', ['a.htm', { name: 'b.htm' }]],
  ['the list holds other items than file names or records', ['a.htm', 5]],
  ["'files' holds other items than file names or records", { files: [['a.htm']] }],
  ["the file name of '[1]' is not a text", [{ name: 'a.htm' }, { file_name: 5 }]],
  ["a record has two file names, 'a.htm' and 'b.htm'", [{ file_name: 'a.htm', fileName: 'b.htm' }]],
  ["'files' names files, but holds no list", { files: 5 }],
  ["'files' names files, but holds no list", { files: { count: 5 } }],
  ["'[0].documents' names files, but holds no list", [{ primary_document: 'a.htm', documents: 5 }]],
  ["'images' may be a list of files, too", { files: ['a.htm'], images: [{ name: 'b.jpg' }] }],
  ["'images' may be a list of files, too", { files: ['a.htm'], images: ['b.jpg'] }],
  [
    "'included' may be a list of files, too",
    { data: [{ name: 'a' }], included: [{ id: 1, attributes: { name: 'b' } }] },
  ],
  ["'parts' may be a list of files, too", { files: ['a.htm'], parts: [{ n: 1, of: { document: 'b.htm' } }] }],
  ["'parts' may be a list of files, too", { files: ['a.htm'], parts: [{ n: 1, of: { files: ['b.htm'] } }] }],
  ["'main' may be a file, too", { files: ['a.htm'], main: { file_name: 'b.htm' } }],
  ["'data' may be a file, too", { files: ['a.htm'], data: { name: 'b.htm' } }],
  ["it has the member 'files' twice", '{"files":["a.htm"],"files":["b.htm"]}'],
  ["it has the member '0.name' twice", '[{"name":"a.htm","size":1,"name":"b.htm"}]'],
])('refuses a listing that may be incomplete: %s', (why, body) => {
  const message = `the listing of ${own}: is not certain to be complete: ${why}`;
  const hint = expect.stringContaining('"listing" in the config file');
  expect(() => read(body)).toThrow(expect.objectContaining({ code: 'integrity', message, hint }));
});

it('refuses bytes that are not UTF-8', () => {
  const body = Buffer.from('["\u00fc.htm"]', 'latin1');
  const message = expect.stringContaining('it is not valid UTF-8');
  expect(() => readListing({ body }, accession)).toThrow(expect.objectContaining({ code: 'integrity', message }));
});

it.each([
  [1, 'its one file does not match'],
  [3, 'none of its 3 files matches'],
])('reports that none of %i files matches', (count, why) => {
  const hint = expect.stringContaining('filings list');
  expect(noMatchError(own, count)).toMatchObject({ code: 'not_found', message: expect.stringContaining(why), hint });
});

const files = ['a.htm', 'b.htm'];

describe('a sign of more files', () => {
  it.each<[more: string, members: object]>([
    ['has_more', { has_more: true }],
    ['hasMore', { hasMore: 'true' }],
    ['truncated', { truncated: true }],
    ['isPartial', { isPartial: true }],
    ['next', { next: 'https://x/?page=2' }],
    ['next_page_token', { meta: { next_page_token: 'x' } }],
    ['nextRecordsUrl', { done: true, nextRecordsUrl: '/2' }],
    ['done', { done: false }],
    ['last', { last: false }],
    ['is_last_page', { is_last_page: 'false' }],
    ['_links', { _links: { next: { href: '/2' } } }],
    ['links', { links: { next: '/2' } }],
    ['links', { links: [{ rel: 'self' }, null, { rel: 'next', href: '/2' }] }],
    ['link', { link: [{ relation: 'next', url: '/2' }] }],
    ['@odata.nextLink', { '@odata.nextLink': '/2' }],
    ['has_next', { has_next: true }],
    ['continuationToken', { continuationToken: 'x' }],
    ['cursor', { cursor: 'x' }],
    ['endCursor', { pageInfo: { endCursor: 'x' } }],
    ['LastEvaluatedKey', { LastEvaluatedKey: { id: 1 } }],
    ['incomplete_results', { incomplete_results: true }],
    ['NextMarker', { NextMarker: 'x' }],
    ['remaining', { remaining: 3 }],
    ['has_more', { documents: [{ name: 'a.htm' }, { has_more: true }] }],
  ])('is found as %s in %j', (more, members) => {
    expect(read({ files, ...members }).more).toBe(more);
  });

  it.each<[members: object]>([
    [{ has_more: false, truncated: 0, next: null, nextPage: '', links: { next: { href: null } } }],
    [{ has_more: 'false', truncated: ' 0 ', next: ' ', remaining: 0 }],
    [{ done: true, last: true, complete: 'true' }],
    [{ pageInfo: { hasNextPage: false, endCursor: 'x' } }],
    [{ has_more: false, cursor: 'x' }],
    [{ subtotal_pages: 2, evermore: 1, more_about: 'x', next_filing_date: '2025-01-01' }],
    [{ documents: [{ name: 'a.htm', next: 'b.htm' }] }],
  ])('is not found in %j', (members) => {
    expect(read({ files, ...members }).more).toBeUndefined();
  });

  it.each<[link: string, more: boolean]>([
    ['<https://x/?p=2>; rel="next"', true],
    ['</1>; rel=prev, </3>; rel=next', true],
    ['</3>; title="x"; rel="last next"', true],
    ['</3>; rel = next', true],
    ['</3>; rel="next last"', true],
    ['</next>; rel="prev"', false],
  ])('is found in the Link header only as rel=next: %s', (link, more) => {
    expect(read(files, link).more).toBe(more ? 'Link: rel="next"' : undefined);
  });

  it.each<[pageCount: number, members: object]>([
    [2, { page: 1, total_pages: 2 }],
    [3, { meta: { pages: '3' } }],
    [4, { last_page: 4 }],
    [0, { page: 2, page_size: 20 }],
  ])('includes a count of %i pages: %j', (pageCount, members) => {
    expect(read({ files, ...members }).pageCount).toBe(pageCount);
  });

  it.each<[total: number, members: object]>([
    [3, { total: 3 }],
    [3, { pagination: { total_count: '3' } }],
    [3, { count: 3 }],
    [3, { file_count: 3 }],
    [3, { numFound: 3 }],
    [1234, { total: '1,234' }],
    [3, { '@odata.count': 3 }],
    [3, { meta: { total: { value: 3 } } }],
    [4, { meta: { total: { value: 3, relation: 'gte' } } }],
  ])('includes a total of %i: %j', (total, members) => {
    expect(read({ files, ...members }).totals).toEqual([{ path: '', total, records: 2 }]);
  });

  it.each([
    { total: 'many', year: 2024, discount: 3, total_size: 3 },
    { file_number: 5, number: 7, account: 3 },
  ])('includes none of the numbers in %j', (members) => {
    expect(read({ files, ...members }).totals).toEqual([]);
  });

  it('includes the number of records beside each total', () => {
    const body = { htm: { total: 3, files: ['a.htm', 'b.htm'] }, xml: { total: 1, files: ['c.xml', 'd.xml'] } };
    expect(read(body).totals).toEqual([
      { path: 'htm', total: 3, records: 2 },
      { path: 'xml', total: 1, records: 2 },
    ]);
  });
});

describe('the records of a listing', () => {
  it.each<[records: number, body: unknown]>([
    [2, { filing: { name: 'Company', primary_document: 'c.htm' }, documents: files }],
    [2, { primary_document: 'a.htm', documents: files }],
    [1, { primary_document: 'a.htm', items: ['2.02', '9.01'] }],
    [4, [{ name: 'a.htm' }, { ...theirs, name: 'b.htm' }, { name: null }, null]],
    [3, ['a.htm', 'a.htm', 'a.htm']],
  ])('number %i, including those of other filings and those without a name: %j', (records, body) => {
    expect(read(body).records).toBe(records);
  });

  it('have a key that depends only on their names, order and filings', () => {
    expect(read(['a', 'b']).key).toBe(read([{ name: 'a', at: 5 }, { name: 'b' }]).key);
    expect(read(['a', 'b']).key).not.toBe(read(['b', 'a']).key);
    expect(read(['a', 'b']).key).not.toBe(read(['a,b']).key);
    expect(read([{ name: 'a' }]).key).not.toBe(read([{ ...theirs, name: 'a' }]).key);
  });
});

it.each<[isPrimaryOnly: boolean, body: unknown]>([
  [true, { ...mine, primary_document: 'a.htm' }],
  [
    true,
    [
      { ...mine, primary_document: 'a.htm' },
      { ...theirs, name: 'b.htm' },
    ],
  ],
  [true, { primary_document: 'a.htm', files: [] }],
  [false, { primary_document: 'a.htm', files: ['b.htm'] }],
  [false, [{ primary_document: 'a.htm', name: 'b.htm' }]],
  [false, { file_name: 'a.htm' }],
])('isPrimaryOnly is %j for %j', (isPrimaryOnly, body) => {
  expect(read(body).isPrimaryOnly).toBe(isPrimaryOnly);
});

/** JSON data that counts how often one of its values is read. */
function counted(json: object) {
  let reads = 0;
  const wrap = (value: unknown): unknown =>
    typeof value !== 'object' || value === null
      ? value
      : new Proxy(value, {
          get(target, name) {
            reads += 1;
            return wrap(Reflect.get(target, name));
          },
        });
  return { value: wrap(json), reads: () => reads };
}

const around = (levels: number, member: string, inner: unknown) =>
  Array.from({ length: levels }).reduce<object>((value) => ({ [member]: value }), Object(inner));

it.each<[shape: string, make: (items: readonly object[]) => object]>([
  ['objects in a nest of data', (items) => around(10, 'data', items)],
  ['objects in a nest of any member', (items) => around(90, 'x', items)],
  ['lists in a nest of items', (items) => around(10, 'items', Array(items.length).fill([]))],
  ['many members', (items) => around(10, 'results', Object.fromEntries(items.map((item, i) => [`m${i}`, item])))],
  ['many nests in a list', (items) => items.map(() => around(10, 'data', {}))],
  ['names with lists beside them', (items) => ({ name: 'Company', ...items.map(() => [{}, 'x']) })],
  ['nameless records in a nest of data', (items) => ({ files: items.map(() => around(20, 'data', { type: 'x' })) })],
])('the number of reads grows no faster than the data: %s', (_shape, make) => {
  const reads = (count: number) => {
    const data = counted(make(Array.from({ length: count }, () => ({}))));
    findRecords(data.value, accession);
    return data.reads();
  };
  expect(reads(600)).toBeLessThan(12 * reads(60));
});

const FILE = '"?"';
const MEMBERS =
  'files file_names documents graphics data results records items value content hits docs directory item edges node _embedded attributes _source filing filings x images main meta included total status message'.split(
    ' ',
  );

it('either returns every file name of a random response or refuses it', () => {
  const named = fc.constantFrom('file_name', 'fileName', 'name', 'document', 'primary_document');
  const member = fc.constantFrom(...MEMBERS);
  const { object } = fc.letrec((tie) => ({
    list: fc.oneof(fc.array(fc.constant(FILE), { maxLength: 3 }), fc.array(tie('record'), { maxLength: 3 })),
    record: fc.oneof(
      { weight: 4, arbitrary: named.map((name) => ({ [name]: FILE, size: 3 })) },
      fc.constantFrom({ node: { name: FILE } }, { id: 1, attributes: { file_name: FILE } }, { type: 'x' }, null),
      fc.tuple(member, tie('value')).map(([name, value]) => ({ ...mine, [name]: value })),
      fc.tuple(member, tie('value')).map(([name, value]) => ({ ...mine, [name]: value, primary_document: FILE })),
    ),
    value: fc.oneof({ maxDepth: 5 }, { weight: 2, arbitrary: tie('list') }, tie('object'), fc.constant(null)),
    object: fc.dictionary(member, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  }));
  const outcomes = { complete: 0, refused: 0 };
  fc.assert(
    fc.property(object, (json) => {
      let count = 0;
      const text = JSON.stringify(json).replaceAll(JSON.stringify(FILE), () => `"f${count++}.htm"`);
      try {
        const { files, more, totals } = read(text);
        if (more !== undefined || totals.some(({ total, records }) => total > records)) return;
        expect(new Set(files.map((file) => file.file_name)).size).toBe(count);
        if (count > 0) outcomes.complete += 1;
      } catch (error) {
        if (!(error instanceof FilingsError)) throw error;
        expect(error.code).toBe('integrity');
        outcomes.refused += 1;
      }
    }),
    { numRuns: 3000 },
  );
  // Both outcomes occur in more than a hundred cases.
  expect(outcomes.complete).toBeGreaterThan(100);
  expect(outcomes.refused).toBeGreaterThan(100);
});
