import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { framed, head, sendAndEnd, whole } from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, asking, jsonOf } from './run.ts';

const FILE = content(4000);
const SHA256 = createHash('sha256').update(FILE).digest('hex');
const WRONG = SHA256.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));

async function setUp(script: Script = whole(FILE)) {
  const { filings, ...place } = await asking(script);
  return {
    ...place,
    download: (args: string[], env = {}) => filings(['download', ACCESSION, ...args], env),
    /** The URL of the first request. */
    asked: () => new URL(place.requests[0]?.path ?? '', place.url),
  };
}

test.each`
  name                      | args                          | path
  ${'100% owned.htm'}       | ${[]}                         | ${'100% owned.htm'}
  ${'a+b.txt'}              | ${[]}                         | ${'a+b.txt'}
  ${'übersicht.htm'}        | ${[]}                         | ${'übersicht.htm'}
  ${'#1?.htm'}              | ${[]}                         | ${'#1?.htm'}
  ${'xslF345X05/form4.xml'} | ${['-o', 'deep/er/form.xml']} | ${'deep/er/form.xml'}
`('$name is requested by its name and written to $path', async ({ name, args, path }) => {
  const { at, download, asked, read, requests, url } = await setUp();
  await mkdir(at('deep/er'), { recursive: true });
  const { exitCode, stderr } = await download([name, ...args], { FILINGS_BASE_URL: `${url}/api/v1/` });
  expect(exitCode, stderr).toBe(0);
  expect(await read(path)).toEqual(FILE);
  expect(asked().pathname).toBe('/api/v1/download');
  expect(Object.fromEntries(asked().searchParams)).toEqual({ accession_no: ACCESSION, file_name: name });
  expect(requests[0]?.line).toMatch(/^GET \S+ HTTP\/1\.1$/);
  const headers = { 'accept-encoding': 'identity', 'user-agent': expect.stringMatching(/^filings\/\d/) };
  expect(requests[0]?.headers).toMatchObject(headers);
});

test('a download prints nothing to stdout, each file to stderr with -v, and the summary unless -q', async () => {
  const { download } = await setUp();
  const verbose = await download(['a', 'b', '-d', 'new/dir', '-v']);
  expect([verbose.exitCode, `${verbose.stdout}`]).toEqual([0, '']);
  expect(verbose.stderr).toMatch(/new\/dir\/a: 4\.0 kB\n(.*\n)*2 downloaded/);
  const usual = await download(['a', 'b', '-d', 'new/dir', '--if-exists', 'overwrite']);
  expect(usual.stderr).toMatch(/^2 downloaded/);
  const quiet = await download(['c', '-q']);
  expect([quiet.exitCode, `${quiet.stdout}`, quiet.stderr]).toEqual([0, '', '']);
});

test('--report has one line for each file, and then a summary', async () => {
  const { download, read } = await setUp((socket, request) => {
    if (request.path.includes('until')) sendAndEnd(socket, framed(FILE, 'until-close').bytes, 'FIN');
    else if (request.path.includes('missing')) socket.write(head(404, { 'Content-Length': 0 }));
    else return whole(FILE)(socket, request);
  });
  expect((await download(['a', 'missing', 'until', '--report', 'out.jsonl', '-j', '1'])).exitCode).toBe(3);
  const base = { v: 1, accession_no: ACCESSION, attempts: 1, ms: expect.any(Number) };
  const error = { code: 'not_found', exit_code: 5, problem: { status: 404 } };
  const sums = { downloaded: 2, failed: 1, not_started: 0, bytes: 8000, requests: 3, retries: 0, exit_code: 3 };
  expect(jsonOf(await read('out.jsonl'))).toMatchObject([
    { ...base, file_name: 'a', path: 'a', result: 'downloaded', bytes: 4000, etag: '"v1"', verified_length: true },
    { ...base, file_name: 'missing', result: 'failed', error },
    { ...base, file_name: 'until', result: 'downloaded', bytes: 4000, verified_length: false },
    { v: 1, time: expect.stringMatching(/^\d{4}-.*Z$/), summary: sums },
  ]);
});

// Which files are compared is in unit/placed-filing, and what --if-exists does in service/if-exists.
const OTHER = Buffer.from('another file');
const INTO = ['--layout', '{accession_no}/{file_name}'];
test.each`
  what                          | args           | path                | exists   | exit | asked | then     | says
  ${'is compared'}              | ${[]}          | ${'a'}              | ${OTHER} | ${8} | ${1}  | ${OTHER} | ${/a different file/}
  ${'is accepted if equal'}     | ${[]}          | ${'a'}              | ${FILE}  | ${0} | ${1}  | ${FILE}  | ${/^a: .*identical\n$/}
  ${'is skipped by its filing'} | ${INTO}        | ${`${ACCESSION}/a`} | ${OTHER} | ${0} | ${0}  | ${OTHER} | ${/a: already exists, skip/}
  ${'is replaced by -o'}        | ${['-o', 'a']} | ${'a'}              | ${OTHER} | ${0} | ${1}  | ${FILE}  | ${/^/}
`('an existing file $what', async ({ args, path, exists, exit, asked, then, says }) => {
  const { download, read, requests, write } = await setUp();
  await write(path, exists);
  const { exitCode, stderr } = await download(['a', ...args]);
  expect([exitCode, requests.length, stderr]).toEqual([exit, asked, expect.stringMatching(says)]);
  expect(await read(path)).toEqual(then);
});

test.each`
  compares                   | sha256                  | exists       | exit | asked | left
  ${'a downloaded file'}     | ${SHA256.toUpperCase()} | ${undefined} | ${0} | ${1}  | ${['a']}
  ${'another file'}          | ${WRONG}                | ${undefined} | ${9} | ${1}  | ${[]}
  ${'another existing file'} | ${WRONG}                | ${FILE}      | ${9} | ${0}  | ${['a']}
`('--sha256 is compared with the hash of $compares', async ({ sha256, exists, exit, asked, left }) => {
  const { download, names, requests, write } = await setUp();
  if (exists) await write('a', exists);
  const { exitCode, stderr } = await download(['a', '--sha256', sha256]);
  expect([exitCode, await names(), requests.length]).toEqual([exit, left, asked]);
  expect(stderr.includes(SHA256)).toBe(exit === 9);
});
