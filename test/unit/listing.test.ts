import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { readListing } from '../../src/service/listing/listing.ts';
import { findRecords } from '../../src/service/listing/search.ts';

const asked = '0001234567-24-000001';
const other = '0001234567-24-000002';
const accession = parseAccession(asked);

function readPage(body: unknown, more: { link?: string; page?: number } = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return readListing({ body: Buffer.from(text), ...more }, accession);
}

function read(body: unknown) {
  return readPage(body).files;
}

function names(body: unknown): string[] {
  return read(body).map((file) => file.file_name);
}

const mine = { accession_no: asked };
const theirs = { accession_no: other };

describe('the names of a listing', () => {
  it.each<[what: string, body: unknown, expected: string[]]>([
    ['an array of strings', ['a.htm', 'b.xml'], ['a.htm', 'b.xml']],
    [
      'each naming',
      ['file_name', 'fileName', 'filename', 'name', 'document', 'primary_document'].map((m, i) => ({
        [m]: `${i}.htm`,
      })),
      ['0.htm', '1.htm', '2.htm', '3.htm', '4.htm', '5.htm'],
    ],
    [
      'the order of preference',
      [{ primary_document: 'p', document: 'd', name: 'n', filename: 'f', fileName: 'F', file_name: 'a.htm' }],
      ['a.htm'],
    ],
    ['a name that is null', [{ file_name: null, name: 'a.htm' }], ['a.htm']],
    ['nothing', [], []],
    ['an array in an object', { files: ['a.htm'] }, ['a.htm']],
    ['objects in an object', { total: 2, items: [{ name: 'a.htm' }, { name: 'b.htm' }] }, ['a.htm', 'b.htm']],
    ['any member', { whatever: [{ document: 'a.htm' }] }, ['a.htm']],
    ['strings in any member', { links: ['self'], whatever: ['a.htm'] }, ['a.htm']],
    ['an empty array in an object', { data: [], meta: { name: 'listing service' } }, []],
    ['null for an empty list', { files: null }, []],
    ['empty items', { items: [], total: 0 }, []],
    ['an empty telling member before a full one', { items: [], documents: ['a.htm'] }, ['a.htm']],
    ['nested deeper', { data: { filing: { ...mine, files: [{ file_name: 'a.htm' }] } } }, ['a.htm']],
    ['a single object', { ...mine, file_name: 'a.htm', size: 3 }, ['a.htm']],
    [
      'a single filing with its primary document',
      { ...mine, form: '8-K', items: ['2.02'], primary_document: 'a.htm' },
      ['a.htm'],
    ],
    ['a filing with both', { ...mine, primary_document: 'a.htm', documents: ['a.htm', 'b.htm'] }, ['a.htm', 'b.htm']],
    ['a primary document beside a company', [{ primary_document: 'a.htm', filer: { name: 'Company' } }], ['a.htm']],
    ['a name beside links', [{ name: 'a.htm', links: [{ name: 'self' }] }], ['a.htm']],
    ["a company's name beside files", { name: 'Company', files: ['a.htm'] }, ['a.htm']],
    ["a company's name beside filings", { name: 'Company.com', filings: [{ ...mine, files: ['a.htm'] }] }, ['a.htm']],
    [
      "a directory's name beside its entries",
      { directory: { name: '/Archives/1', item: [{ name: 'a.htm', size: '' }] } },
      ['a.htm'],
    ],
    [
      'filings with files of their own',
      [
        { ...mine, files: ['a.htm'] },
        { ...theirs, files: ['b.htm'] },
        { ...mine, files: [{ name: 'c.htm' }] },
      ],
      ['a.htm', 'c.htm'],
    ],
    ['duplicates', ['a.htm', 'b.htm', 'a.htm', { name: 'b.htm' }], ['a.htm', 'b.htm']],
    ['documents without a name', [{ name: '' }, { name: null, size: 3 }, '', { name: 'a.htm' }], ['a.htm']],
    ['only documents without a name', [{ file_name: null }], []],
    ['odd entries', [null, 5, true, [], 'a.htm', {}], ['a.htm']],
    ['two lists', { documents: ['a.htm'], attachments: [{ name: 'b.htm' }] }, ['a.htm', 'b.htm']],
    [
      'lists of any names',
      { main: [{ file_name: 'a.htm' }], x: [{ filename: 'b.htm' }], tags: ['10-K'] },
      ['a.htm', 'b.htm'],
    ],
    [
      'a file and its attachments',
      { file_name: 'a.htm', attachments: ['b.htm'], links: [{ name: 'self' }] },
      ['a.htm', 'b.htm'],
    ],
    ['an error that is none', { error: null, errors: [], status: 'ok', data: ['a.htm'] }, ['a.htm']],
    [
      'a name of 1000 bytes, and none of more',
      [`${'é'.repeat(498)}.htm`, `${'é'.repeat(498)}.html`],
      [`${'é'.repeat(498)}.htm`],
    ],
    ['a byte-order mark', '\ufeff["a.htm"]', ['a.htm']],
    [
      'names that need care',
      ['../x', 'a\nb', 'constructor', '__proto__'],
      ['../x', 'a\nb', 'constructor', '__proto__'],
    ],
  ])('%s', (_what, body, expected) => {
    expect(names(body)).toEqual(expected);
  });
});

