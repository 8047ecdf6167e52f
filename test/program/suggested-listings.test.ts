// Listings as real services send them. Each row is tried: the commands of the hint are pasted into a shell, and the
// listing is requested again.
import { expect } from 'vitest';
import { framed } from '../servers/answers.ts';
import { pasted } from './pasted.ts';
import { ACCESSION, asking, test } from './run.ts';

const OTHER = '0001234567-24-000002';
const A = { name: 'a.htm', size: 1 };
const B = { name: 'b.xml', size: 2 };
const [FA, FB] = [{ file_name: 'a.htm' }, { file_name: 'b.xml' }];
const many = (count: number) => Array.from({ length: count }, (_, n) => `${n}.htm`);
const people = [{ name: 'Jane Doe' }, { name: 'J. Roe, Jr.' }];
const columns = ['name', 'size'];
const links = { self: '/v1/filings', next: null };

/** What the hint says before the commands. */
const PAGES = 'find out whether the service sends pages (listing.page, listing.next, listing.more and listing.total';
const FLAT = 'the records hold no further files';
const CHECK = 'check the base URL and the API key; if this is a listing, first find out';
const NOTHING = '.files EXPRESSION && .name EXPRESSION';

/** Runs the commands of the hint for a listing. Then the listing must have these names, or be this error. */
async function followHint(body: unknown, then: string, settings: object = {}) {
  const { bytes } = framed(Buffer.from(JSON.stringify(body)), 'length');
  const { filings, config } = await asking((socket) => void socket.write(bytes));
  await config(settings);
  const list = async () => {
    const { exitCode, stdout, stderr } = await filings(['list', ACCESSION]);
    return { exitCode, names: `${stdout}`.trim().replaceAll('\n', ' '), stderr };
  };
  const { stderr: message, ...refused } = await list();
  expect(refused).toEqual({ exitCode: 9, names: '' });
  const [, said = '', commands = ''] = /\n {2}hint: (.*?): (filings .*)\n$/.exec(message) ?? [];
  if (!commands.includes('EXPRESSION')) {
    for (const command of commands.split(' && ')) expect(await filings(pasted(command))).toMatchObject({ exitCode: 0 });
    const { exitCode, names, stderr } = await list();
    if (exitCode === 0) expect(names).toBe(then);
    else expect([exitCode, stderr]).toEqual([9, expect.stringContaining(then || 'nothing')]);
  }
  return { message, said, commands };
}

