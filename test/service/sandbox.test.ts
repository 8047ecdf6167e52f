import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, truncate, utimes } from 'node:fs/promises';
import { get } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test as vitestTest } from 'vitest';
import { ACCESSION, download, json, KEY, put, type Running, sandbox } from './sandbox-fixture.ts';

const listing = (accession = ACCESSION) => `/v1/filings?accession_no=${accession}`;
const at = (name: string) => `${ACCESSION}/${name}`;
const key = { 'X-Service-Key': KEY };
const ALPHA = { [at('a.txt')]: 'alpha' };
/** `test` with a sandbox of one file. */
const test = vitestTest.extend('alpha', () => sandbox(ALPHA));
const ONLY_ALPHA = { total: 1, files: [expect.objectContaining({ file_name: 'a.txt' })] };

describe('a file of the sandbox', () => {
  const HUGE = '9'.repeat(400);
  test.each`
    name           | range                | status | part             | body
    ${'a.txt'}     | ${undefined}         | ${200} | ${undefined}     | ${'alpha'}
    ${'empty.txt'} | ${undefined}         | ${200} | ${undefined}     | ${''}
    ${'a.txt'}     | ${'bytes=1-3'}       | ${206} | ${'bytes 1-3/5'} | ${'lph'}
    ${'a.txt'}     | ${`bytes=3-${HUGE}`} | ${206} | ${'bytes 3-4/5'} | ${'ha'}
    ${'a.txt'}     | ${'bytes=-2'}        | ${206} | ${'bytes 3-4/5'} | ${'ha'}
    ${'a.txt'}     | ${'bytes=-'}         | ${200} | ${undefined}     | ${'alpha'}
    ${'a.txt'}     | ${'bytes=1-2,4-5'}   | ${200} | ${undefined}     | ${'alpha'}
    ${'a.txt'}     | ${'bytes=3-2'}       | ${200} | ${undefined}     | ${'alpha'}
    ${'a.txt'}     | ${'bytes=9-2'}       | ${200} | ${undefined}     | ${'alpha'}
    ${'a.txt'}     | ${'bytes=-0'}        | ${416} | ${'bytes */5'}   | ${/"status":416/}
    ${'a.txt'}     | ${`bytes=${HUGE}-`}  | ${416} | ${'bytes */5'}   | ${/"status":416/}
    ${'empty.txt'} | ${'bytes=0-'}        | ${416} | ${'bytes */0'}   | ${/"status":416/}
  `('$name has the status $status and the part $part for the range $range', async (row) => {
    const { name, range, status, part, body } = row;
    const running = await sandbox({ ...ALPHA, [at('empty.txt')]: '' });
    const reply = await running.get(download(name), { ...key, ...(range && { Range: range }) });
    expect([reply.status, reply.headers['content-range']]).toEqual([status, part]);
    expect(reply.headers).toMatchObject({ etag: expect.any(String), 'content-length': `${reply.body.length}` });
    expect(reply.body.toString()).toEqual(body instanceof RegExp ? expect.stringMatching(body) : body);
  });

  test('has a strong ETag for each version, which allows a range', async () => {
    const running = await sandbox();
    const etags = new Set<string>();
    for (const version of [1, 2, 3]) {
      await put(running.directory, at('a.txt'), `state ${version}`);
      await utimes(join(running.directory, at('a.txt')), version, version);
      const { etag = '' } = (await running.get(download('a.txt'))).headers;
      etags.add(etag);
      for (const condition of [etag, `W/${etag}`, new Date().toUTCString()]) {
        const reply = await running.get(download('a.txt'), { ...key, Range: 'bytes=1-', 'If-Range': condition });
        expect(reply.status, condition).toBe(condition === etag ? 206 : 200);
      }
    }
    expect(etags.size).toBe(3);
  });

  test('is not served if it is missing or hidden, or if its name is not that of one file', async () => {
    const running = await sandbox({ ...ALPHA, [at('.hidden')]: 'hidden', 'secret.txt': 'outside' });
    await symlink('nowhere', join(running.directory, at('dangling.txt')));
    for (const name of ['dangling.txt', 'A.txt ', 'n'.repeat(300)]) {
      const reply = await running.get(download(name));
      expect([reply.status, 'errors' in json(reply)]).toEqual([404, false]);
    }
    const outside = ['../secret.txt', '..', '.', '/etc/passwd', 'x/../a.txt', '..\\secret.txt', 'a.txt\0', './a.txt'];
    for (const name of ['.hidden', ...outside]) {
      const reply = await running.get(download(name));
      expect([name, reply.status]).toEqual([name, 400]);
      expect(json(reply).errors).toHaveProperty('file_name');
    }
    expect(json(await running.get(listing()))).toEqual(ONLY_ALPHA);
  });

  test('gives a 500 without a path if it cannot be read', async ({ alpha: running }) => {
    await mkdir(join(running.directory, at('folder.htm')));
    execFileSync('mkfifo', [join(running.directory, at('fifo.htm'))]);
    for (const name of ['folder.htm', 'fifo.htm']) {
      const reply = await running.get(download(name));
      expect(json(reply)).toMatchObject({ status: 500, title: 'Internal Server Error', traceId: expect.any(String) });
      expect([reply.status, 'errors' in json(reply)]).toEqual([500, false]);
      expect(reply.body.toString()).not.toContain(running.directory);
    }
    expect(json(await running.get(listing()))).toEqual(ONLY_ALPHA);
  });
});

