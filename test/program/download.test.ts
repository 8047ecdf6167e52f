import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { framed, sendAndEnd, sendFile } from '../servers/answers.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

const FILE = content(4000);
const SHA256 = createHash('sha256').update(FILE).digest('hex');

async function scripted(script: Script = (socket, request) => sendFile(socket, request, FILE, '"v1"')) {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return server;
}

describe('what is asked for', () => {
  test.each(['100% owned.htm', 'a+b.txt', 'übersicht.htm', '#1?.htm'])('a file named %s', async (name) => {
    const server = await scripted();
    const place = await workplace();
    const { exitCode, stderr } = await place.filings(['download', ACCESSION, name], serviceAt(`${server.url}/api/v1/`));
    expect(exitCode, stderr).toBe(0);
    expect(await place.names()).toEqual([name]);
    const { path, line } = server.requests[0] ?? { path: '', line: '' };
    const url = new URL(path, server.url);
    expect(url.pathname).toBe('/api/v1/download');
    expect([...url.searchParams]).toEqual([
      ['accession_no', ACCESSION],
      ['file_name', name],
    ]);
    expect(line).toMatch(/^GET \S+ HTTP\/1\.1$/);
  });

  test('with -o the name is only sent, and may be anything', async () => {
    const server = await scripted();
    const place = await workplace();
    await mkdir(join(place.path, 'deep/er'), { recursive: true });
    const args = ['download', ACCESSION, 'xslF345X05/form4.xml', '-o', 'deep/er/form4.xml'];
    const { exitCode, stderr } = await place.filings(args, serviceAt(server.url));
    expect(exitCode, stderr).toBe(0);
    expect(await place.read('deep/er/form4.xml')).toEqual(FILE);
    expect(new URL(server.requests[0]?.path ?? '', server.url).searchParams.get('file_name')).toBe(
      'xslF345X05/form4.xml',
    );
  });
});

describe('what is said', () => {
  test('a line per file on stderr, nothing on stdout', async () => {
    const server = await scripted();
    const place = await workplace();
    const args = ['download', ACCESSION, 'a', 'b', '-d', 'new/dir'];
    const { exitCode, stdout, stderr } = await place.filings(args, serviceAt(server.url));
    expect([exitCode, stdout.length]).toEqual([0, 0]);
    expect(stderr).toMatch(/new\/dir\/a: 4\.0 kB\n/);
    expect(stderr).toMatch(/2 downloaded \(8\.0 kB\)/);
    const quiet = await place.filings(['download', ACCESSION, 'c', '-q'], serviceAt(server.url));
    expect([quiet.exitCode, quiet.stdout.toString(), quiet.stderr]).toEqual([0, '', '']);
  });

  test('the report: a line a file, as it ends', async () => {
    const server = await scripted((socket, request) => {
      if (request.path.includes('until')) sendAndEnd(socket, framed(FILE, 'until-close').bytes, 'FIN');
      else if (request.path.includes('missing')) socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
      else sendFile(socket, request, FILE, '"v1"');
    });
    const place = await workplace();
    const args = ['download', ACCESSION, 'a', 'until', 'missing', '--report', 'out.jsonl', '-j', '1'];
    expect((await place.filings(args, serviceAt(server.url))).exitCode).toBe(3);
    const lines = (await place.read('out.jsonl'))
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const base = { v: 1, accession_no: ACCESSION, attempts: 1, ms: expect.any(Number) };
    expect(lines).toMatchObject([
      { ...base, file_name: 'a', path: 'a', result: 'downloaded', bytes: 4000, etag: '"v1"', verified_length: true },
      { ...base, file_name: 'until', result: 'downloaded', bytes: 4000, verified_length: false },
      {
        ...base,
        file_name: 'missing',
        result: 'failed',
        error: { code: 'not_found', exit_code: 5, problem: { status: 404 } },
      },
      {
        v: 1,
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        summary: { downloaded: 2, failed: 1, not_started: 0, bytes: 8000, requests: 3, retries: 0, exit_code: 3 },
      },
    ]);
  });
});

describe('a file that exists, when nothing says what to do', () => {
  const layout = (template: string) => ['--layout', template];
  test.each<[args: string[], path: string, exists: Buffer, exit: number, requests: number]>([
    [[], 'a', Buffer.from('of another filing'), 8, 1],
    [[], 'a', FILE, 0, 1],
    [layout('{accession_no}-{file_name}'), `${ACCESSION}-a`, Buffer.from('another'), 8, 1],
    [layout('{accession_no}/{file_name}'), `${ACCESSION}/a`, Buffer.from('ours'), 0, 0],
    [['-d', `x/${ACCESSION}/y`], `x/${ACCESSION}/y/a`, Buffer.from('ours'), 0, 0],
    [['-o', 'a'], 'a', Buffer.from('old'), 0, 1],
  ])('%j: %s', async (args, path, exists, exit, requests) => {
    const server = await scripted();
    const place = await workplace();
    await mkdir(dirname(join(place.path, path)), { recursive: true });
    await writeFile(join(place.path, path), exists);
    const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a', ...args], serviceAt(server.url));
    expect([exitCode, server.requests.length], stderr).toEqual([exit, requests]);
    expect(await place.read(path)).toEqual(args[0] === '-o' ? FILE : exists);
    if (exit === 8)
      expect(stderr).toMatch(/it has \d+ bytes, this one 4000\n {2}hint: .*--layout or -d.*--if-exists overwrite/);
  });
});

describe('--sha256', () => {
  const WRONG = SHA256.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));

  test.each<[string, string, string[], boolean, number, { names: string[]; requests: number }]>([
    ['in capitals', SHA256.toUpperCase(), [], false, 0, { names: ['a'], requests: 1 }],
    ['a wrong one', WRONG, [], false, 9, { names: [], requests: 1 }],
    ['a wrong one through the spool', WRONG, ['-o', '-', '--spool'], false, 9, { names: [], requests: 1 }],
    ['of what exists: wrong', WRONG, [], true, 9, { names: ['a'], requests: 0 }],
  ])('%s', async (_, sha256, more, exists, exit, { names, requests }) => {
    const server = await scripted();
    const place = await workplace();
    if (exists) await writeFile(join(place.path, 'a'), FILE);
    const args = ['download', ACCESSION, 'a', '--sha256', sha256, ...more];
    const { exitCode, stdout, stderr } = await place.filings(args, serviceAt(server.url));
    expect([exitCode, stdout.length, await place.names(), server.requests.length]).toEqual([exit, 0, names, requests]);
    if (exit === 9) expect(stderr).toContain(SHA256);
  });
});
