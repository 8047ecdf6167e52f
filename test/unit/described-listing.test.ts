import { describe, expect, test } from 'vitest';
import { type ErrorCode, FilingsError } from '../../src/errors.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { type ListingDescription, readDescribedListing } from '../../src/service/described-listing.ts';

const ACCESSION = parseAccession('0001234567-24-000001');
const ADDRESS = new URL(`https://h.example/v1/filings?accession_no=${ACCESSION}&own=1`);

/**
 * Reads the pages in turn, of which an error is thrown. Returns the listing, the names in it, and what was requested,
 * with `*` for the address of the listing.
 */
async function read(description: ListingDescription, pages: readonly unknown[]) {
  const asked: string[] = [];
  const target = { description, accession: ACCESSION, listingUrl: ADDRESS };
  const listing = await readDescribedListing(target, async (url, read) => {
    const page = pages[asked.length] ?? pages.at(-1);
    asked.push(url.href.replace(url.origin, '').replace(`/v1/filings${ADDRESS.search}`, '*'));
    if (page instanceof Error) throw page;
    const body = Buffer.from(typeof page === 'string' && page.startsWith('{') ? page : JSON.stringify(page));
    return read({ body, headers: {} });
  });
  return { ...listing, names: listing.files.map((file) => file.file_name).join(''), asked: asked.join(' ') };
}

const NEXT = { files: 'f', next: 'n' };
/** A page of the files that have these letters as names. */
const f = (names: string, more = {}) => ({ f: [...names], ...more });