describe('a listing of the sandbox', () => {
  test('has all files, sorted, and each of them can be downloaded by its name', async () => {
    const names = ['#1?.txt', '100% owned.htm', 'R&D.xml', 'R1.htm', 'a+b.txt', 'q\'"<>|*.x', 'übersicht.htm'];
    const running = await sandbox(Object.fromEntries(names.toReversed().map((name) => [at(name), name])));
    const reply = await running.get(listing());
    expect(reply.headers['content-type']).toBe('application/json');
    const files = names.map((file_name) => ({ accession_no: ACCESSION, file_name }));
    expect(json(reply)).toMatchObject({ total: 7, files });
    expect(json(reply).files).toMatchObject({ 3: { size: 6, type: 'text/html' }, 4: { size: 7, type: 'text/plain' } });
    for (const name of names) expect((await running.get(download(name))).body.toString()).toBe(name);
  });

  test('comes in pages, each with the address of the next one', async () => {
    const names = ['1', '2', '3', '4', '5'];
    const running = await sandbox(Object.fromEntries(names.map((name) => [at(name), name])), { pageSize: 2 });
    const pages: unknown[] = [];
    for (let target = `${listing()}&form=a%26b&apikey=${encodeURIComponent(KEY)}`; target; ) {
      const { total, files, next } = json(await running.get(target));
      pages.push([total, (files as { file_name: string }[]).map((file) => file.file_name).join(), next]);
      target = next as string;
    }
    const next = `${listing()}&form=a%26b&page_number=`;
    expect(pages).toEqual([
      [5, '1,2', `${next}2`],
      [5, '3,4', `${next}3`],
      [5, '5', undefined],
    ]);
    expect(json(await running.get(`${listing()}&page_number=4`))).toEqual({ total: 5, files: [] });
    const exact = await sandbox({ [at('1')]: '1' }, { pageSize: 1 });
    expect(json(await exact.get(listing()))).not.toHaveProperty('next');
    const refused = await running.get(`${listing()}&page_number=0`);
    expect([refused.status, json(refused).errors]).toEqual([400, { page_number: [expect.any(String)] }]);
  });

  test('is empty for a filing that does not exist', async () => {
    const running = await sandbox({ '0001234567-24-000002': 'a file, no folder' });
    for (const accession of [ACCESSION, '0001234567-24-000002']) {
      const reply = await running.get(listing(accession));
      expect([reply.status, json(reply)]).toEqual([200, { total: 0, files: [] }]);
      expect((await running.get(download('a.txt', accession))).status).toBe(404);
    }
  });
});

describe('an error of the sandbox', () => {
  const ONE = `accession_no=${ACCESSION}`;
  test.for`
    target                                      | properties
    ${'/v1/download'}                           | ${['accession_no', 'file_name']}
    ${'/v1/filings'}                            | ${['accession_no']}
    ${`/v1/download?${ONE}&file_name=`}         | ${['file_name']}
    ${`/v1/download?${ONE}%0A&file_name=a.txt`} | ${['accession_no']}
    ${'/v1/filings?accession_no=../..'}         | ${['accession_no']}
  `('is a 400 for $target that names $properties', async ({ target, properties }, { alpha }) => {
    const reply = await alpha.get(target);
    expect([reply.status, reply.headers['content-type']]).toEqual([400, 'application/problem+json']);
    expect(Object.keys(json(reply).errors as object)).toEqual(properties);
  });

  test('is a 404 for another path, a 405 for another method, and a 401 for an unreadable key', async ({ alpha }) => {
    const statusOf = async (path: string, method = 'GET') => {
      const target = download('a.txt').replace('/v1/download', path);
      const { status, headers } = await alpha.get(target, { ...key, 'Content-Length': '0' }, method);
      return headers.allow === undefined ? status : `${status}, ${headers.allow}`;
    };
    expect(await statusOf('/v1/download/')).toBe(200);
    const others = '/ /v1/ /v2/download /v1/download/extra /v1%2Fdownload /V1/download //v1/download /v1/%zz';
    for (const path of others.split(' ')) expect(await statusOf(path), path).toBe(404);
    for (const method of ['POST', 'DELETE', 'HEAD']) expect(await statusOf('/v1/download', method)).toBe('405, GET');
    expect(await statusOf('/v1/download/APIKEY-%zz')).toBe(401);
  });
});

