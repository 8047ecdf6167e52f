import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { type ListingDescription, readListing } from '../../src/service/listing.ts';
import { type PagingMemory, readAllPages } from '../../src/service/listing-pages.ts';

const accession = parseAccession('0001234567-24-000001');
const names = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `f${from + i}.htm`);
const other = (name: string) => ({ accession_no: '0001234567-24-000002', name });

/** An HTTP error, as the client throws it. */
function httpError(status: number, members: object = { title: 'No' }) {
  const code = status === 404 ? 'not_found' : status === 503 || status === 429 ? 'temporary' : 'rejected';
  return new FilingsError(code, `${status}`, { problem: { ...members, status }, retryable: code === 'temporary' });
}

/** A service: its response to a page number (undefined: none was requested) and a page size, or the error it throws. */
type Service = (page: number | undefined, size: number) => unknown;

interface Options {
  readonly pageSize?: number;
  readonly description?: ListingDescription;
  readonly memory?: PagingMemory;
}

async function read(service: Service, { pageSize, description, memory = {} }: Options = {}) {
  const queries: string[] = [];
  const warnings: string[] = [];
  const listing = await readAllPages({
    ...{ accession, pageSize, description, memory },
    async requestPage(query) {
      const [size, number] = query.map(([, value]) => Number(value));
      queries.push(number === undefined ? '-' : `${number}:${size}`);
      const body = service(number, size ?? 0);
      if (body instanceof Error) throw body;
      return readListing({ body: Buffer.from(JSON.stringify(body)) }, accession);
    },
    warn: (text) => warnings.push(text),
  });
  return { files: listing.files.map((file) => file.file_name), queries: queries.join(' '), warnings, memory };
}

/** A service with pages of at most `cap` records. */
const paged =
  (all: readonly unknown[], { first = 1, cap = 1000 } = {}): Service =>
  (page, requestedSize) => {
    const size = Math.min(requestedSize || cap, cap);
    const number = (page ?? first) - first;
    return number < 0 ? httpError(400) : all.slice(number * size, (number + 1) * size);
  };

