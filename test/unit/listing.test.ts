import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { listedSize, noMatch, readListing } from '../../src/service/listing.ts';
import { findRecords } from '../../src/service/listing-records.ts';

const asked = '0001234567-24-000001';
const other = '0001234567-24-000002';
const accession = parseAccession(asked);
const mine = { accession_no: asked };
const theirs = { accession_no: other };

function read(body: unknown, link?: string, number?: number) {
  return readListing(typeof body === 'string' ? body : JSON.stringify(body), accession, link, number);
}

function names(body: unknown): string {
  return read(body)
    .files.map((file) => file.file_name)
    .join(' ');
}

describe('the names of a listing', () => {
  const namings = ['file_name', 'fileName', 'filename', 'name', 'document', 'primary_document'];
  it.each<[expected: string, what: string, body: unknown]>([
    ['a.htm b.xml', 'an array of strings', ['a.htm', 'b.xml']],
    ['0 1 2 3 4 5', 'each naming', namings.map((member, index) => ({ [member]: `${index}` }))],
    ['0', 'the preferred one', [Object.fromEntries(namings.map((member, index) => [member, `${index}`]).reverse())]],
    ['a.htm', 'a name that is null', [{ file_name: null, name: 'a.htm' }]],
    ['', 'nothing', []],
    ['a.htm', 'an array in an object', { files: ['a.htm'] }],
    ['a.htm b.htm', 'objects in an object', { total: 2, items: [{ name: 'a.htm' }, { name: 'b.htm' }] }],
    ['a.htm', 'any member', { whatever: [{ document: 'a.htm' }] }],
    ['a.htm README', 'odd names in any member', { x: [{ name: 'a.htm' }, { name: 'README' }] }],
    ['a.htm README', 'odd strings in any member', { x: ['a.htm', 'README'] }],
    ['a.htm', 'files beside addresses', { files: ['a.htm'], links: ['https://x/y.htm'] }],
    ['a.htm', 'strings in any member', { links: ['self'], whatever: ['a.htm'] }],
    ['', 'an empty array in an object', { data: [], meta: { name: 'listing service' } }],
    ['', 'null for an empty list', { files: null }],
    ['', 'empty items', { items: [], total: 0 }],
    ['a.htm', 'an empty list before a full one', { items: [], documents: ['a.htm'] }],
    ['a.htm', 'nested deeper', { data: { filing: { ...mine, files: [{ file_name: 'a.htm' }] } } }],
    ['a.htm', 'a single object', { ...mine, file_name: 'a.htm', size: 3 }],
    ['a', 'a single object by its name', { name: 'a' }],
    ['a.htm', 'a filing', { ...mine, form: '8-K', items: ['2.02'], primary_document: 'a.htm' }],
    ['a.htm b.htm', 'a filing with both', { ...mine, primary_document: 'a.htm', documents: ['a.htm', 'b.htm'] }],
    ['a.htm b.htm', 'a document and attachments', { primary_document: 'a.htm', attachments: ['b.htm'] }],
    ['a.htm', 'a document beside links', { primary_document: 'a.htm', links: [{ name: 'self' }] }],
    ['a.htm b.htm', 'a known list and another', { documents: ['a.htm'], exhibits: [{ name: 'b.htm' }] }],
    ['a.htm b.htm', 'a known list and another of names', { exhibits: ['a.htm'], documents: [{ name: 'b.htm' }] }],
    ['a', 'a name beside a kind of document', [{ name: 'a', document: 'Annual report' }]],
    ['x/4.xml', 'filings of a company', [{ ...mine, name: 'Acme', primary_document: 'x/4.xml' }]],
    ['a.htm', 'a document beside a company', [{ primary_document: 'a.htm', filer: { name: 'Company' } }]],
    [
      'a.htm',
      'a name beside links',
      { x: [{ name: 'a.htm', links: [{ name: 'self' }, { href: 'https://x/y.htm' }] }] },
    ],
    ['a.htm', 'what a record of a file has', [{ file_name: 'a.htm', related: [{ file_name: 'b.htm' }] }]],
    ['README', 'a file beside texts', { filing: { file_name: 'README' }, data: ['10-K'] }],
    ['README b.htm', 'an odd document and attachments', { primary_document: 'README', attachments: ['b.htm'] }],
    ['Report 10-K', 'an odd document beside texts', { filing: { document: 'Report' }, data: ['10-K'] }],
    ['a.htm', "a company's name", { name: 'Company.com', filings: [{ ...mine, files: ['a.htm'] }] }],
    ['a.htm c.htm', 'filings', [{ ...mine, files: ['a.htm'] }, { ...theirs, files: ['b.htm'] }, { files: ['c.htm'] }]],
    ['a.htm b.htm', 'duplicates', ['a.htm', 'b.htm', 'a.htm', { name: 'b.htm' }]],
    ['a.htm', 'documents without a name', [{ name: '' }, { name: null, size: 3 }, '', { name: 'a.htm' }]],
    ['', 'only documents without a name', [{ file_name: null }]],
    ['a.htm', 'odd entries', [null, 5, true, [], 'a.htm', {}]],
    ['a.htm b.htm', 'two lists', { documents: ['a.htm'], attachments: [{ name: 'b.htm' }] }],
    [
      'a.htm b.htm',
      'lists of any names',
      { main: [{ file_name: 'a.htm' }], x: [{ filename: 'b.htm' }], tags: ['10-K'] },
    ],
    ['a.htm b.htm', 'a file in a file', { file_name: 'a.htm', attachments: ['b.htm'], links: [{ name: 'self' }] }],
    ['a.htm', 'an error that is none', { error: null, errors: [], status: 'ok', data: ['a.htm'] }],
    ['../x a\nb constructor __proto__', 'odd names', ['../x', 'a\nb', 'constructor', '__proto__']],
  ])('%j from %s', (expected, _what, body) => {
    expect(names(body)).toBe(expected);
  });
});