test.each`
  service                         | body                                                                                        | hint     | set                                                                           | then
  ${'a table of names'}           | ${{ data: { files: ['a.htm', 'b.xml'] } }}                                                  | ${''}    | ${'.files data.files'}                                                        | ${'a.htm b.xml'}
  ${'SEC EDGAR, index.json'}      | ${{ directory: { item: [A, B], name: '/Archives/edgar/data/1', 'parent-dir': '../' } }}     | ${PAGES} | ${'.files directory.item && .name name'}                                      | ${'a.htm b.xml'}
  ${'SEC EDGAR, submissions'}     | ${{ recent: { form: ['10-K'], primaryDocument: ['a.htm'] }, files: [] }}                    | ${PAGES} | ${'.files recent.primaryDocument'}                                            | ${'a.htm'}
  ${'GitHub, contents'}           | ${[{ ...A, type: 'file', _links: {} }, { ...B, type: 'file', _links: {} }]}                 | ${FLAT}  | ${'.name name'}                                                               | ${'a.htm b.xml'}
  ${'GitHub, tree'}               | ${{ sha: '1', tree: [{ path: 'a.htm', type: 'blob' }], truncated: false }}                  | ${CHECK} | ${NOTHING}                                                                    | ${''}
  ${'GitLab, release'}            | ${{ assets: { count: 2, links: [A, B], sources: [{ format: 'zip' }] } }}                    | ${PAGES} | ${'.files assets.links && .name name'}                                        | ${'a.htm b.xml'}
  ${'JSON:API'}                   | ${{ data: [{ type: 'files', id: '1', attributes: FA }], links }}                            | ${PAGES} | ${'.files data && .name attributes.file_name'}                                | ${'a.htm'}
  ${'JSON:API, name as label'}    | ${{ data: [{ type: 'files', attributes: A }], links }}                                      | ${CHECK} | ${NOTHING}                                                                    | ${''}
  ${'HAL'}                        | ${{ _embedded: { files: [{ ...A, _links: {} }] }, page: { totalElements: 1 } }}             | ${PAGES} | ${'.files _embedded.files && .name name'}                                     | ${'a.htm'}
  ${'OData'}                      | ${{ '@odata.context': '$metadata', value: [{ Name: 'a.htm' }], '@odata.nextLink': '/2' }}   | ${PAGES} | ${'.files value && .name Name'}                                               | ${'a.htm'}
  ${'FastAPI, the first page'}    | ${{ items: [FA, FB], total: 5, page: 1, size: 2 }}                                          | ${PAGES} | ${'.files items && .total total'}                                             | ${'it has 2 records on 1 page, but listing.total (total) is 5'}
  ${'Laravel'}                    | ${{ data: [FA], links, meta: { total: 1, per_page: 15, links: [{ label: 'Next' }] } }}      | ${PAGES} | ${'.files data'}                                                              | ${'a.htm'}
  ${'Figshare'}                   | ${[{ id: 1, ...A }, { id: 2, ...B }]}                                                       | ${''}    | ${'.name name'}                                                               | ${'a.htm b.xml'}
  ${'Datasette'}                  | ${{ columns, rows: [['a.htm', 1]], truncated: false }}                                      | ${CHECK} | ${NOTHING}                                                                    | ${''}
  ${'a table with columns'}       | ${{ columns, rows: [FA, FB] }}                                                              | ${PAGES} | ${'.files rows'}                                                              | ${'a.htm b.xml'}
  ${'filings of a company'}       | ${{ data: [{ company: { name: 'Acme' }, documents: [A, B] }, { documents: null }] }}        | ${PAGES} | ${".files 'data[].documents[]' && .name name"}                                | ${'a.htm b.xml'}
  ${'filings with a name'}        | ${[{ name: 'Annual report', documents: [FA] }, { name: '8-K', documents: [FB] }]}           | ${PAGES} | ${".files '[].documents[]'"}                                                  | ${'a.htm b.xml'}
  ${'filings with totals'}        | ${{ total: 1, filings: [{ total: 2, documents: [FA, FB] }] }}                               | ${PAGES} | ${".files 'filings[].documents[]'"}                                           | ${'a.htm b.xml'}
  ${'documents of documents'}     | ${{ f: [{ d: [{ x: [FA] }, { x: [] }] }, { d: [{ x: [FB] }] }] }}                           | ${PAGES} | ${".files 'f[].d[].x[]'"}                                                     | ${'a.htm b.xml'}
  ${'other filings, too'} | ${{ data: [{ ...FA, accession: ACCESSION }, { ...FB, accession: OTHER }], page: 1 }} | ${PAGES} | ${'.files data'} | ${'a.htm'}
  ${'people next to files'}       | ${{ signers: people, documents: [A, B] }}                                                   | ${PAGES} | ${'.files documents && .name name'}                                           | ${'a.htm b.xml'}
  ${'warnings next to files'}     | ${{ warnings: ['Partial data.'], files: [FA, FB] }}                                         | ${PAGES} | ${'.files files'}                                                             | ${'a.htm b.xml'}
  ${'two lists'}                  | ${{ files: [FA], exhibits: [FB] }}                                                          | ${PAGES} | ${`(files or exhibits): ${NOTHING}`}                                          | ${''}
  ${'exhibits in a record'}       | ${[{ ...FA, exhibits: ['b.xml'] }]}                                                         | ${PAGES} | ${`(@ or [].exhibits[]): ${NOTHING}`}                                         | ${''}
  ${'a hundred names'}            | ${many(100)}                                                                                | ${PAGES} | ${" '{}'"}                                                                    | ${many(100).join(' ')}
  ${'an empty name'}              | ${['a.htm', '']}                                                                            | ${''}    | ${".files '[?@]'"}                                                            | ${'a.htm'}
  ${'an empty name in a member'}  | ${{ files: [{ ...FA, pages: 3 }, { file_name: '' }] }}                                      | ${''}    | ${".files 'files | [?file_name]'"}                                            | ${'a.htm'}
  ${'an empty name further in'}   | ${[{ documents: ['a.htm', ''] }]}                                                           | ${PAGES} | ${".files '[].documents[] | [?@]'"}                                           | ${'a.htm'}
  ${'a document without a name'}  | ${[FA, { file_name: null }]}                                                                | ${''}    | ${" '{}'"}                                                                    | ${'a.htm'}
  ${'names that need quotes'}     | ${{ "it's $HOME `x`": { 'the "files"': [{ 'FILE-NAME': 'a.htm', x: 1, filename: 'b' }] } }} | ${''}    | ${`.files '"it'\\''s $HOME \`x\`"."the \\"files\\""' && .name '"FILE-NAME"'`} | ${'a.htm'}
  ${'totals, one of its members'} | ${{ data: { files: [FA, FB], total: 2 } }}                                                  | ${''}    | ${'.files data.files && .total data.total'}                                   | ${'a.htm b.xml'}
  ${'a total as a text'}          | ${{ total: '2', data: { files: ['a.htm'] } }}                                               | ${PAGES} | ${'.files data.files && .total total'}                                        | ${'it has 1 record on 1 page, but listing.total (total) is 2'}
  ${'a name that is too long'}    | ${{ data: { ['x'.repeat(300)]: [FA] } }}                                                    | ${''}    | ${NOTHING}                                                                    | ${''}
  ${'two names in a record'}      | ${[FA, { file_name: null, fileName: 'b' }]}                                                 | ${CHECK} | ${NOTHING}                                                                    | ${''}
  ${'a list next to an address'}  | ${{ files: ['a.htm'], next: '/2' }}                                                         | ${PAGES} | ${'.files files'}                                                             | ${'a.htm'}
  ${'names that are not shown'}   | ${{ data: { 'd\u0085\u202e\u{e0041}é': [FA] } }}                                            | ${''}    | ${`.files 'data."d\\u0085\\u202e\\udb40\\udc41\\u00e9"'`}                     | ${'a.htm'}
