import { describe, expect, it } from 'vitest';
import { parseAccession } from '../../src/service/accession.ts';
import { expressionFault, readDescribedListing } from '../../src/service/described-listing.ts';
import type { ListingDescription } from '../../src/service/listing.ts';

const accessionText = '0001234567-24-000001';
const accession = parseAccession(accessionText);

function read(body: unknown, description: ListingDescription, link?: string) {
  return readDescribedListing({ body: Buffer.from(JSON.stringify(body)), link }, accession, description);
}

const names = (body: unknown, description: ListingDescription) =>
  read(body, description)
    .files.map((file) => file.file_name)
    .join(' ');

it.each<[what: string, expected: string, body: unknown, description: ListingDescription]>([
  ['records with file_name', 'a.htm', { rows: [{ file_name: 'a.htm' }] }, { files: 'rows' }],
  ['names inside records', 'a.htm', { rows: [{ doc: { title: 'a.htm' } }] }, { files: 'rows', name: 'doc.title' }],
  ['an array of strings', 'a.htm b', { rows: ['a.htm', 'b'] }, { files: 'rows' }],
  ['the whole response', 'a.htm', [{ n: 'a.htm' }], { name: 'n' }],
  ['two lists', 'a b', { x: [{ n: 'a' }], y: [{ n: 'b' }] }, { files: '[x, y][]', name: 'n' }],
  [
    'records beside others that could be files',
    'a',
    { x: [{ n: 'a' }], y: [{ name: 'b.htm' }] },
    { files: 'x', name: 'n' },
  ],
  ['records without a name', 'a', [{ n: 'a' }, { n: null }, null, {}], { name: 'n' }],
  ['records of another filing', 'a', [{ n: 'a' }, { accession_no: '0001234567-24-000002', n: 'b' }], { name: 'n' }],
  ['an empty list', '', { x: [] }, { files: 'x' }],
])('reads %s as described', (_what, expected, body, description) => {
  expect(names(body, description)).toBe(expected);
});

it('keeps all members of a record', () => {
  expect(read([{ n: 'a', size: 3 }], { name: 'n' }).files).toEqual([
    { accession_no: accessionText, file_name: 'a', n: 'a', size: 3 },
  ]);
});

it.each<[why: string, body: unknown, description: ListingDescription]>([
  ['listing.files (rows) selects no array', { files: [] }, { files: 'rows' }],
  ['listing.files (rows) selects no array', { rows: { a: 1 } }, { files: 'rows' }],
  ['listing.files (rows) selects other items than texts and objects', { rows: [5] }, { files: 'rows' }],
  ['listing.name (n) is not a text in every record', [{ n: 'a' }, { n: 5 }], { name: 'n' }],
  ['2 records, none with a name at listing.name', [{ n: 'a' }, { n: 'b' }], { name: 'm' }],
  ['length(rows): Invalid type', { rows: [{ file_name: 'a' }] }, { files: 'rows', total: 'length(rows[0].x)' }],
])('refuses a response that is not as described: %s', (why, body, description) => {
  const message = expect.stringContaining(why.replace('length(rows)', 'length(rows[0].x)'));
  expect(() => read(body, description)).toThrow(expect.objectContaining({ code: 'integrity', message }));
});

it.each([
  ['error', { rows: [{ n: 'a' }], error: 'x' }],
  ['status', { rows: [{ n: 'a' }], meta: { status: 'failed' } }],
  ['message', { rows: [], message: 'x' }],
])('refuses a response with an error in %s', (member, body) => {
  const message = expect.stringContaining(`reports an error in '${member}'`);
  expect(() => read(body, { files: 'rows', name: 'n' })).toThrow(expect.objectContaining({ message }));
});

it('does not look for errors in the records', () => {
  expect(names({ rows: [{ n: 'a', error: 'x', status: 'failed' }] }, { files: 'rows', name: 'n' })).toBe('a');
});

describe('a sign of more files', () => {
  const rows = [{ n: 'a' }];
  const description = { files: 'rows', name: 'n' };

  it.each<[what: string, more: string | undefined, body: object, described: ListingDescription]>([
    ['`more` selects a value', 'm.next', { rows, m: { next: '/2' } }, { more: 'm.next' }],
    ['`more` selects null', undefined, { rows, m: { next: null } }, { more: 'm.next' }],
    ['another member beside a described `more`', undefined, { rows, has_more: true, pages: 3 }, { more: 'm.next' }],
    ['another member beside a described `total`', undefined, { rows, has_more: true, n: 1 }, { total: 'n' }],
    ['a usual member without a description of either', 'has_more', { rows, has_more: true }, {}],
    ['the cursor of an edge', undefined, { rows: [{ cursor: 'x', node: rows[0] }] }, { files: 'rows[].node' }],
  ])('is read as the description says: %s', (_what, more, body, described) => {
    expect(read(body, { ...description, ...described }).more).toBe(more);
  });

  it('is read from the Link header unless `more` is described', () => {
    const link = '</2>; rel=next';
    expect(read({ rows }, description, link).more).toBe('Link: rel="next"');
    expect(read({ rows }, { ...description, more: 'x' }, link).more).toBeUndefined();
  });

  it('includes a total, which is exact only if it is described', () => {
    expect(read({ rows, of: '1' }, { ...description, total: 'of' }).totals).toEqual([
      { path: '', total: 1, records: 1, isExact: true },
    ]);
    expect(read({ rows, page: { total: 5 } }, description).totals).toEqual([
      { path: '', total: 5, records: 1, isExact: false },
    ]);
  });
});

it.each(['a.b', 'files[]', '[x, y][]', 'length(@)', "rows[?kind == 'x']", 'sort_by(rows, &name)'])(
  'accepts the expression %s',
  (expression) => {
    expect(expressionFault(expression)).toBeUndefined();
  },
);

it.each(['', 'files[', 'a..b', 'nothing(@)', 'length()', '"open'])('refuses the expression %j', (expression) => {
  expect(expressionFault(expression)).toEqual(expect.any(String));
});
