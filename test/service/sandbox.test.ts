import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink } from 'node:fs/promises';
import { get } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, test, vi } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { heldClock } from '../held-clock.ts';
import { ACCESSION, download, json, KEY, put, type Running, sandbox } from './sandbox-fixture.ts';

const listing = (accession = ACCESSION) => `/v1/filings?accession_no=${accession}`;
const at = (name: string) => `${ACCESSION}/${name}`;
const key = { 'X-Service-Key': KEY };
const ALPHA = { [at('a.txt')]: 'alpha' };

describe('a file of the sandbox', () => {
  it.each<[string, string, Record<string, string>, number, string]>([
    ['a.txt', 'HEAD', { Range: 'bytes=1-1' }, 200, ''],
    ['empty.txt', 'GET', {}, 200, ''],
    ['empty.txt', 'GET', { Range: 'bytes=0-' }, 416, 'bytes */0'],
    ['a.txt', 'GET', { Range: 'bytes=1-3' }, 206, 'bytes 1-3/5'],
    ['a.txt', 'GET', { Range: 'bytes=1-', 'If-Range': new Date().toUTCString() }, 200, ''],
  ])('is the response to %s, %s %j with status %i', async (name, method, fields, status, range) => {
    const running = await sandbox({ ...ALPHA, [at('empty.txt')]: '' });
    const reply = await running.get(download(name), { ...key, ...fields }, method);
    expect([reply.status, reply.headers['content-range'] ?? '']).toEqual([status, range]);
    expect(reply.headers.etag).toBeDefined();
    if (status === 416) return expect(json(reply)).toMatchObject({ status: 416 });
    const body = status === 206 ? 'lph' : name === 'a.txt' ? 'alpha' : '';
    expect(reply.headers['content-length']).toBe(`${body.length}`);
    expect(reply.body.toString()).toBe(method === 'HEAD' ? '' : body);
  });

  it('has a strong ETag for each version, which allows a range', async () => {
    const running = await sandbox();
    const etags = new Set<string>();
    for (let state = 0; state < 3; state++) {
      await put(running.directory, at('a.txt'), `state ${state}`);
      const { etag = '' } = (await running.get(download('a.txt'))).headers;
      etags.add(etag);
      const range = { ...key, Range: 'bytes=1-' };
      expect((await running.get(download('a.txt'), { ...range, 'If-Range': etag })).status).toBe(206);
      expect((await running.get(download('a.txt'), { ...range, 'If-Range': `W/${etag}` })).status).toBe(200);
      // The wait is longer than the resolution of the file system’s clock.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(etags.size).toBe(3);
  });

  it('is not served if it is hidden or outside its filing', async () => {
    const running = await sandbox({ ...ALPHA, [at('.hidden')]: 'hidden', 'secret.txt': 'outside' });
    await symlink('nowhere', join(running.directory, at('dangling.txt')));
    for (const name of ['dangling.txt', '.hidden', 'A.txt ', 'n'.repeat(300)]) {
      expect((await running.get(download(name))).status).toBe(404);
    }
    const outside = ['../secret.txt', '..', '.', '/etc/passwd', 'x/../a.txt', '..\\secret.txt', 'a.txt\0', './a.txt'];
    for (const name of outside) {
      const reply = await running.get(download(name));
      expect([name, reply.status]).toEqual([name, 400]);
      expect(json(reply).errors).toHaveProperty('file_name');
    }
    expect(json(await running.get(listing()))).toEqual([expect.objectContaining({ file_name: 'a.txt' })]);
  });

  it('gives a 500 without a path if it cannot be read', async () => {
    const running = await sandbox(ALPHA);
    await mkdir(join(running.directory, at('folder.htm')));
    const reply = await running.get(download('folder.htm'));
    expect(json(reply)).toMatchObject({ status: 500, title: 'Internal Server Error', traceId: expect.any(String) });
    expect([reply.status, 'errors' in json(reply)]).toEqual([500, false]);
    expect(reply.body.toString()).not.toContain(running.directory);
  });
});

test('a FIFO is neither listed nor waited for', async () => {
  const running = await sandbox(ALPHA);
  execFileSync('mkfifo', [join(running.directory, at('fifo.htm'))]);
  expect((await running.get(download('fifo.htm'))).status).toBe(500);
  expect(json(await running.get(listing()))).toEqual([expect.objectContaining({ file_name: 'a.txt' })]);
});

describe('a listing of the sandbox', () => {
  it('has all files, sorted, and each of them can be downloaded by its name', async () => {
    const names = ['#1?.txt', '100% owned.htm', 'R&D.xml', 'R1.htm', 'a+b.txt', 'q\'"<>|*.x', 'übersicht.htm'];
    const running = await sandbox(Object.fromEntries(names.toReversed().map((name) => [at(name), name])));
    const reply = await running.get(listing());
    expect(reply.headers['content-type']).toBe('application/json');
    expect(json(reply)).toMatchObject(names.map((file_name) => ({ accession_no: ACCESSION, file_name })));
    expect(json(reply)).toMatchObject({ 3: { size: 6, type: 'text/html' }, 4: { size: 7, type: 'text/plain' } });
    for (const name of names) expect((await running.get(download(name))).body.toString()).toBe(name);
  });

  it('is empty for a filing that does not exist', async () => {
    const running = await sandbox({ '0001234567-24-000002': 'a file, no folder' });
    for (const accession of [ACCESSION, '0001234567-24-000002']) {
      const reply = await running.get(listing(accession));
      expect([reply.status, json(reply)]).toEqual([200, []]);
      expect((await running.get(download('a.txt', accession))).status).toBe(404);
    }
  });
});

describe('an error of the sandbox', () => {
  const ONE = `accession_no=${ACCESSION}`;
  it.each<[string, string[]]>([
    ['/v1/download', ['accession_no', 'file_name']],
    ['/v1/filings', ['accession_no']],
    ['/v1/download?accession_no=1234&file_name=a.txt', ['accession_no']],
    [`/v1/download?${ONE}&file_name=`, ['file_name']],
    [`/v1/download?${ONE}%0A&file_name=a.txt`, ['accession_no']],
    [`/v1/download?${ONE}&${ONE}&file_name=a.txt`, ['accession_no']],
    ['/v1/filings?accession_no=../..', ['accession_no']],
  ])('is a 400 that names the wrong parameters for %s', async (target, properties) => {
    const reply = await (await sandbox(ALPHA)).get(target);
    expect([reply.status, reply.headers['content-type']]).toEqual([400, 'application/problem+json']);
    const errors = Object.fromEntries(properties.map((name) => [name, [expect.any(String)]]));
    expect(json(reply)).toMatchObject({ errors, instance: target.replace(/\?.*/, '') });
    expect(Object.keys(json(reply).errors as object)).toHaveLength(properties.length);
  });

  it.each([
    [200, 'GET', '/v1/download/'],
    ...['/', '/v1/', '/v2/download', '/v1/download/extra', '/v1%2Fdownload', '/V1/download', '//v1/download'].map(
      (path) => [404, 'GET', path] as const,
    ),
    [400, 'GET', '/v1/%zz'],
    [405, 'POST', '/v1/download'],
    [405, 'DELETE', '/v1/download'],
  ] as const)('has the status %i for %s %s', async (status, method, path) => {
    const target = download('a.txt').replace('/v1/download', path);
    const reply = await (await sandbox(ALPHA)).get(target, { ...key, 'Content-Length': '0' }, method);
    expect(reply.status).toBe(status);
    if (status !== 200) expect(json(reply)).not.toHaveProperty('errors');
    expect(reply.headers.allow).toBe(status === 405 ? 'GET, HEAD' : undefined);
  });

  it('is a 429 with Retry-After above the rate, and none below it', async () => {
    let now = 1_700_000_000_000;
    const running = await sandbox(ALPHA, { now: () => now, rateLimit: { requests: 3, perMs: 60_000 } });
    const status = async () => (await running.get(download('a.txt'))).status;
    expect([await status(), await status(), await status()]).toEqual([200, 200, 200]);
    const refused = await running.get(download('a.txt'));
    expect([refused.status, refused.headers['retry-after'], json(refused).status]).toEqual([429, '20', 429]);
    now += 19_999;
    expect((await running.get(download('a.txt'))).headers['retry-after']).toBe('1');
    now += 1;
    expect([await status(), await status()]).toEqual([200, 429]);
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

  // Every port is accepted, because ports can be forwarded.
  test.each(['127.0.0.1', '127.1.2.3', 'localhost', 'LOCALHOST', '[::1]'])('on loopback may be %s', async (host) => {
    const running = await start('127.0.0.1');
    for (const field of [host, `${host}:${running.port}`, `${host}:9`]) {
      expect(await ask(running, field)).toMatch(/^HTTP\/1\.1 200 .*alpha$/s);
    }
  });

  test.each([
    ...['evil.example', 'x.localhost', 'localhost.', '127.0.0.1.evil.example', 'localhost@evil.example', '192.0.2.1'],
    ...['[::]', '[::1]x', '127.0.0.1:8787:1', '0'],
  ])('on loopback may not be %s', async (host) => {
    const running = await start('127.0.0.1');
    for (const field of [host, `${host}:${running.port}`]) {
      const answer = await ask(running, field);
      expect(answer).toMatch(/^HTTP\/1\.1 421 .*application\/problem\+json.*"status":421/s);
      expect(answer).not.toContain('alpha');
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

describe('the log of the sandbox', () => {
  it('has one line per request and never a key', async () => {
    const running = await sandbox(ALPHA, { apiKey: 'canary-0123456789' });
    const keys = ['canary-0123456789', 'another-key-98765'];
    for (const one of keys) {
      const inTarget = [
        `${download('a.txt')}&apikey=${one}`,
        download('a.txt').replace('?', `/APIKEY-${one}?`),
        `/APIKEY-${one}/v1/download`,
        `/v1/x%2FAPIKEY-${one}/y`,
        `/v1/%zz/APIKEY-${one}`,
        `${download('a.txt')}&apikey=%63${one.slice(1)}`,
      ];
      for (const target of inTarget) await running.get(target, {});
      await running.get(download('a.txt'), { Authorization: `Basic ${btoa(`service:${one}`)}` });
      await running.get(download('a.txt'), { 'X-Service-Key': one, Authorization: `Bearer ${one}` });
      for (const length of [270, 290]) {
        await running.get(download(`${'x'.repeat(length)}${keys[0]}`), { Authorization: one });
      }
    }
    expect(running.lines).toHaveLength(20);
    for (const one of keys) {
      for (const form of [one, one.slice(1), one.slice(0, 8), btoa(one), btoa(`service:${one}`)]) {
        expect(running.lines.join('\n')).not.toContain(form);
      }
    }
    expect(running.lines[0]).toMatch(
      /^\d{4}-\S+Z GET \/v1\/download accession_no=0001234567-24-000001 file_name=a\.txt key=query 200 \d+ms$/,
    );
  });

  it('escapes control characters of a request', async () => {
    const running = await sandbox(ALPHA);
    await running.get(download('a\n\x1b[31m\u202e'));
    expect(running.lines).toEqual([expect.stringContaining('file_name=a\\n\\x1b[31m\\u202e ')]);
  });
});

describe('closing the sandbox', () => {
  it('ends open connections at once', async () => {
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

  it('does not wait for delayed responses, and ends their delays', async () => {
    let delayed = 0;
    const delay: typeof sleep = (ms, signal) => {
      delayed = ms;
      return sleep(ms, signal).finally(() => {
        delayed = 0;
      });
    };
    const running = await sandbox(ALPHA, { latencyMs: 600_000, sleep: delay });
    const failed = once(get(`${running.url}${download('a.txt')}`, { headers: key }), 'error');
    await expect.poll(() => delayed).toBe(600_000);
    await running.close();
    expect(await failed).toEqual([expect.objectContaining({ code: 'ECONNRESET' })]);
    await expect.poll(() => delayed).toBe(0);
  });
});

test('the sandbox delays many responses at a time without a warning of Node', async () => {
  using warned = vi.spyOn(process, 'emitWarning');
  const { pass, sleep } = heldClock();
  const asleep = vi.fn(sleep);
  const { get } = await sandbox({}, { latencyMs: 1000, sleep: asleep });
  const replies = Promise.all(Array.from({ length: 12 }, () => get('/v1/nothing')));
  await expect.poll(() => asleep.mock.calls.length).toBe(12);
  await pass(1000);
  expect((await replies).map(({ status }) => status)).toEqual(Array(12).fill(404));
  expect(warned).not.toHaveBeenCalled();
});

test('the sandbox refuses to start on a port in use', async () => {
  const { port } = await sandbox();
  await expect(sandbox({}, { port })).rejects.toMatchObject({
    code: 'local_io',
    message: `cannot listen on 127.0.0.1:${port}: address already in use (EADDRINUSE)`,
  });
});
