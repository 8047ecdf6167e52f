import { EventEmitter, once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { ACCESSION, download, json, KEY, sandbox } from './sandbox-fixture.ts';

const FILES = { [`${ACCESSION}/a.txt`]: 'alpha' };
const key = { 'X-Service-Key': KEY };

describe('problems', () => {
  it.each<[string, string[]]>([
    ['/v1/download', ['accession_no', 'file_name']],
    ['/v1/filings', ['accession_no']],
    ['/v1/download?accession_no=1234&file_name=a.txt', ['accession_no']],
    [`/v1/download?accession_no=${ACCESSION}`, ['file_name']],
    [`/v1/download?accession_no=${ACCESSION}&file_name=`, ['file_name']],
    [`/v1/download?accession_no=${ACCESSION}%0A&file_name=a.txt`, ['accession_no']],
    [`/v1/download?accession_no=${ACCESSION}&accession_no=${ACCESSION}&file_name=a.txt`, ['accession_no']],
    [`/v1/download?accession_no=${ACCESSION}&file_name=a.txt&file_name=a.txt`, ['file_name']],
    ['/v1/filings?accession_no=../..', ['accession_no']],
  ])('400 with errors: %s', async (target, properties) => {
    const reply = await (await sandbox(FILES)).get(target);
    expect([reply.status, reply.headers['content-type']]).toEqual([400, 'application/problem+json']);
    const { errors, instance } = json(reply) as { errors: Record<string, string[]>; instance: string };
    expect(Object.keys(errors).sort()).toEqual(properties);
    for (const messages of Object.values(errors)) expect(messages).toEqual([expect.any(String)]);
    expect(target.startsWith(instance)).toBe(true);
  });

  it('ignores parameters that it does not know', async () => {
    const running = await sandbox(FILES);
    expect((await running.get(`${download('a.txt')}&page_size=10&page_size=20`)).status).toBe(200);
  });

  it.each(['/', '/v1/', '/v2/download', '/v1/download/extra', '/v1%2Fdownload', '/V1/download', '//v1/download'])(
    '404: %s',
    async (path) => {
      const reply = await (await sandbox(FILES)).get(download('a.txt').replace('/v1/download', path));
      expect([reply.status, json(reply).status]).toEqual([404, 404]);
      expect(json(reply)).not.toHaveProperty('errors');
    },
  );

  it('400 for broken percent-encoding in the path', async () => {
    const reply = await (await sandbox(FILES)).get('/v1/%zz');
    expect([reply.status, json(reply).status]).toEqual([400, 400]);
  });

  it.each(['POST', 'DELETE'])('405: %s', async (method) => {
    const reply = await (await sandbox(FILES)).get(download('a.txt'), { ...key, 'Content-Length': '0' }, method);
    expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  it('429 with Retry-After above the rate, and none below it', async () => {
    let now = 1_700_000_000_000;
    const running = await sandbox(FILES, { now: () => now, rateLimit: { requests: 3, perMs: 60_000 } });
    const status = async () => (await running.get(download('a.txt'))).status;
    expect([await status(), await status(), await status()]).toEqual([200, 200, 200]);
    const refused = await running.get(download('a.txt'));
    expect([refused.status, refused.headers['retry-after'], json(refused).status]).toEqual([429, '20', 429]);
    now += 19_999;
    expect((await running.get(download('a.txt'))).headers['retry-after']).toBe('1');
    now += 1;
    expect([await status(), await status()]).toEqual([200, 429]);
    now += 3_600_000;
    expect([await status(), await status(), await status(), await status()]).toEqual([200, 200, 200, 429]);
  });
});

describe('the log', () => {
  it('has a line a request and never a key', async () => {
    const running = await sandbox(FILES, { apiKey: 'canary-0123456789' });
    const keys = ['canary-0123456789', 'another-key-98765'];
    for (const one of keys) {
      for (const target of [
        `${download('a.txt')}&apikey=${one}`,
        download('a.txt').replace('?', `/APIKEY-${one}?`),
        `/APIKEY-${one}/v1/download`,
        `/v1/x%2FAPIKEY-${one}/y`,
        `/v1/%zz/APIKEY-${one}`,
        `http://h/v1/download?apikey=%63${one.slice(1)}`,
      ]) {
        await running.get(target, {});
      }
      await running.get(download('a.txt'), { Authorization: `Basic ${btoa(`service:${one}`)}` });
      await running.get(download('a.txt'), { 'X-Service-Key': one, Authorization: `Bearer ${one}` });
      for (const length of [270, 290]) {
        await running.get(download(`${'x'.repeat(length)}${keys[0]}`), { Authorization: one });
      }
    }
    expect(running.lines).toHaveLength(20);
    const text = running.lines.join('\n');
    for (const one of keys) {
      for (const form of [one, one.slice(1), one.slice(0, 8), btoa(one), btoa(`service:${one}`)]) {
        expect(text).not.toContain(form);
      }
    }
    expect(running.lines[0]).toMatch(
      /^\d{4}-\S+Z GET \/v1\/download accession_no=0001234567-24-000001 file_name=a\.txt key=query 200 \d+ms$/,
    );
  });

  it('makes foreign text harmless', async () => {
    const running = await sandbox(FILES);
    await running.get(download('a\n\x1b[31m\u202e'));
    expect(running.lines).toEqual([expect.stringContaining('file_name=a\\n\\x1b[31m\\u202e ')]);
  });
});

describe('a client that goes away', () => {
  it('does no harm, and its file is cut off in the log', async () => {
    const running = await sandbox({ ...FILES, [`${ACCESSION}/big.bin`]: Buffer.alloc(64 * 1024 * 1024) });
    const request = get(`${running.url}${download('big.bin')}`, { headers: key });
    const [response] = await once(request, 'response');
    await once(response, 'readable');
    response.destroy();
    await expect
      .poll(() => running.lines, { timeout: 60_000 })
      .toEqual([expect.stringMatching(/ 200 \d+ms \(cut off\)$/)]);
    expect((await running.get(download('a.txt'))).status).toBe(200);
  });

  it('survives what is no HTTP', async () => {
    const running = await sandbox(FILES);
    for (const bytes of [
      'nonsense\r\n\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n`,
      '',
    ]) {
      const socket = connect(running.port, '127.0.0.1', () => socket.end(bytes));
      // A reset is an answer too.
      socket.on('error', () => {}).resume();
      await new Promise((resolve) => socket.once('close', resolve));
    }
    expect((await running.get(download('a.txt'))).status).toBe(200);
  });
});

describe('close', () => {
  it('ends at once, whatever is open', async () => {
    const running = await sandbox({ [`${ACCESSION}/big.bin`]: Buffer.alloc(64 * 1024 * 1024) }, { latencyMs: 0 });
    const silent = connect(running.port, '127.0.0.1');
    silent.on('error', () => {});
    await once(silent, 'connect');
    await running.get(download('none'));
    const stalled = get(`${running.url}${download('big.bin')}`, { headers: key });
    const [response] = await once(
      stalled.on('error', () => {}),
      'response',
    );
    const cut = once(response, 'error');
    await running.close();
    response.resume();
    await cut;
    if (!silent.closed) await once(silent, 'close');
    expect(running.lines.at(-1)).toMatch(/\(cut off\)$/);
  });

  it('does not wait for delayed answers', async () => {
    const arrivals = new EventEmitter();
    const arrived = once(arrivals, 'request');
    // The clock is looked at when a request arrives.
    const now = () => {
      arrivals.emit('request');
      return Date.now();
    };
    const running = await sandbox(FILES, { latencyMs: 600_000, now });
    const request = get(`${running.url}${download('a.txt')}`, { headers: key });
    const failed = once(request, 'error');
    request.on('response', () => request.destroy(new Error('it was answered')));
    await arrived;
    await running.close();
    expect(await failed).toEqual([expect.objectContaining({ code: 'ECONNRESET' })]);
  });
});

describe('start', () => {
  const options = { host: '127.0.0.1', port: 0, apiKey: KEY, jwtKeys: [], now: Date.now, sleep };

  it('refuses what is no directory, and a port in use', async () => {
    const running = await sandbox(FILES);
    await writeFile(join(running.directory, 'file'), '');
    for (const [name, why] of [
      ['absent', 'not a directory'],
      ['file', 'not a directory'],
    ] as const) {
      await expect(startSandbox({ ...options, directory: join(running.directory, name) })).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining(why),
      });
    }
    await expect(startSandbox({ ...options, directory: running.directory, port: running.port })).rejects.toMatchObject({
      code: 'local_io',
      message: `cannot listen on 127.0.0.1:${running.port}: the port is in use`,
    });
    await expect(startSandbox({ ...options, directory: running.directory, host: '192.0.2.1' })).rejects.toMatchObject({
      code: 'usage',
    });
  });

  it('serves a directory that is itself a link', async () => {
    const running = await sandbox(FILES);
    await symlink(running.directory, `${running.directory}-link`);
    const linked = await sandbox({}, { directory: `${running.directory}-link` });
    onTestFinished(async () => (await import('node:fs/promises')).rm(`${running.directory}-link`));
    expect((await linked.get(download('a.txt'))).body.toString()).toBe('alpha');
  });
});