describe('a Host header', () => {
  const TARGET = `${download('a.txt')}&apikey=plain`;
  const start = (host: string) => sandbox(ALPHA, { apiKey: 'plain', host });
  /** Sends a request as a browser or an attacker would write it. */
  async function ask({ port }: Running, host: string): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${TARGET} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    return text(socket);
  }

  test('on loopback may be a loopback name with any port, because ports can be forwarded', async () => {
    const running = await start('127.0.0.1');
    for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', 'LOCALHOST', '[::1]']) {
      for (const field of [host, `${host}:9`]) expect(await ask(running, field)).toMatch(/^HTTP\/1\.1 200 .*alpha$/s);
    }
  });

  test('on loopback may not be any other name', async () => {
    const running = await start('127.0.0.1');
    const others = 'evil.example x.localhost localhost. 127.0.0.1.evil.example localhost@evil.example 192.0.2.1 0';
    for (const host of [...others.split(' '), '[::]', '[::1]x', '127.0.0.1:8787:1']) {
      for (const field of [host, `${host}:${running.port}`]) {
        const answer = await ask(running, field);
        expect(answer, field).toMatch(/^HTTP\/1\.1 421 .*application\/problem\+json.*"status":421/s);
        expect(answer).not.toContain('alpha');
      }
    }
    expect(running.lines[0]).toMatch(/ 421 .*Host must be a loopback name/);
  });

  test('may be any name beyond loopback', async () => {
    expect(await ask(await start('0.0.0.0'), 'stand-in.example')).toMatch(/^HTTP\/1\.1 200 /);
  });

  const ipv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
  test.each(['localhost', ...(ipv6 ? ['::1'] : [])])('works if the sandbox listens on %s', async (listening) => {
    const running = await start(listening);
    expect(running.url).toBe(`http://${listening === '::1' ? '[::1]' : listening}:${running.port}`);
    expect((await fetch(`${running.url}${TARGET}`)).status).toBe(200);
  });
});

test('the log of the sandbox has one line per request, without what may be a key', async () => {
  const running = await sandbox(ALPHA, { apiKey: 'key' });
  const targets = [
    `${download('a.txt')}&apikey=key`,
    download('a.txt').replace('?', '/APIKEY-key?'),
    '/APIKEY-key/v1/download',
    '/v1/%zz/APIKEY-key',
    download('a.txt'),
  ];
  for (const [index, target] of targets.entries()) {
    await running.get(target, index === 4 ? { Authorization: 'Basic key' } : {});
    // A request is logged when its response has been sent, which its client may see earlier.
    await expect.poll(() => running.lines.length).toBe(index + 1);
  }
  expect(running.lines.map((line) => line.replace(/^\d{4}-\S+Z | \d+ms.*/g, ''))).toEqual([
    'GET /v1/download 0001234567-24-000001 a.txt 200',
    'GET /v1/download/APIKEY-[redacted] 0001234567-24-000001 a.txt 200',
    'GET /APIKEY-[redacted] 401',
    'GET /v1/%zz/APIKEY-[redacted] 404',
    'GET /v1/download 0001234567-24-000001 a.txt 401',
  ]);
});

test('closing the sandbox ends open connections at once', async () => {
  const running = await sandbox({ [at('big.bin')]: Buffer.alloc(32 << 20) });
  const silent = connect(running.port, '127.0.0.1').on('error', () => {});
  await once(silent, 'connect');
  const stalled = get(`${running.url}${download('big.bin')}`, { headers: key }).on('error', () => {});
  const [response] = await once(stalled, 'response');
  const cut = once(response, 'error');
  await running.close();
  response.resume();
  await cut;
  if (!silent.closed) await once(silent, 'close');
  await expect.poll(() => running.lines.at(-1)).toMatch(/\(cut off\)$/);
});

test('a file that becomes shorter while the sandbox sends it is cut off, so that its client does not wait', async () => {
  const running = await sandbox({ [at('big.bin')]: Buffer.alloc(32 << 20) });
  const request = get(`${running.url}${download('big.bin')}`, { headers: key });
  const [response] = await once(request, 'response');
  await truncate(join(running.directory, at('big.bin')), 9);
  response.resume();
  await once(response, 'error');
});
