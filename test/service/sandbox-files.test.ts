import { once } from 'node:events';
import { mkdir, symlink, truncate } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { ACCESSION, download, json, KEY, put, sandbox } from './sandbox-fixture.ts';

const listing = (accession = ACCESSION) => `/v1/filings?accession_no=${accession}`;
const at = (name: string) => `${ACCESSION}/${name}`;
const key = { 'X-Service-Key': KEY };

describe('download', () => {
  const NAMES = [
    'primary.htm',
    '100% owned.htm',
    'R&D.htm',
    'a+b.txt',
    'exhibit 10 1.htm',
    'übersicht.htm',
    '#1?.txt',
    'q\'"<>|*.x',
  ];

  it.each(NAMES)('%s', async (name) => {
    const running = await sandbox({ [at(name)]: `content of ${name}` });
    const reply = await running.get(download(name));
    expect([reply.status, reply.body.toString()]).toEqual([200, `content of ${name}`]);
  });

  it.each([
    ['a.htm', 'text/html'],
    ['a.XSD', 'application/xml'],
    ['a', 'application/octet-stream'],
  ])('%s is %s', async (name, type) => {
    const running = await sandbox({ [at(name)]: 'x' });
    const { headers } = await running.get(download(name));
    expect(headers['content-type']).toBe(type);
    expect(headers).toMatchObject({ 'content-length': '1', 'accept-ranges': 'bytes' });
    expect(headers.etag).toMatch(/^"[\w-]+"$/);
  });

  it('sends an empty file, and answers HEAD without a body', async () => {
    const running = await sandbox({ [at('empty.txt')]: '', [at('a.txt')]: 'alpha' });
    const empty = await running.get(download('empty.txt'));
    expect([empty.status, empty.headers['content-length'], empty.body.length]).toEqual([200, '0', 0]);
    expect((await running.get(download('empty.txt'), { ...key, Range: 'bytes=0-' })).status).toBe(416);
    const head = await running.get(download('a.txt'), { ...key, Range: 'bytes=1-1' }, 'HEAD');
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, '5', 0]);
  });

  it.each<[string, number, string, string | undefined]>([
    ['bytes=1-3', 206, 'lph', 'bytes 1-3/5'],
    ['bytes=2-99', 206, 'pha', 'bytes 2-4/5'],
    ['bytes=5-', 416, '', 'bytes */5'],
    ['bytes=0-0,2-2', 200, 'alpha', undefined],
  ])('Range: %s', async (range, status, body, contentRange) => {
    const running = await sandbox({ [at('a.txt')]: 'alpha' });
    const reply = await running.get(download('a.txt'), { ...key, Range: range });
    expect([reply.status, reply.headers['content-range']]).toEqual([status, contentRange]);
    if (status === 416) expect(json(reply)).toMatchObject({ status: 416 });
    else expect([reply.body.toString(), reply.headers['content-length']]).toEqual([body, `${body.length}`]);
    expect(reply.headers.etag).toBeDefined();
  });

  it('honours If-Range', async () => {
    const running = await sandbox({ [at('a.txt')]: 'alpha' });
    const { etag = '' } = (await running.get(download('a.txt'))).headers;
    const status = async (condition: string) =>
      (await running.get(download('a.txt'), { ...key, Range: 'bytes=1-', 'If-Range': condition })).status;
    expect(await status(etag)).toBe(206);
    for (const other of ['"other"', `W/${etag}`, new Date().toUTCString()]) expect(await status(other)).toBe(200);
  });

  it('gives every state of a file its own strong ETag, of the same size, too', async () => {
    const running = await sandbox();
    const seen = new Set<string>();
    for (let state = 0; state < 3; state++) {
      await put(running.directory, at('a.txt'), `state ${state}`);
      const { etag = '' } = (await running.get(download('a.txt'))).headers;
      seen.add(etag);
      expect((await running.get(download('a.txt'))).headers.etag).toBe(etag);
      // Longer than a tick of the file system's clock.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(seen.size).toBe(3);
  });
});

it('a file that becomes shorter while it is sent is cut off', async () => {
  const BIG = 32 * 1024 * 1024;
  const running = await sandbox({ [at('big.txt')]: Buffer.alloc(BIG, 'a') });
  const [response] = await once(get(`${running.url}${download('big.txt')}`, { headers: key }), 'response');
  await truncate(join(running.directory, at('big.txt')), BIG / 2);
  await expect(buffer(response)).rejects.toThrow();
});

describe('what is not served', () => {
  it('is hidden, or outside the filing', async () => {
    const running = await sandbox({ [at('a.txt')]: 'alpha', [at('.hidden')]: 'hidden', 'secret.txt': 'outside' });
    await symlink('nowhere', join(running.directory, at('dangling.txt')));
    for (const name of ['dangling.txt', '.hidden', 'A.txt ', 'n'.repeat(300)]) {
      expect((await running.get(download(name))).status).toBe(404);
    }
    for (const name of [
      '../secret.txt',
      '..',
      '.',
      '/etc/passwd',
      'x/../a.txt',
      '..\\secret.txt',
      'a.txt\0',
      './a.txt',
    ]) {
      const reply = await running.get(download(name));
      expect([name, reply.status]).toEqual([name, 400]);
      expect(json(reply).errors).toHaveProperty('file_name');
    }
    expect(json(await running.get(listing()))).toEqual([expect.objectContaining({ file_name: 'a.txt' })]);
  });

  it('answers 500 for what is there and cannot be read', async () => {
    const running = await sandbox({ [at('a.txt')]: 'alpha' });
    await mkdir(join(running.directory, at('folder.htm')));
    const reply = await running.get(download('folder.htm'));
    expect(reply.status).toBe(500);
    expect(json(reply)).toMatchObject({ status: 500, title: 'Internal Server Error', traceId: expect.any(String) });
    expect(json(reply)).not.toHaveProperty('errors');
    expect(reply.body.toString()).not.toContain(running.directory);
  });
});

describe('listing', () => {
  it('says what is there, sorted', async () => {
    const running = await sandbox({
      [at('b.txt')]: 'beta',
      [at('R1.htm')]: '',
      [at('ex31-1.htm')]: 'x',
      [at('übersicht.htm')]: 'x',
    });
    const reply = await running.get(listing());
    expect(reply.headers['content-type']).toBe('application/json');
    expect(json(reply)).toEqual([
      { accession_no: ACCESSION, file_name: 'R1.htm', size: 0, type: 'text/html', description: 'XBRL report 1' },
      { accession_no: ACCESSION, file_name: 'b.txt', size: 4, type: 'text/plain' },
      { accession_no: ACCESSION, file_name: 'ex31-1.htm', size: 1, type: 'text/html', description: 'Exhibit 31.1' },
      { accession_no: ACCESSION, file_name: 'übersicht.htm', size: 1, type: 'text/html' },
    ]);
  });

  it('lists nothing for a filing that is not there', async () => {
    const running = await sandbox({ '0001234567-24-000002': 'a file, no folder' });
    for (const accession of [ACCESSION, '0001234567-24-000002']) {
      const reply = await running.get(listing(accession));
      expect([reply.status, json(reply)]).toEqual([200, []]);
      expect((await running.get(download('a.txt', accession))).status).toBe(404);
    }
  });
});
