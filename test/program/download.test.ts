import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { framed, head, sendAndEnd, sendFile } from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, asking, jsonOf } from './run.ts';

const FILE = content(4000);
const SHA256 = createHash('sha256').update(FILE).digest('hex');

async function setUp(script: Script = (socket, request) => sendFile(socket, request, FILE, '"v1"')) {
  const { filings, ...place } = await asking(script);
  return {
    ...place,
    download: (args: string[], env = {}) => filings(['download', ACCESSION, ...args], env),
    /** The URL of the first request. */
    asked: () => new URL(place.requests[0]?.path ?? '', place.url),
  };
}

describe('a download requests', () => {
  test.each(['100% owned.htm', 'a+b.txt', 'übersicht.htm', '#1?.htm'])('%s by its encoded name', async (name) => {
    const { download, asked, names, requests, url } = await setUp();
    const { exitCode, stderr } = await download([name], { FILINGS_BASE_URL: `${url}/api/v1/` });
    expect(exitCode, stderr).toBe(0);
    expect(await names()).toEqual([name]);
    expect(asked().pathname).toBe('/api/v1/download');
    expect(Object.fromEntries(asked().searchParams)).toEqual({ accession_no: ACCESSION, file_name: name });
    expect(requests[0]?.line).toMatch(/^GET \S+ HTTP\/1\.1$/);
  });

  test('any name with -o, and writes it to that path', async () => {
    const { at, download, asked, read } = await setUp();
    await mkdir(at('deep/er'), { recursive: true });
    const { exitCode, stderr } = await download(['xslF345X05/form4.xml', '-o', 'deep/er/form4.xml']);
    expect(exitCode, stderr).toBe(0);
    expect(await read('deep/er/form4.xml')).toEqual(FILE);
    expect(asked().searchParams.get('file_name')).toBe('xslF345X05/form4.xml');
  });
});

describe('a download reports', () => {
  test('on stderr with -v each file, and always the whole run, and nothing on stdout', async () => {
    const { download } = await setUp();
    const { exitCode, stdout, stderr } = await download(['a', 'b', '-d', 'new/dir', '-v']);
    expect([exitCode, `${stdout}`]).toEqual([0, '']);
    expect(stderr).toMatch(/new\/dir\/a: 4\.0 kB\n/);
    expect(stderr).toMatch(/2 downloaded .*8\.0 kB/);
    const quiet = await download(['c', '-q']);
    expect([quiet.exitCode, `${quiet.stdout}`, quiet.stderr]).toEqual([0, '', '']);
  });

  test('one line per file and a summary in --report', async () => {
    const { download, read } = await setUp((socket, request) => {
      if (request.path.includes('until')) sendAndEnd(socket, framed(FILE, 'until-close').bytes, 'FIN');
      else if (request.path.includes('missing')) socket.write(head(404, { 'Content-Length': 0 }));
      else sendFile(socket, request, FILE, '"v1"');
    });
    expect((await download(['a', 'until', 'missing', '--report', 'out.jsonl', '-j', '1'])).exitCode).toBe(3);
    const base = { v: 1, accession_no: ACCESSION, attempts: 1, ms: expect.any(Number) };
    const error = { code: 'not_found', exit_code: 5, problem: { status: 404 } };
    expect(jsonOf(await read('out.jsonl'))).toMatchObject([
      { ...base, file_name: 'a', path: 'a', result: 'downloaded', bytes: 4000, etag: '"v1"', verified_length: true },
      { ...base, file_name: 'until', result: 'downloaded', bytes: 4000, verified_length: false },
      { ...base, file_name: 'missing', result: 'failed', error },
      {
        v: 1,
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        summary: { downloaded: 2, failed: 1, not_started: 0, bytes: 8000, requests: 3, retries: 0, exit_code: 3 },
      },
    ]);
  });
});

// Where a file counts as the filing's own is the table of unit/placed-filing.
test.each<[args: string[], path: string, exists: Buffer | string, exit: number, requests: number]>([
  [[], 'a', 'of another filing', 8, 1],
  [[], 'a', FILE, 0, 1],
  [['--layout', '{accession_no}/{file_name}'], `${ACCESSION}/a`, 'ours', 0, 0],
  [['-o', 'a'], 'a', 'old', 0, 1],
])('an existing file is skipped only below its accession number: %j: %s', async (args, path, exists, exit, asked) => {
  const { download, read, requests, write } = await setUp();
  await write(path, exists);
  const { exitCode, stderr } = await download(['a', ...args]);
  expect([exitCode, requests.length], stderr).toEqual([exit, asked]);
  expect(await read(path)).toEqual(args[0] === '-o' ? FILE : Buffer.from(exists));
  if (exit === 8)
    expect(stderr).toMatch(/it has \d+ bytes, this one 4000\n {2}hint: .*--layout or -d.*--if-exists overwrite/);
});

test('an existing file that was compared is not said to be not downloaded', async () => {
  const { download, write } = await setUp();
  await write('a', FILE);
  expect((await download(['a'])).stderr).toBe('a: already exists, with the same bytes\n');
  expect((await download(['a', '--if-exists', 'skip'])).stderr).toMatch(/^a: already exists, skipped \(/);
});

const WRONG = SHA256.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
test.each<[string, string, string[], boolean, number, string[], requests: number]>([
  ['in upper case', SHA256.toUpperCase(), [], false, 0, ['a'], 1],
  ['a wrong one', WRONG, [], false, 9, [], 1],
  ['of an existing file, wrong', WRONG, [], true, 9, ['a'], 0],
])('--sha256 is compared with the hash of the file: %s', async (_, sha256, more, exists, exit, left, asked) => {
  const { download, names, requests, write } = await setUp();
  if (exists) await write('a', FILE);
  const { exitCode, stdout, stderr } = await download(['a', '--sha256', sha256, ...more]);
  expect([exitCode, stdout.length, await names(), requests.length]).toEqual([exit, 0, left, asked]);
  if (exit === 9) expect(stderr).toContain(SHA256);
});
