import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { readListing } from '../../src/service/listing/listing.ts';
import { type Ask, readAllPages } from '../../src/service/listing/pages.ts';

const accession = parseAccession('0001234567-24-000001');
const names = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `f${from + i}.htm`);
const other = (name: string) => ({ accession_no: '0001234567-24-000002', name });

/** A service by what it answers to a page number (0: none was asked for) and a page size; undefined is a 404. */
async function read(answer: (page: number, size: number) => unknown, pageSize?: number) {
  const asked: string[] = [];
  const ask: Ask = async (query, page) => {
    const { page_number = '0', page_size = '0' } = Object.fromEntries(query);
    asked.push(page === undefined ? '-' : `${page_number}:${page_size}`);
    const body = answer(Number(page_number), Number(page_size));
    if (body === undefined) throw new FilingsError('not_found', 'no such page');
    return readListing({ body: Buffer.from(JSON.stringify(body)), page }, accession);
  };
  const files = await readAllPages(ask, pageSize, accession);
  return { files: files.map((file) => file.file_name), asked };
}

const paged =
  (all: readonly unknown[], cap = 1000) =>
  (page: number, size: number) =>
    page === 0 ? all.slice(0, cap) : all.slice((page - 1) * Math.min(size, cap), page * Math.min(size, cap));

describe('with a page size', () => {
  it.each<[what: string, answer: (page: number, size: number) => unknown, files: string[], asked: string[]]>([
    ['until a page has fewer records', paged(names(5)), names(5), ['1:2', '2:2', '3:2']],
    ['until a page is empty', paged(names(4)), names(4), ['1:2', '2:2', '3:2']],
    [
      'until a page is not found',
      (page) => (page < 3 ? names(2, page * 2 - 2) : undefined),
      names(4),
      ['1:2', '2:2', '3:2'],
    ],
    [
      'until a page repeats an earlier one',
      (page) => names(2, Math.min(page, 3) * 2 - 2),
      names(6),
      ['1:2', '2:2', '3:2', '4:2'],
    ],
    ['from a service without pages', () => names(5), names(5), ['1:2', '2:2']],
    ['from a service with smaller pages', paged(names(3), 1), names(3), ['1:2', '2:2', '3:2', '4:2']],
    ['an empty listing', () => [], [], ['1:2']],
    [
      'a page full of records of another filing',
      (page) => [[other('x'), other('y')], names(2), []][page - 1],
      names(2),
      ['1:2', '2:2', '3:2'],
    ],
    [
      'that changes meanwhile',
      (page) => [names(2), names(2, 1), names(1, 3)][page - 1],
      names(4),
      ['1:2', '2:2', '3:2'],
    ],
    ['signs on all but the last page', (page) => ({ files: names(2, page * 2 - 2), has_more: page < 2 }), names(4), []],
  ])('%s', async (_what, answer, files, asked) => {
    const bounded = (page: number, size: number) => (page > 2 && asked.length === 0 ? [] : answer(page, size));
    const ended = await read(bounded, 2);
    expect(ended.files).toEqual(files);
    if (asked.length > 0) expect(ended.asked).toEqual(asked);
  });

  it.each<[what: string, answer: (page: number) => unknown, why: RegExp]>([
    [
      'the last page says more',
      (page) => ({ files: names(page === 1 ? 2 : 1, page), next: '/3' }),
      /page 2 ends it, and next says/,
    ],
    ['a repeated page says more', () => ({ files: names(2), has_more: true }), /page 2 ends it, and has_more says/],
    [
      'the total is over what came',
      (page) => ({ files: page < 3 ? names(2, page) : [], total: 9 }),
      /a total of 9 says/,
    ],
  ])('a part of it is an error: %s', async (_what, answer, why) => {
    await expect(read(answer, 2)).rejects.toMatchObject({ code: 'integrity', message: expect.stringMatching(why) });
  });

  it('has an end: 10,000 pages', async () => {
    let most = 0;
    const endless = (page: number) => {
      most = page;
      return [`f${page}.htm`];
    };
    await expect(read(endless, 1)).rejects.toMatchObject({
      code: 'integrity',
      message: expect.stringMatching(/no end/),
    });
    expect(most).toBe(10_000);
    const last = await read((page) => (page < 10_000 ? names(1, page) : []), 1);
    expect(last.files).toHaveLength(9999);
  });

  it('a failure of a page is the failure of the listing, of the first one also when it is not found', async () => {
    await expect(read(() => undefined, 2)).rejects.toMatchObject({ code: 'not_found' });
    await expect(read((page) => (page === 1 ? names(2) : { error: 'x' }), 2)).rejects.toMatchObject({
      code: 'integrity',
    });
  });
});

describe('without a page size', () => {
  it.each([{ has_more: true }, { truncated: true }, { next: 'https://x/?page=2' }, { total: 103 }])(
    'an answer with %j is an error that names --page-size',
    async (sign) => {
      await expect(read(() => ({ files: names(20), ...sign }))).rejects.toMatchObject({
        code: 'integrity',
        hint: expect.stringContaining('--page-size'),
      });
    },
  );

  it.each([10, 20, 25, 50, 100, 200, 250, 500, 1000])('%i records may be a first page', async (count) => {
    expect((await read(paged(names(count), count))).asked).toEqual(['-', `2:${count}`]);
    expect((await read(() => names(count))).asked).toEqual(['-', `2:${count}`]);
    const more = await read(paged(names(count + 1), count));
    expect(more.files).toHaveLength(count + 1);
    expect(more.asked).toEqual(['-', `2:${count}`, `1:${count}`]);
  });

  it.each([0, 1, 9, 11, 99, 103, 1001])('%i records are all', async (count) => {
    expect(await read(() => names(count))).toEqual({ files: names(count), asked: ['-'] });
  });

  it('records of other filings count', async () => {
    const all = [...names(3), ...names(7).map(other), 'last.htm'];
    expect((await read(paged(all, 10))).files).toEqual([...names(3), 'last.htm']);
  });

  it('pages that are numbered from 0 are all read', async () => {
    const all = names(50);
    const answer = (page: number) => all.slice(page * 20, page * 20 + 20);
    expect((await read(answer)).files.toSorted()).toEqual(all.toSorted());
  });
});