describe('records of another filing', () => {
  it.each(['accession_no', 'accession_number', 'accessionNo', 'accessionNumber', 'accession'])(
    'are told by %s',
    (member) => {
      const records = [
        { [member]: other, name: 'b.htm' },
        { [member]: asked, name: 'a.htm' },
        { [member]: asked.replaceAll('-', ''), name: 'c.htm' },
        { [member]: other.replaceAll('-', ''), name: 'd.htm' },
        { [member]: null, name: 'e.htm' },
        { [member]: Number(asked.replaceAll('-', '')), name: 'f.htm' },
        { [member]: Number(other.replaceAll('-', '')), name: 'g.htm' },
      ];
      expect(names(records)).toEqual(['a.htm', 'c.htm', 'e.htm', 'f.htm']);
    },
  );

  it.each<[what: string, body: unknown]>([
    ['a single one', { ...theirs, file_name: 'b.htm' }],
    ['one with files', { ...theirs, files: ['b.htm'] }],
    ['one around its files', { data: { ...theirs, files: [{ name: 'b.htm' }] } }],
    ['one beside its files', { filing: theirs, files: ['b.htm'] }],
    ['many', { filings: [{ ...theirs, name: 'b.htm' }] }],
    ['two numbers, one of them ours', { ...mine, accession_number: other, name: 'b.htm' }],
  ])('are dropped: %s', (_what, body) => {
    expect(names(body)).toEqual([]);
  });
});

describe('what the service said of a file', () => {
  it('stays with it, after the two members that are always there', () => {
    const [file] = read([{ size: 3, type: 'EX-1', accessionNo: asked, name: 'a.htm', nested: { a: [1] } }]);
    expect(Object.entries(file ?? {})).toEqual([
      ['accession_no', asked],
      ['file_name', 'a.htm'],
      ['size', 3],
      ['type', 'EX-1'],
      ['accessionNo', asked],
      ['name', 'a.htm'],
      ['nested', { a: [1] }],
    ]);
  });

  it('is nothing where it may be of several files', () => {
    expect(read({ file_name: 'a.htm', size: 9, attachments: [{ name: 'b.htm', size: 3 }] })).toEqual([
      { accession_no: asked, file_name: 'a.htm' },
      { accession_no: asked, file_name: 'b.htm', name: 'b.htm', size: 3 },
    ]);
  });

  it('can not reach a prototype', () => {
    const [file] = read('[{"file_name":"a.htm","__proto__":{"polluted":true,"file_name":"b"}}]');
    expect(file?.file_name).toBe('a.htm');
    expect(JSON.stringify(file)).toContain('"__proto__":{"polluted":true');
    expect(Object.getPrototypeOf(file)).toBe(Object.prototype);
    expect(names('[{"__proto__":{"file_name":"b.htm"}},"a.htm"]')).not.toContain(undefined);
  });
});

