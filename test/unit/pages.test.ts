import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { readListing } from '../../src/service/listing.ts';
import { type Ask, readAllPages } from '../../src/service/listing-pages.ts';

const accession = parseAccession('0001234567-24-000001');
const names = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `f${from + i}.htm`);
const other = (name: string) => ({ accession_no: '0001234567-24-000002', name });

type Service = (page: number, size: number) => unknown;

/** A service by what it answers to a page number (0: none was asked for) and a page size; undefined is a 404. */
async function read(answer: Service, pageSize?: number) {
  const asked: string[] = [];
  const ask: Ask = async (query, page) => {
    const { page_number = '0', page_size = '0' } = Object.fromEntries(query);
    asked.push(page === undefined ? '-' : `${page_number}:${page_size}`);
    const body = answer(Number(page_number), Number(page_size));
    if (body === undefined) throw new FilingsError('not_found', 'no such page');
    return readListing(JSON.stringify(body), accession, undefined, page);
  };
  const files = await readAllPages(ask, pageSize, accession);
  return { files: files.map((file) => file.file_name), asked: asked.join(' ') };
}

const paged =
  (all: readonly unknown[], cap = 1000): Service =>
  (page, size) =>
    page === 0 ? all.slice(0, cap) : all.slice((page - 1) * Math.min(size, cap), page * Math.min(size, cap));

describe('with a page size', () => {
  const signed: Service = (page) => ({ files: names(2, page * 2 - 2), has_more: page < 2 });
  it.each<[what: string, pages: string, files: string[], answer: Service]>([
    ['until a page has fewer records', '1:2 2:2 3:2', names(5), paged(names(5))],
    ['until a page is empty', '1:2 2:2 3:2', names(4), paged(names(4))],
    ['until a page is not found', '1:2 2:2 3:2', names(4), (page) => (page < 3 ? names(2, page * 2 - 2) : undefined)],
    ['until a page repeats', '1:2 2:2 3:2 4:2', names(6), (page) => names(2, Math.min(page, 3) * 2 - 2)],
    ['from a service without pages', '1:2 2:2', names(5), () => names(5)],
    ['from a service with smaller pages', '1:2 2:2 3:2 4:2', names(3), paged(names(3), 1)],
    ['an empty listing', '1:2', [], () => []],
    ['a page of other filings', '1:2 2:2 3:2', names(2), (page) => [[other('x'), other('y')], names(2), []][page - 1]],
    ['that changes', '1:2 2:2 3:2', names(4), (page) => [names(2), names(2, 1), names(1, 3)][page - 1]],
    ['signs on all but the last page', '1:2 2:2 3:2', names(4), (page) => (page > 2 ? [] : signed(page, 2))],
  ])('%s', async (_what, asked, files, answer) => {
    expect(await read(answer, 2)).toEqual({ files, asked });
  });

  it.each<[why: string, answer: Service]>([
    ['page 2 ends it, and next says', (page) => ({ files: names(page === 1 ? 2 : 1, page), next: '/3' })],
    ['page 2 ends it, and has_more says', () => ({ files: names(2), has_more: true })],
    ['a total of 9 says', (page) => ({ files: page < 3 ? names(2, page) : [], total: 9 })],
    ['over 10,000 pages', (page) => [`f${page}.htm`]],
    ['cannot be read', (page) => (page === 1 ? names(2) : { error: 'x' })],
  ])('a part of it is an error: %s', async (message, answer) => {
    const error = { code: 'integrity', message: expect.stringMatching(`^the listing of ${accession}: .*${message}`) };
    await expect(read(answer, 2)).rejects.toMatchObject(error);
    const hint = { hint: expect.stringContaining('--query') };
    if (message.endsWith('says')) await expect(read(answer, 2)).rejects.toMatchObject(hint);
  });

  it('the first page must be there', async () => {
    await expect(read(() => undefined, 2)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('10,000 pages are read', async () => {
    const { files } = await read((page) => (page < 10_000 ? names(1, page) : []), 1);
    expect(files).toHaveLength(9999);
  });
});

describe('without a page size', () => {
  it.each([{ has_more: true }, { truncated: true }, { next: 'https://x/?page=2' }, { total: 103 }])(
    'an answer with %j is an error that names --page-size',
    async (sign) => {
      const error = { code: 'integrity', hint: expect.stringContaining('--page-size') };
      await expect(read(() => ({ files: names(20), ...sign }))).rejects.toMatchObject(error);
    },
  );

  it.each([10, 20, 25, 50, 100, 200, 250, 500, 1000])('%i records may be a first page', async (count) => {
    expect((await read(paged(names(count), count))).asked).toBe(`- 2:${count}`);
    expect((await read(() => names(count))).asked).toBe(`- 2:${count}`);
    expect((await read((page) => (page === 0 ? names(count) : undefined))).asked).toBe(`- 2:${count}`);
    const more = await read(paged(names(count + 1), count));
    expect(more).toEqual({ files: expect.objectContaining({ length: count + 1 }), asked: `- 2:${count} 1:${count}` });
  });

  it.each([0, 1, 9, 11, 99, 103, 1001])('%i records are all', async (count) => {
    expect(await read(() => names(count))).toEqual({ files: names(count), asked: '-' });
  });

  it('records of other filings count', async () => {
    const all = [...names(3), ...names(7).map(other), 'last.htm'];
    expect((await read(paged(all, 10))).files).toEqual([...names(3), 'last.htm']);
  });

  it('pages that are numbered from 0 are all read', async () => {
    const all = names(50);
    const { files } = await read((page) => all.slice(page * 20, page * 20 + 20));
    expect(files.toSorted()).toEqual(all.toSorted());
  });
});