describe('records of another filing', () => {
  it.each(['accession_no', 'accession_number', 'accessionNo', 'accessionNumber', 'accession'])(
    'are told by %s',
    (member) => {
      const numbers = [other, asked, asked.replaceAll('-', ''), other.replaceAll('-', ''), null, ' ', ` ${asked} `];
      const records = numbers.map((value, index) => ({ [member]: value, name: `${index}` }));
      expect(names(records)).toBe('1 2 4 5 6');
    },
  );

  it.each<[what: string, body: unknown]>([
    ['a single one', { ...theirs, file_name: 'b.htm' }],
    ['one with files', { ...theirs, files: ['b.htm'] }],
    ['one around its files', { data: { ...theirs, files: [{ name: 'b.htm' }] } }],
    ['one beside its files', { filing: theirs, files: ['b.htm'] }],
    ['two numbers, one of them ours', [{ ...mine, accession_number: other, name: 'b.htm' }]],
  ])('are dropped: %s', (_what, body) => {
    expect(names(body)).toBe('');
  });
});

describe('what the service said of a file', () => {
  it('stays with it, after the two members that are always there', () => {
    const { files } = read([{ size: 3, accessionNo: asked, name: 'a.htm', nested: { a: [1] } }]);
    const said = { ...mine, file_name: 'a.htm', size: 3, accessionNo: asked, name: 'a.htm', nested: { a: [1] } };
    expect(JSON.stringify(files)).toBe(JSON.stringify([said]));
  });

  it('is nothing where it may be of several files', () => {
    expect(read({ file_name: 'a.htm', size: 9, attachments: [{ name: 'b.htm', size: 3 }] }).files).toEqual([
      { ...mine, file_name: 'a.htm' },
      { ...mine, file_name: 'b.htm', name: 'b.htm', size: 3 },
    ]);
  });

  it.each<[size: number | undefined, said: object]>([
    ...['size', 'file_size', 'fileSize', 'size_bytes', 'bytes', 'length', 'content_length'].map(
      (member): [number, object] => [12, { [member]: '12' }],
    ),
    [0, { size: 0, bytes: 9 }],
    [9, { size: null, bytes: 9 }],
    ...[-1, 1.5, 2 ** 53, '', ' 12', '12 ', '-12', '1.5', [12], true].map((size): [undefined, object] => [
      undefined,
      { size },
    ]),
  ])('gives a size of %j: %j', (size, said) => {
    expect(listedSize({ ...mine, file_name: 'a.htm', ...said })).toBe(size);
  });

  it('can not reach a prototype', () => {
    const [file] = read('[{"file_name":"a.htm","__proto__":{"polluted":true,"file_name":"b"}}]').files;
    expect(file?.file_name).toBe('a.htm');
    expect(JSON.stringify(file)).toContain('"__proto__":{"polluted":true');
    expect(Object.getPrototypeOf(file)).toBe(Object.prototype);
  });
});