describe('what can not be read', () => {
  it.each<[what: string, body: string, saw: RegExp]>([
    ['nothing', '', /it is an empty answer$/],
    ['blanks', ' \n', /it is an empty answer$/],
    ['HTML', '<!DOCTYPE html><html><title>Sign in</title></html>', /it is an HTML page: Sign in$/],
    ['XML', '<?xml version="1.0"?><files><file>a</file></files>', /it is not JSON: a$/],
    ['text', 'a.htm\nb.htm', /it is not JSON: a\.htm$/],
    ['broken JSON', '["a.htm", "b', /it is not JSON: \["a\.htm", "b$/],
    ['a number', '5', /it is not a list: 5$/],
    ['null', 'null', /it is not a list: null/],
    ['a string', '"a.htm"', /it is not a list: a\.htm$/],
    ['an empty object', '{}', /it is an object without members/],
    ['an error', '{"error":"bad key"}', /it is an object with the members error, which reports an error: bad key$/],
    ['an error of no text', '{"error":{"code":1}}', /it is an object with the members error, which reports an error$/],
    [
      'an error beside an empty list',
      '{"error":"Quota exceeded","data":[]}',
      /it is an object with the members error, data, which reports an error: Quota exceeded$/,
    ],
    [
      'an error beside files',
      '{"errors":[{"code":5}],"files":["a.htm"]}',
      /members errors, files, which reports an error$/,
    ],
    ['no success', '{"data":{"success":false,"files":[]}}', /members data, which reports an error$/],
    ['a message', '{"message":"quota spent","status":9}', /members message, status, without file names: quota spent$/],
    ['a problem', '{"title":"No","status":404,"errors":{"a":["b"]}}', /members title, status, errors/],
    ['messages', '{"messages":["a.htm"]}', /members messages/],
    ['numbers', '[1,2,null]', /it is an array of 3, without file names$/],
    ['unnamed objects', '[{"size":1}]', /it is an array of 1, without/],
    ['a deep nest', '['.repeat(100_000) + ']'.repeat(100_000), /nested more than 100 levels deep$/],
    ['a deep nest of objects', `${'{"data":'.repeat(50)}["a.htm"]${'}'.repeat(50)}`, /members data/],
  ])('%s', (_what, body, saw) => {
    let caught: unknown;
    try {
      read(body);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(FilingsError);
    const error = caught as FilingsError;
    expect(error.code).toBe('integrity');
    expect(error.message).toMatch(/^the listing of 0001234567-24-000001: cannot be read: /);
    expect(error.message).toMatch(saw);
    expect(error.hint).toMatch(/base URL|filings config check/);
  });
});

describe('a part of a listing', () => {
  const files = ['a.htm', 'b.htm'];
  it.each<[body: unknown, more: string | undefined]>([
    [{ files }, undefined],
    [{ files, has_more: true }, 'has_more'],
    [{ files, hasMore: 'true' }, 'hasMore'],
    [{ files, has_more: false, truncated: 0, next: null, nextPage: '', links: { next: { href: null } } }, undefined],
    [{ files, truncated: true }, 'truncated'],
    [{ files, next: 'https://x/?page=2' }, 'next'],
    [{ files, meta: { next_page_token: 'x' } }, 'next_page_token'],
    [{ files, _links: { next: { href: '/2' } } }, 'next'],
    [{ files, '@odata.nextLink': '/2' }, '@odata.nextLink'],
    [{ files, page: 1, total_pages: 2 }, 'total_pages'],
    [{ files, page: 2, total_pages: 2 }, undefined],
    [{ files: [{ name: 'a.htm', next: 'b.htm' }] }, undefined],
  ])('%j: %j', (body, more) => {
    expect(readPage(body).more).toBe(more);
  });

  it.each<[link: string, more: boolean]>([
    ['<https://x/?p=2>; rel="next"', true],
    ['</1>; rel=prev, </3>; rel=next', true],
    ['</3>; title="x"; rel="last next"', true],
    ['</next>; rel="prev"', false],
  ])('Link: %s', (link, more) => {
    expect(readPage(files, { link }).more).toBe(more ? 'Link: rel="next"' : undefined);
  });

  it.each<[body: unknown, total: number | undefined]>([
    [{ files, total: 3 }, 3],
    [{ files, pagination: { total_count: '3' } }, 3],
    [{ files, total: 'many' }, 0],
    [{ files }, undefined],
  ])('the total of %j is %j', (body, total) => {
    expect(readPage(body).total).toBe(total);
  });

  it('counts records once, whatever the filing says of itself beside them', () => {
    const filing = { ...mine, name: 'Company', primary_document: 'a.htm' };
    expect(readPage({ filing, documents: ['a.htm', 'b.htm'] }).records).toBe(2);
    expect(readPage({ filing, whatever: [{ file_name: 'a.htm' }, { file_name: 'b.htm' }] }).records).toBe(2);
    expect(readPage({ ...filing, items: ['2.02', '9.01'] }).records).toBe(1);
  });

  it('counts records of other filings and without a name; the order is no difference', () => {
    const page = readPage([{ name: 'a.htm' }, { ...theirs, name: 'b.htm' }, { name: null }, 'c.htm']);
    expect([page.records, page.files.length]).toEqual([4, 2]);
    expect(readPage(['a', 'b']).key).toBe(readPage([{ name: 'b' }, { name: 'a', at: 5 }]).key);
    expect(readPage(['a', 'b']).key).not.toBe(readPage(['a,b']).key);
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
  ['objects in a nest of any member', (items) => around(11, 'x', items)],
  [
    'lists in a nest of items',
    (items) =>
      around(
        10,
        'items',
        items.map(() => []),
      ),
  ],
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
      const { files, error } = readOrError(JSON.stringify(json));
      if (error !== undefined) expect(error).toMatchObject({ code: 'integrity' });
      for (const file of files) {
        expect(file.accession_no).toBe(asked);
        expect(file.file_name).not.toBe('');
      }
      reached.files += files.length;
      reached.error += error === undefined ? 0 : 1;
    }),
    { numRuns: 300 },
  );
  // Both cases come up by the dozen.
  expect(reached.files).toBeGreaterThan(10);
  expect(reached.error).toBeGreaterThan(10);
});

function readOrError(body: string): { files: ReturnType<typeof read>; error?: unknown } {
  try {
    return { files: read(body) };
  } catch (error) {
    return { files: [], error };
  }
}