describe('a described listing', () => {
  const EXPRESSIONS = { files: 'd.x', name: 'f.n', total: 'd.t' };
  const FROM_0 = { files: 'f', page: 'p', firstPage: 0, total: 't' };
  const SIZED = { ...NEXT, query: { size: '1' } };
  const OFFSETS = { files: 'f', offset: 'o', more: 'm', query: { n: '2' } };
  const NESTED = [{ d: { x: [{ f: { n: 'a' } }, { f: {} }, 'b'], t: '3' } }];
  const LINKED = [f('a', { n: '/2' }), f('b', { n: '?own=1&size=1&p=3' }), f('c', { n: null })];
  const OWN = `accession_no=${ACCESSION}&own=1`;
  const COMPLETED = `*&size=1 /2?${OWN}&size=1 /v1/filings?own=1&size=1&p=3&accession_no=${ACCESSION}`;
  const TO_P2 = `* /2?${OWN}`;
  const UNTIL_M = [f('a', { n: '/2', m: 1 }), f('', { n: '/3', m: 1 }), f('b', { n: '/4', m: 0 })];
  test.each`
    by                            | description                 | pages                                               | names    | asked
    ${'one response'}             | ${{}}                       | ${[['a', 'b']]}                                     | ${'ab'}  | ${'*'}
    ${'expressions'}              | ${EXPRESSIONS}              | ${NESTED}                                           | ${'ab'}  | ${'*'}
    ${'pages until an empty one'} | ${{ page: 'p' }}            | ${[['a'], ['b'], []]}                               | ${'ab'}  | ${'*&p=1 *&p=2 *&p=3'}
    ${'pages until the total'}    | ${FROM_0}                   | ${[f('a', { t: 2 }), f('b')]}                       | ${'ab'}  | ${'*&p=0 *&p=1'}
    ${'offsets until the last'}   | ${OFFSETS}                  | ${[f('ab', { m: true }), f('c', { m: false })]}     | ${'abc'} | ${'*&n=2&o=0 *&n=2&o=2'}
    ${'addresses'}                | ${SIZED}                    | ${LINKED}                                           | ${'abc'} | ${COMPLETED}
    ${'addresses until the last'} | ${{ ...NEXT, more: 'm' }}   | ${UNTIL_M}                                          | ${'ab'}  | ${`${TO_P2} /3?${OWN}`}
    ${'cursors'}                  | ${{ ...NEXT, cursor: 'c' }} | ${[f('a', { n: 7 }), f('b', { n: 'x&y' }), f('c')]} | ${'abc'} | ${'* *&c=7 *&c=x%26y'}
    ${'a cursor that is a digit'} | ${{ ...NEXT, cursor: 'c' }} | ${[f('a', { n: '0' }), f('b')]}                     | ${'ab'}  | ${'* *&c=0'}
  `('is read by $by', async ({ description, pages, names, asked }) => {
    expect(await read(description, pages)).toMatchObject({ names, asked, pageCount: asked.split(' ').length });
  });

  const DIGITS = ACCESSION.replaceAll('-', '');
  test.each`
    what                                    | next                                             | asked
    ${'lacks the accession number'}         | ${'?page=2'}                                     | ${`/v1/filings?page=2&accession_no=${ACCESSION}&own=1`}
    ${'has another value of a parameter'}   | ${'?own=2'}                                      | ${`/v1/filings?own=2&accession_no=${ACCESSION}`}
    ${'has it in the path'}                 | ${`/f/${ACCESSION}/2?own=1`}                     | ${`/f/${ACCESSION}/2?own=1`}
    ${'has it as digits'}                   | ${`/f?id=${DIGITS}`}                             | ${`/f?id=${DIGITS}&own=1`}
    ${'has it percent-encoded'}             | ${`/f?id=${ACCESSION.replaceAll('-', '%2D')}`}   | ${`/f?id=${ACCESSION.replaceAll('-', '%2D')}&own=1`}
    ${'has it in a longer number'}          | ${`/f?id=1${DIGITS}`}                            | ${`/f?id=1${DIGITS}&accession_no=${ACCESSION}&own=1`}
    ${'has it as the parameter, in digits'} | ${`/f?accession_no=${DIGITS}&own=1`}             | ${`/f?accession_no=${DIGITS}&own=1`}
    ${'has a key in the query'}             | ${`/f?APIKEY=a&accession_no=${ACCESSION}&own=1`} | ${`/f?accession_no=${ACCESSION}&own=1`}
    ${'has a key by another name'}          | ${`/f?api_key=a&own=1&x=y%20z&api-key=b&p`}      | ${`/f?own=1&x=y%20z&p&accession_no=${ACCESSION}`}
    ${'has a key in the path'}              | ${`/v1/APIKEY-a/f/apikey%2Db?own=1`}             | ${`/v1/f?own=1&accession_no=${ACCESSION}`}
    ${'is a key'}                           | ${`/APIKEY-a?own=1`}                             | ${`/?own=1&accession_no=${ACCESSION}`}
    ${'has a user'}                         | ${`https://u:p@h.example/f?${OWN}#x`}            | ${`/f?${OWN}`}
  `('requests the next page by an address that $what', async ({ next, asked }) => {
    expect((await read(NEXT, [f('a', { n: next }), f('b')])).asked).toBe(`* ${asked}`);
  });

  test.each([[null], [false], [0], [''], [[]], [{}]])('ends with the first page on which more is %j', async (more) => {
    const description = { files: 'f', page: 'p', more: 'm' };
    expect((await read(description, [f('a', { m: 'yes' }), f('b', { m: more }), 'never asked'])).pageCount).toBe(2);
  });

  test('keeps all members of its records, and drops records of other filings', async () => {
    const record = { file: { name: 'a' }, size: 7 };
    const { files, recordCount } = await read({ name: 'file.name' }, [
      [record, { ...record, accession: 123456724000002 }],
    ]);
    expect(recordCount).toBe(2);
    expect(files).toEqual([{ accession_no: ACCESSION, file_name: 'a', ...record }]);
  });
});

describe('a described listing is an error', () => {
  const TOTAL = { files: 'f', total: 't' };
  const FAR = 'https://evil.example/2';
  test.each`
    reason                                                                                | description                  | pages
    ${'listing.files (x) selects no array'}                                               | ${{ files: 'x' }}            | ${[{}]}
    ${'listing.files (@) selects no array'}                                               | ${{}}                        | ${[f('a')]}
    ${'listing.name (n) selects 1 in record 1'}                                           | ${{ name: 'n' }}             | ${[[{ n: 1 }]]}
    ${'selects ""'}                                                                       | ${{}}                        | ${[[{ file_name: '' }]]}
    ${'listing.files (@) selects "" in record 1'}                                         | ${{}}                        | ${[['']]}
    ${'listing.files (@) selects null in record 1'}                                       | ${{}}                        | ${[[null]]}
    ${'listing.name (n) selects nothing in any record; the first has i, j'}               | ${{ name: 'n' }}             | ${[[{ i: 1, j: 2 }, { k: 3 }]]}
    ${'listing.name (file_name) selects nothing in any record; the first has f'}          | ${{ page: 'p' }}             | ${[[{ f: 1 }], [{ f: 2 }], []]}
    ${'listing.name (file_name) selects nothing in any record; the first has no members'} | ${{}}                        | ${[[{}]]}
    ${'listing.files (abs(f)): abs() expected argument 1 to be type (number)'}            | ${{ files: 'abs(f)' }}       | ${[{ f: 'x' }]}
    ${'it has 1 record on 1 page, but listing.total (t) is 3'}                            | ${TOTAL}                     | ${[f('a', { t: 3 })]}
    ${'it has 4 records on 2 pages, but listing.total (t) is 3'}                          | ${{ ...TOTAL, page: 'p' }}   | ${['ab', 'cd', 'eg'].map((names) => f(names, { t: 3 }))}
    ${'it has 2 records on 2 pages, but listing.total (t) is 3'}                          | ${{ ...TOTAL, page: 'p' }}   | ${[f('a', { t: 3 }), f('b', { t: 2 })]}
    ${'listing.total (t) selects no number'}                                              | ${{ total: 't' }}            | ${[['a']]}
    ${'listing.more (m) says that there is more'}                                         | ${{ files: 'f', more: 'm' }} | ${[f('a', { m: 1 })]}
    ${'page 2 begins with the same record as an earlier page'}                            | ${{ page: 'p' }}             | ${[['a']]}
    ${"'b' is on two pages"}                                                              | ${{ page: 'p' }}             | ${[['a', 'b'], ['c', 'b'], []]}
    ${'the next page is at another origin, https://evil.example'}                         | ${NEXT}                      | ${[f('a', { n: FAR })]}
    ${'listing.next is 7, which is not an address'}                                       | ${NEXT}                      | ${[f('a', { n: 7 })]}
    ${'listing.next is "http://[", which is not an address'}                              | ${NEXT}                      | ${[f('a', { n: 'http://[' })]}
    ${'which is not a cursor'}                                                            | ${{ ...NEXT, cursor: 'c' }}  | ${[f('', { n: [1] })]}
    ${'which is not a cursor'}                                                            | ${{ ...NEXT, cursor: 'c' }}  | ${[f('', { n: '\ud800' })]}
    ${'which is not an address'}                                                          | ${NEXT}                      | ${[f('', { n: '?c=\ud800' })]}
    ${'9007199254740992, which JavaScript may have rounded'}                              | ${{ ...NEXT, cursor: 'c' }}  | ${['{"f":[],"n":9007199254740993}']}
    ${'1.5, which JavaScript may have rounded'}                                           | ${{ ...NEXT, cursor: 'c' }}  | ${[f('', { n: 1.5 })]}
    ${'which does not name this filing'}                                                  | ${NEXT}                      | ${[f('', { n: '?accession_no=0001234567-24-000002' })]}
    ${'which does not name this filing'}                                                  | ${NEXT}                      | ${[f('', { n: '?accession_no=' })]}
  `('if $reason', async ({ reason, description, pages }) => {
    const quote = expect.stringContaining(reason);
    const hint = expect.stringMatching(/filings config get listing|describe (?:where|how)/);
    const error = { code: 'integrity', reason: 'may be incomplete', quote, hint };
    await expect(read(description, pages)).rejects.toMatchObject(error);
  });

  test.each`
    description                   | message
    ${{ page: 'p', offset: 'o' }} | ${'listing: page and offset cannot be used together'}
    ${{ cursor: 'c' }}            | ${'listing: cursor requires next'}
  `('of the configuration with $description', async ({ description, message }) => {
    await expect(read(description, [['a']])).rejects.toMatchObject({ code: 'config', message });
  });

  test('if there are over 10,000 pages', async () => {
    let count = 0;
    const target = { description: { page: 'p' }, accession: ACCESSION, listingUrl: ADDRESS };
    const endless = readDescribedListing(target, async (_, read) => {
      count += 1;
      return read({ body: Buffer.from(`["${count}"]`), headers: {} });
    });
    await expect(endless).rejects.toThrow('over 10,000 pages');
    expect(count).toBe(10_000);
  });

  test.each`
    code           | later
    ${'not_found'} | ${'integrity'}
    ${'rejected'}  | ${'integrity'}
    ${'auth'}      | ${'auth'}
    ${'temporary'} | ${'temporary'}
  `('of $code if the first page fails with it, and of $later if a later one does', async (row) => {
    const { code, later } = row as { code: ErrorCode; later: ErrorCode };
    await expect(read({ page: 'p' }, [new FilingsError(code, '4xx')])).rejects.toMatchObject({ code });
    await expect(read({ page: 'p' }, [['a'], new FilingsError(code, '4xx')])).rejects.toMatchObject({ code: later });
  });
});
