import { execFile } from 'node:child_process';
import { mkdir, open, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
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
    expect(new Date(headers['last-modified'] ?? '').toUTCString()).toBe(headers['last-modified']);
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
    const old = new Date('2024-03-01T12:00:00Z');
    await utimes(join(running.directory, at('a.txt')), old, old);
    const { etag = '', 'last-modified': date = '' } = (await running.get(download('a.txt'))).headers;
    expect(date).toBe('Fri, 01 Mar 2024 12:00:00 GMT');
    const status = async (headers: Record<string, string>) =>
      (await running.get(download('a.txt'), { ...key, ...headers })).status;
    const range = { Range: 'bytes=1-' };
    expect(await status({ ...range, 'If-Range': etag })).toBe(206);
    expect(await status({ ...range, 'If-Range': date })).toBe(206);
    expect(await status({ ...range, 'If-Range': '"other"' })).toBe(200);
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

  it('tells no Last-Modified of the future', async () => {
    const running = await sandbox({ [at('a.txt')]: 'alpha' });
    const future = new Date(Date.now() + 3_600_000);
    await utimes(join(running.directory, at('a.txt')), future, future);
    expect((await running.get(download('a.txt'))).headers['last-modified']).toBeUndefined();
  });
});

describe('a file that changes while it is sent', () => {
  const BIG = 32 * 1024 * 1024;

  /** Starts a download, waits for its head, does something, then reads the rest. */
  async function midway(
    change: (path: string) => Promise<void>,
  ): Promise<{ bytes: number; letters: Set<number>; cut: boolean }> {
    const running = await sandbox({ [at('big.txt')]: Buffer.alloc(BIG, 'a') });
    const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
      get(`${running.url}${download('big.txt')}`, { headers: key }, resolve).on('error', reject);
    });
    await change(join(running.directory, at('big.txt')));
    const seen = { bytes: 0, letters: new Set<number>(), cut: false };
    try {
      for await (const chunk of response) {
        seen.bytes += chunk.length;
        seen.letters.add(chunk[0]).add(chunk.at(-1));
      }
    } catch {
      seen.cut = true;
    }
    return seen;
  }

  it('is sent as it was when it is replaced', async () => {
    const seen = await midway(async (path) => {
      await writeFile(`${path}.new`, Buffer.alloc(BIG, 'b'));
      await rename(`${path}.new`, path);
    });
    expect(seen).toEqual({ bytes: BIG, letters: new Set([97]), cut: false });
  });

  it.each<[string, (path: string) => Promise<void>]>([
    ['overwritten', (path) => writeFile(path, Buffer.alloc(BIG, 'b'), { flag: 'r+' })],
    [
      'cut short',
      async (path) => {
        const handle = await open(path, 'r+');
        await handle.truncate(BIG / 2);
        await handle.close();
      },
    ],
  ])('is never whole when it is %s', async (_, change) => {
    const seen = await midway(change);
    expect(seen.cut).toBe(true);
    expect(seen.bytes).toBeLessThan(BIG);
  });
});

describe('what is not served', () => {
  it('never leaves the directory', async () => {
    const running = await sandbox({ [at('a.txt')]: 'alpha', 'secret.txt': 'outside' });
    const filing = join(running.directory, ACCESSION);
    await symlink('../secret.txt', join(filing, 'link.txt'));
    await symlink('a.txt', join(filing, 'inner.txt'));
    await symlink('nowhere', join(filing, 'dangling.txt'));
    await symlink(running.directory, join(running.directory, '0001234567-24-000009'));
    await put(running.directory, at('.hidden'), 'hidden');
    for (const name of ['link.txt', 'inner.txt', 'dangling.txt', '.hidden', 'A.txt ', 'n'.repeat(300)]) {
      expect((await running.get(download(name))).status).toBe(404);
    }
    expect((await running.get(download('secret.txt', '0001234567-24-000009'))).status).toBe(404);
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
    expect(json(await running.get(listing()))).toMatchObject([{ file_name: 'a.txt' }]);
    expect(json(await running.get(listing()))).toHaveLength(1);
    expect(json(await running.get(listing('0001234567-24-000009')))).toEqual([]);
  });

  it('answers 500 for what is there and cannot be read', async () => {
    const running = await sandbox({ [at('a.txt')]: 'alpha' });
    await mkdir(join(running.directory, at('folder.htm')));
    await promisify(execFile)('mkfifo', [join(running.directory, at('pipe.htm'))]);
    for (const name of ['folder.htm', 'pipe.htm']) {
      const reply = await running.get(download(name));
      expect(reply.status).toBe(500);
      expect(json(reply)).toMatchObject({ status: 500, title: 'Internal Server Error', traceId: expect.any(String) });
      expect(json(reply)).not.toHaveProperty('errors');
      expect(reply.body.toString()).not.toContain(running.directory);
    }
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