describe('with a page size, pages are read', () => {
  const markers: Service = (page = 0) => ({
    files: page > 2 || page < 1 ? [] : names(2, page * 2),
    has_more: page < 3,
  });
  it.each<[what: string, queries: string, files: string[], service: Service]>([
    ['beyond a page that has fewer records', '0:2 1:2 2:2 3:2 4:2', names(5), paged(names(5))],
    ['until a page is empty', '0:2 1:2 2:2 3:2', names(4), paged(names(4))],
    [
      'until a page that follows records is not found',
      '0:2 1:2 2:2 3:2',
      names(4),
      (page = 0) => (page > 0 && page < 3 ? names(2, page * 2 - 2) : httpError(404)),
    ],
    [
      'until a page repeats',
      '0:2 1:2 2:2 3:2 4:2',
      names(6),
      (page = 0) => names(2, Math.min(Math.max(page, 1), 3) * 2 - 2),
    ],
    [
      'until the total is reached',
      '0:2 1:2 2:2',
      names(4),
      (page = 0) => ({ total: 4, files: page ? names(2, page * 2 - 2) : [] }),
    ],
    ['of a service that ignores page numbers', '0:2 1:2 2:2', names(5), () => names(5)],
    ['of a service with smaller pages', '0:2 1:2 2:2 3:2 4:2', names(3), paged(names(3), { cap: 1 })],
    ['of an empty listing', '0:2 1:2', [], () => []],
    [
      'beyond a page of other filings',
      '0:2 1:2 2:2 3:2',
      names(2),
      (page = 0) => [[], [other('x'), other('y')], names(2), []][page],
    ],
    [
      'beyond a page with the same names of other filings',
      '0:2 1:2 2:2 3:2',
      ['f0.htm'],
      (page = 0) => [[], [other('f0.htm')], ['f0.htm'], []][page],
    ],
    ['until has_more is false', '0:2 1:2 2:2 3:2', names(4, 2), markers],
    ['from 0 if page 0 has other records than page 1', '0:2 1:2 2:2 3:2', names(5), paged(names(5), { first: 0 })],
    ['from 0 if page 1 is empty', '0:9 1:9', names(5), paged(names(5), { first: 0 })],
    ['from 0 if page 1 is not found', '0:9 1:9 1:9', names(5), (page) => (page === 0 ? names(5) : httpError(404))],
    ['from 1 if page 0 is empty', '0:9 1:9 2:9', names(5), (page) => (page === 1 ? names(5) : [])],
    ['from 1 if page 0 is refused', '0:9 1:9 2:9', names(5), (page) => [httpError(422), names(5), []][page ?? 0]],
  ])('%s', async (_what, queries, files, service) => {
    const size = Number(/:(\d)/.exec(queries)?.[1]);
    expect(await read(service, { pageSize: size })).toMatchObject({ files, queries });
  });

  it('from the first page that an earlier listing of the run has found', async () => {
    const { memory } = await read(paged(names(3), { first: 0 }), { pageSize: 2 });
    const { queries, files } = await read(paged(names(3), { first: 0 }), { pageSize: 2, memory });
    expect({ queries, files }).toEqual({ queries: '0:2 1:2 2:2', files: names(3) });
  });

  it('from 0 or 1, which is tried again if the earlier listing was empty', async () => {
    const { memory } = await read(() => [], { pageSize: 2 });
    expect((await read(paged(names(1), { first: 0 }), { pageSize: 2, memory })).files).toEqual(names(1));
  });

  it('from the described first page', async () => {
    const description = { firstPage: 0 };
    expect((await read(paged(names(3), { first: 0 }), { pageSize: 2, description })).queries).toBe('0:2 1:2 2:2');
  });

  it.each<[why: string, service: Service]>([
    [
      "page 3 ends it after 4 records, but 'next' says that there is more",
      (page = 0) => ({ files: [0, 2, 2, 0][page] ? names(2, page) : [], next: '/3' }),
    ],
    [
      "page 2 ends it after 2 records, but 'has_more' says that there is more",
      () => ({ files: names(2), has_more: true }),
    ],
    [
      'page 3 ends it after 4 records, but a total of 9 says otherwise',
      (page = 0) => ({ files: page % 3 ? names(2, page * 2) : [], total: 9 }),
    ],
    ['but a count of 3 pages says that there is more', (page) => ({ files: page === 1 ? names(2) : [], pages: 3 })],
    ['over 10,000 pages', (page) => [`f${page}.htm`]],
    ['cannot be read', (page = 0) => (page < 2 ? names(2) : { error: 'x' })],
  ])('and an incomplete listing is refused: %s', async (message, service) => {
    const error = { code: 'integrity', message: expect.stringContaining(message) };
    await expect(read(service, { pageSize: 2 })).rejects.toMatchObject(error);
    const hint = { hint: expect.stringContaining('"listing"') };
    if (message.includes('says')) await expect(read(service, { pageSize: 2 })).rejects.toMatchObject(hint);
  });

  it.each<[what: string, service: Service]>([
    ['no page exists', () => httpError(404)],
    ['page 0 fails for a reason that may go away', (page) => (page === 0 ? httpError(503) : names(2))],
    ['page 0 is refused for a reason that may go away', (page) => (page === 0 ? httpError(429) : names(2))],
    ['a page is gone', (page = 0) => (page < 2 ? names(2) : httpError(410))],
    ['a page is not found, without a JSON error', (page = 0) => (page < 2 ? names(2) : httpError(404, {}))],
    ['a page is refused', (page = 0) => (page < 2 ? names(2) : httpError(400))],
  ])('and the error is thrown if %s', async (_what, service) => {
    await expect(read(service, { pageSize: 2 })).rejects.toMatchObject({ problem: { status: expect.any(Number) } });
  });

  it('up to page 10,000', async () => {
    const service: Service = (page = 0) => (page > 0 && page < 10_000 ? names(1, page) : []);
    expect((await read(service, { pageSize: 1 })).files).toHaveLength(9999);
  });
});