describe('what can not be read', () => {
  it.each<[body: string, saw: string]>([
    [' \n', 'an empty answer'],
    ['<!DOCTYPE html><html><title>Sign in</title></html>', 'an HTML page: Sign in'],
    [' \n<Body>Sign in', 'an HTML page: Sign in'],
    ['a <html>', 'not JSON: a <html>'],
    ['<?xml version="1.0"?><files><file>a</file></files>', 'not JSON: a'],
    ['a.htm\nb.htm', 'not JSON: a.htm'],
    ['["a.htm", "b', 'not JSON: ["a.htm", "b'],
    ['5', 'JSON without file names: 5'],
    ['"a.htm"', 'JSON without file names: a.htm'],
    ['{}', 'JSON without file names: with the members (none)'],
    ['{"message":"quota spent"}', 'JSON without file names: quota spent'],
    ['{"files":5}', 'JSON without file names: with the members files'],
    ['{"tags":["10-K"]}', 'JSON without file names: with the members tags'],
    ['{"x":["see a.htm there"]}', 'JSON without file names: with the members x'],
    ['{"tags":[]}', 'JSON without file names: with the members tags'],
    ['{"x":[["a.htm"],"y"]}', 'JSON without file names: with the members x'],
    ['{"messages":["a.htm"],"x":1}', 'JSON without file names: with the members messages, x'],
    ['[{"size":1}]', 'JSON without file names: 1 item'],
    ['{"title":"No","status":404,"errors":{"a":["b"]}}', 'JSON that reports an error: No'],
    ['{"error":"Quota exceeded","data":[]}', 'JSON that reports an error: Quota exceeded'],
    ['{"errors":[{"code":5}],"files":["a"]}', 'JSON that reports an error: with the members errors, files'],
    ['{"status":"Fail","files":[]}', 'JSON that reports an error: with the members status, files'],
    ['{"status":"failed","files":[]}', 'JSON that reports an error: with the members status, files'],
    ['{"data":{"success":false,"files":[]}}', 'JSON that reports an error: with the members data'],
    ['['.repeat(100_000) + ']'.repeat(100_000), 'JSON nested more than 100 levels deep'],
  ])('%.60s', (body, saw) => {
    expect(() => read(body)).toThrow(
      expect.objectContaining({
        code: 'integrity',
        message: `the listing of ${asked}: cannot be read: it is ${saw}`,
        hint: expect.stringContaining('base URL'),
        fault: saw.includes('JSON ') ? undefined : 'foreign',
      }),
    );
  });
});

const files = ['a.htm', 'b.htm'];

it.each([
  { default: 1, terror: 1, error_count: 1, errors_fixed: 1 },
  { book: false, okay: false, success: 'false' },
  { status: 'no error', title: 'error' },
  { status: 'failed over' },
])('no failure: %j', (members) => {
  expect(names({ files, ...members })).toBe('a.htm b.htm');
});

it.each([
  [1, 'its one file does not match'],
  [3, 'none of its 3 files matches'],
])('of %i files none is chosen', (count, why) => {
  const hint = expect.stringContaining('filings list');
  expect(noMatch(asked, count)).toMatchObject({ code: 'not_found', message: expect.stringContaining(why), hint });
});