`('the hint for $service', async ({ body, hint, set, then }) => {
  const { said, commands } = await followHint(body, then);
  expect(said).toContain(hint);
  const shown = `${said}: ${commands}`.replaceAll('filings config set listing', '');
  expect(shown.slice(-set.length)).toBe(set);
  expect(said.includes('find out whether'), said).toBe(hint === PAGES || hint === CHECK);
});

const IDS = [
  { id: 1, ...A },
  { id: 2, ...B },
];
const inWork = (work: object, others = {}) => ({ ...others, profile: 'work', profiles: { work } });
test.each`
  of                                | config                                                            | body                            | said                                                             | then
  ${'a list that is elsewhere'}     | ${{ listing: { files: 'data' } }}                                 | ${{ documents: IDS }}           | ${'listing.files (data) selects no array in'}                    | ${'a.htm b.xml'}
  ${'the first of several pages'}   | ${{ listing: { files: 'data' } }}                                 | ${{ documents: IDS, total: 3 }} | ${'listing.files (data) selects no array in'}                    | ${'it has 2 records on 1 page, but listing.total (total) is 3'}
  ${'lists in a list'}              | ${{ listing: { files: 'd[].x' } }}                                | ${{ d: [{ x: [FA] }] }}         | ${'listing.files (d[].x) selects'}                               | ${'a.htm'}
  ${'a name that is a number'}      | ${{ listing: { name: 'id' } }}                                    | ${IDS}                          | ${'listing.name (id) selects 1 in record 1'}                     | ${'a.htm b.xml'}
  ${'names that are elsewhere'}     | ${{ listing: {} }}                                                | ${IDS}                          | ${'selects nothing in any record; the first has id, name, size'} | ${'a.htm b.xml'}
  ${'an empty name'}                | ${{ listing: { files: 'd' } }}                                    | ${{ d: ['', 'a.htm'] }}         | ${'listing.files (d) selects "" in record 1'}                    | ${'a.htm'}
  ${'pages, which are still read'}  | ${{ listing: { name: 'id', total: 't', files: 'd', page: 'p' } }} | ${{ d: IDS, t: 5 }}             | ${'listing.name (id) selects 1'}                                 | ${'page 2 begins with the same record'}
  ${'a profile with a description'} | ${inWork({ listing: { files: 'data' } })}                         | ${{ documents: IDS }}           | ${'listing.files (data)'}                                        | ${'a.htm b.xml'}
  ${'a profile that unsets it'}     | ${inWork({ listing: null }, { listing: { files: 'documents' } })} | ${{ x: 1, documents: [FA] }}    | ${"it has 'x' besides the list"}                                 | ${'a.htm'}
`('the hint for a description of $of', async ({ config, body, said, then }) => {
  expect((await followHint(body, then, config)).message).toContain(said);
});
