import { describe, expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { type ListingDescription, readDescribedListing } from '../../src/service/described-listing.ts';

const ACCESSION = parseAccession('0001234567-24-000001');
const ADDRESS = new URL(`https://h.example/v1/filings?accession_no=${ACCESSION}&own=1`);

/** Reads the pages in turn. A number is an error with this code's status. Returns the listing and what was requested. */
async function read(description: ListingDescription, pages: readonly unknown[]) {
  const asked: string[] = [];
  const listing = await readDescribedListing(description, ACCESSION, ADDRESS, async ({ pathname, search }) => {
    const page = pages[asked.length] ?? pages.at(-1);
    asked.push((pathname + search).replace(`/v1/filings${ADDRESS.search}`, ''));
    if (page instanceof Error) throw page;
    return { body: Buffer.from(typeof page === 'string' ? page : JSON.stringify(page)), headers: {} };
  });
  return { ...listing, names: listing.files.map((file) => file.file_name), asked };
}

describe('a described listing', () => {
  test.each<{ what: string; description: ListingDescription; pages: unknown[]; names: string[]; asked: string[] }>([
    { what: 'one response', description: {}, pages: [['a', 'b']], names: ['a', 'b'], asked: [''] },
    {
      what: 'expressions',
      description: { files: 'd.x', name: 'f.n', total: 'd.t' },
      pages: [{ d: { x: [{ f: { n: 'a' } }, { f: {} }, 'b'], t: '3' } }],
      names: ['a', 'b'],
      asked: [''],
    },
    {
      what: 'pages until an empty one',
      description: { page: 'p' },
      pages: [['a'], ['b'], []],
      names: ['a', 'b'],
      asked: ['&p=1', '&p=2', '&p=3'],
    },
    {
      what: 'pages from 0 until the total is reached',
      description: { files: 'f', page: 'p', firstPage: 0, total: 't' },
      pages: [{ f: ['a'], t: 2 }, { f: ['b'] }],
      names: ['a', 'b'],
      asked: ['&p=0', '&p=1'],
    },
    {
      what: 'offsets until there is no more',
      description: { files: 'f', offset: 'o', more: 'm', query: { n: '2' } },
      pages: [
        { f: ['a', 'b'], m: true },
        { f: ['c'], m: false },
      ],
      names: ['a', 'b', 'c'],
      asked: ['&n=2&o=0', '&n=2&o=2'],
    },
    {
      what: 'addresses with the parameters that they lack',
      description: { files: 'f', next: 'n', query: { size: '1' } },
      pages: [
        { f: ['a'], n: '/2' },
        { f: ['b'], n: '?own=1&size=1&p=3' },
        { f: ['c'], n: null },
      ],
      names: ['a', 'b', 'c'],
      asked: ['&size=1', '/2?own=1&size=1', '/v1/filings?own=1&size=1&p=3'],
    },
    {
      what: 'cursors',
      description: { files: 'f', next: 'n', cursor: 'c' },
      pages: [{ f: ['a'], n: 7 }, { f: ['b'], n: 'x&y' }, { f: ['c'] }],
      names: ['a', 'b', 'c'],
      asked: ['', '&c=7', '&c=x%26y'],
    },
    {
      what: 'addresses until there is no more',
      description: { files: 'f', next: 'n', more: 'm' },
      pages: [
        { f: ['a'], n: '/2', m: 1 },
        { f: [], n: '/3', m: 1 },
        { f: ['b'], n: '/4', m: 0 },
      ],
      names: ['a', 'b'],
      asked: ['', '/2?own=1', '/3?own=1'],
    },
  ])('is read by $what', async ({ description, pages, names, asked }) => {
    expect(await read(description, pages)).toMatchObject({ names, asked, pages: asked.length });
  });

  test.each([[null], [false], [0], [''], [[]], [{}], ['false'], ['0'], ['null']])(
    'ends with the first page on which more is %j',
    async (more) => {
      const description = { files: 'f', page: 'p', more: 'm' };
      expect((await read(description, [{ f: ['a'], m: 'yes' }, { f: ['b'], m: more }, 'never asked'])).pages).toBe(2);
    },
  );

  test('keeps all members of its records, and drops records of other filings', async () => {
    const record = { file: { name: 'a' }, size: 7 };
    const { files, records } = await read({ name: 'file.name' }, [[record, { ...record, accession: 123456724000002 }]]);
    expect({ files, records }).toEqual({
      files: [{ accession_no: ACCESSION, file_name: 'a', ...record }],
      records: 2,
    });
  });
});

describe('a described listing is an error', () => {
  const PAGED = { files: 'f', page: 'p' };
  test.each<{ reason: string; description: ListingDescription; pages: unknown[] }>([
    { reason: 'listing.files (x) selects no array', description: { files: 'x' }, pages: [{}] },
    { reason: 'listing.files (@) selects no array', description: {}, pages: [{ f: ['a'] }] },
    { reason: 'record 1 has no name in listing.name (n), but 1', description: { name: 'n' }, pages: [[{ n: 1 }]] },
    { reason: 'but ""', description: {}, pages: [[{ file_name: '' }]] },
    { reason: 'record 2 has no name in listing.name (file_name), but 7', description: {}, pages: [['a', 7]] },
    { reason: 'but null', description: {}, pages: [[null]] },
    { reason: 'abs(f)', description: { files: 'abs(f)' }, pages: [{ f: 'x' }] },
    {
      reason: 'it has 1 record, but its total is 3',
      description: { files: 'f', total: 't' },
      pages: [{ f: ['a'], t: 3 }],
    },
    {
      reason: 'it has 4 records, but its total is 3',
      description: { ...PAGED, total: 't' },
      pages: [
        { f: ['a', 'b'], t: 3 },
        { f: ['c', 'd'], t: 3 },
        { f: ['e', 'g'], t: 3 },
      ],
    },
    { reason: 'listing.total selects no number', description: { total: 't' }, pages: [['a']] },
    {
      reason: 'listing.more (m) says that there is more, but there is no next page',
      description: { files: 'f', more: 'm' },
      pages: [{ f: ['a'], m: 1 }],
    },
    { reason: 'page 2 begins with the same record as an earlier page', description: { page: 'p' }, pages: [['a']] },
    { reason: "'b' comes on two pages", description: { page: 'p' }, pages: [['a', 'b'], ['c', 'b'], []] },
    {
      reason: 'it has 2 records, but its total is 3',
      description: { ...PAGED, total: 't' },
      pages: [
        { f: ['a'], t: 3 },
        { f: ['b'], t: 2 },
      ],
    },
    {
      reason: 'the next page is at another origin, https://evil.example',
      description: { files: 'f', next: 'n' },
      pages: [{ f: ['a'], n: 'https://evil.example/2' }],
    },
    ...[true, 7, { a: 1 }, 'http://['].map((next) => ({
      reason: `listing.next is ${JSON.stringify(next)}, which is no address`,
      description: { files: 'f', next: 'n' },
      pages: [{ f: ['a'], n: next }],
    })),
    { reason: 'which is no cursor', description: { files: 'f', next: 'n', cursor: 'c' }, pages: [{ f: [], n: [1] }] },
  ])('if $reason', async ({ reason, description, pages }) => {
    await expect(read(description, pages)).rejects.toMatchObject({
      code: 'integrity',
      reason: 'may be incomplete',
      quote: expect.stringContaining(reason),
      hint: expect.stringContaining('filings config get listing'),
    });
  });

  test.each<{ description: ListingDescription; message: string }>([
    { description: { page: 'p', offset: 'o' }, message: 'listing: page and offset cannot be used together' },
    { description: { cursor: 'c' }, message: 'listing: cursor requires next' },
  ])('of the configuration, with $description', async ({ description, message }) => {
    await expect(read(description, [['a']])).rejects.toMatchObject({ code: 'config', message });
  });

  test('if there are over 10,000 pages', async () => {
    let count = 0;
    const endless = readDescribedListing({ page: 'p' }, ACCESSION, ADDRESS, async () => {
      count += 1;
      return { body: Buffer.from(`["${count}"]`), headers: {} };
    });
    await expect(endless).rejects.toThrow('over 10,000 pages');
    expect(count).toBe(10_000);
  });

  test.each<{ code: 'not_found' | 'rejected' | 'auth' | 'temporary'; first: string; later: string }>([
    { code: 'not_found', first: 'not_found', later: 'integrity' },
    { code: 'rejected', first: 'rejected', later: 'integrity' },
    { code: 'auth', first: 'auth', later: 'auth' },
    { code: 'temporary', first: 'temporary', later: 'temporary' },
  ])('with $code, which is $first on the first page and $later on a later one', async ({ code, first, later }) => {
    const error = new FilingsError(code, '4xx');
    await expect(read({ page: 'p' }, [error])).rejects.toMatchObject({ code: first });
    await expect(read({ page: 'p' }, [['a'], error])).rejects.toMatchObject({ code: later });
  });
});