describe('without a page size', () => {
  it.each([{ has_more: true }, { truncated: true }, { next: 'https://x/?page=2' }, { total: 103 }, { pages: 2 }])(
    'a response with %j is an error whose hint is to read all pages',
    async (sign) => {
      const error = { code: 'integrity', hint: { advice: 'read-pages' } };
      await expect(read(() => ({ files: names(20), ...sign }))).rejects.toMatchObject(error);
    },
  );

  it.each([10, 15, 20, 25, 30, 50, 100, 200, 250, 500, 1000])(
    '%i records are the whole listing if page 2 is empty, and otherwise a first page',
    async (count) => {
      const whole = await read(paged(names(count), { cap: count }));
      expect(whole).toMatchObject({ files: names(count), queries: `- 2:${count} 1:${count}`, warnings: [] });
      const more = await read(paged(names(count + 1), { cap: count }));
      expect(more).toMatchObject({ files: expect.objectContaining({ length: count + 1 }), warnings: [] });
    },
  );

  it.each([0, 1, 9, 11, 99, 103, 1001])('%i records are the whole listing', async (count) => {
    expect(await read(() => names(count))).toMatchObject({ files: names(count), queries: '-' });
  });

  it.each<[what: string, queries: string, service: Service]>([
    ['pages are refused with 400', '- 2:10 1:10', (page) => (page === undefined ? names(10) : httpError(400))],
    [
      'page 2 is refused with 400, and page 1 is the same',
      '- 2:10 1:10',
      (page) => (page === 2 ? httpError(400) : names(10)),
    ],
    ['page 1 is refused with 400', '- 2:10 1:10', (page) => [names(10), httpError(400), []][page ?? 0]],
    ['page 2 is not found', '- 2:10 1:10', (page) => (page === 2 ? httpError(404) : names(10))],
  ])('10 records are the whole listing if %s', async (_what, queries, service) => {
    expect(await read(service)).toMatchObject({ files: names(10), queries, warnings: [] });
  });

  it('10 records are the whole listing if both pages repeat them, with one warning per run', async () => {
    const { files, queries, warnings, memory } = await read(() => names(10));
    expect({ files, queries }).toEqual({ files: names(10), queries: '- 2:10 1:10' });
    expect(warnings).toEqual([expect.stringContaining('page 1 and page 2')]);
    expect((await read(() => names(10), { memory })).warnings).toEqual([]);
  });

  it.each<[what: string, service: Service]>([
    ['page 1 has other records', (page) => (page === undefined ? names(10, 1) : page === 1 ? names(10) : [])],
    [
      'page 2 says that there is more',
      (page) => ({ files: page === 3 ? ['g.htm'] : page === 4 || page === 0 ? [] : names(10), more: page === 2 }),
    ],
  ])('all pages are read if %s', async (_what, service) => {
    expect((await read(service)).queries).toMatch(/^- 2:10 1:10 0:10/);
  });

  it('a failing page fails the listing', async () => {
    const service: Service = (page) => (page === undefined ? names(10) : httpError(page === 2 ? 422 : 400));
    await expect(read(service)).rejects.toMatchObject({ code: 'rejected' });
  });

  it('a refused page 2 fails the listing if page 1 has other records', async () => {
    const service: Service = (page = 0) => (page < 2 ? names(10, page * 10) : httpError(400));
    await expect(read(service)).rejects.toMatchObject({ problem: { status: 400 } });
  });

  it('records of other filings count towards a full page', async () => {
    const all = [...names(3).map((name) => ({ name })), ...names(7).map(other), { name: 'last.htm' }];
    expect((await read(paged(all, { cap: 10 }))).files).toEqual([...names(3), 'last.htm']);
  });

  it('each list of a response can be a full page', async () => {
    const service: Service = (page) => ({ files: names(3), exhibits: page === 2 ? ['g.htm'] : names(10, 3) });
    expect((await read(service)).files).toContain('g.htm');
  });

  it('all pages of a service that counts from 0 are read', async () => {
    const { files } = await read(paged(names(50), { first: 0, cap: 20 }));
    expect(files.toSorted()).toEqual(names(50).toSorted());
  });
});