describe('a part of a listing', () => {
  it.each<[more: string | undefined, members: object]>([
    ['has_more', { has_more: true }],
    ['hasMore', { hasMore: 'true' }],
    [undefined, { has_more: false, truncated: 0, next: null, nextPage: '', links: { next: { href: null } } }],
    ['truncated', { truncated: true }],
    ['next', { next: 'https://x/?page=2' }],
    ['next_page_token', { meta: { next_page_token: 'x' } }],
    ['next', { _links: { next: { href: '/2' } } }],
    ['@odata.nextLink', { '@odata.nextLink': '/2' }],
    ['total_pages', { page: 1, total_pages: 2 }],
    [undefined, { has_more: 'false', truncated: ' 0 ', next: ' ' }],
    [undefined, { subtotal_pages: 2, last_page_size: 2, evermore: 1, more_about: 'x' }],
    ['has_next', { has_next: true }],
    ['continuationToken', { continuationToken: 'x' }],
    ['incomplete_results', { incomplete_results: true }],
    ['NextMarker', { NextMarker: 'x' }],
    ['links', { links: [{ rel: 'self' }, null, { rel: 'next', href: '/2' }] }],
    [undefined, { documents: [{ name: 'a.htm', next: 'b.htm' }] }],
  ])('is told by %j in %j', (more, members) => {
    expect(read({ files, ...members }).more).toBe(more);
  });

  it('is no part where it is the last page', () => {
    expect(read({ files, total_pages: 2 }, undefined, 2).more).toBeUndefined();
  });

  it.each<[link: string, more: boolean]>([
    ['<https://x/?p=2>; rel="next"', true],
    ['</1>; rel=prev, </3>; rel=next', true],
    ['</3>; title="x"; rel="last next"', true],
    ['</3>; rel = next', true],
    ['</3>; rel="next last"', true],
    ['</next>; rel="prev"', false],
  ])('Link: %s', (link, more) => {
    expect(read(files, link).more).toBe(more ? 'Link: rel="next"' : undefined);
  });

  it.each<[total: number, members: object]>([
    [3, { total: 3 }],
    [3, { pagination: { total_count: '3' } }],
    [3, { count: 3 }],
    [0, { total: 'many', year: 2024, discount: 3, total_size: 3 }],
    [3, { '@odata.count': 3 }],
    [3, { hits: { total: { value: 3 } } }],
  ])('a total of %i: %j', (total, members) => {
    expect(read({ files, ...members }).total).toBe(total);
  });

  it.each<[records: number, body: unknown]>([
    [2, { filing: { name: 'Company', primary_document: 'a.htm' }, documents: files }],
    [2, { primary_document: 'a.htm', documents: files }],
    [2, { filing: { primary_document: 'a.htm' }, whatever: [{ file_name: 'a.htm' }, { file_name: 'b.htm' }] }],
    [1, { primary_document: 'a.htm', items: ['2.02', '9.01'] }],
    [4, [{ name: 'a.htm' }, { ...theirs, name: 'b.htm' }, { name: null }, 'c.htm']],
  ])('has %i records, of whatever filing: %j', (records, body) => {
    expect(read(body).records).toBe(records);
  });

  it('has one key for the same names, whatever their order', () => {
    expect(read(['a', 'b']).key).toBe(read([{ name: 'b' }, { name: 'a', at: 5 }]).key);
    expect(read(['a', 'b']).key).not.toBe(read(['a,b']).key);
  });
});

/** JSON data that counts how often a value is taken out of it. */
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
])('the work grows no faster than the data: %s', (_shape, make) => {
  const reads = (count: number) => {
    const data = counted(make(Array.from({ length: count }, () => ({}))));
    findRecords(data.value, accession);
    return data.reads();
  };
  expect(reads(600)).toBeLessThan(12 * reads(60));
});

it('reads any JSON to named files or an integrity error', () => {
  const keys = fc.constantFrom('files', 'data', 'name', 'file_name', 'accession_no', 'items', 'x', '__proto__');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom('a.htm', asked, other, '', null, 5),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  const reached = { files: 0, error: 0 };
  fc.assert(
    fc.property(value, (json) => {
      try {
        for (const file of read(JSON.stringify(json)).files) {
          expect(file.accession_no).toBe(asked);
          expect(file.file_name).not.toBe('');
          reached.files += 1;
        }
      } catch (error) {
        if (!(error instanceof FilingsError)) throw error;
        expect(error.code).toBe('integrity');
        reached.error += 1;
      }
    }),
    { numRuns: 300 },
  );
  // Both cases come up by the dozen.
  expect(reached.files).toBeGreaterThan(10);
  expect(reached.error).toBeGreaterThan(10);
});
