import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { head, sendFile } from '../servers/answers.ts';
import { tlsWith } from '../servers/certificates.ts';
import { proxying } from '../servers/proxy.ts';
import { closedPort, type Script, scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

// Loopback is never proxied. The service has a name that only the proxy resolves.
const HTTPS = 'https://service.example';
const HTTP = 'http://service.example';
const FILE = content(1_500_000);
const KEY = 'canary-key-for-the-service';
const ONCE = ['--retries', '0'];
const file: Script = (socket, request) => sendFile(socket, request, FILE, '"v1"');

/** A service that speaks TLS, and a proxy in front of it. */
async function through(script: Script, refuse?: Parameters<typeof proxying>[1]) {
  const server = await scripted(script, tlsWith('own-name'));
  return { server, proxy: await proxying(server.port, refuse) };
}

async function download(url: string, env: Record<string, string>, more: string[] = []) {
  const place = await workplace();
  const all = { ...serviceAt(url, KEY), FILINGS_ALLOW_HTTP: '1', ...env };
  const ended = await place.filings(['download', ACCESSION, 'a.htm', '-v', ...more], all);
  expect(ended.stderr).not.toContain(KEY);
  return { ...ended, place };
}

describe('https through a proxy', () => {
  test('sends the key only inside the tunnel', async () => {
    const { server, proxy } = await through(file);
    const auth = proxy.url.replace('http://', 'http://user:s%40cret@');
    const { exitCode, stderr, place } = await download(HTTPS, { HTTPS_PROXY: auth });
    expect(exitCode, stderr).toBe(0);
    expect((await place.read('a.htm')).equals(FILE)).toBe(true);
    expect(proxy.requests.map(({ line }) => line)).toEqual(['CONNECT service.example:443 HTTP/1.1']);
    expect(proxy.requests[0]?.headers).toEqual({
      host: 'service.example:443',
      'proxy-authorization': `Basic ${Buffer.from('user:s@cret').toString('base64')}`,
    });
    expect(proxy.seen().includes(KEY)).toBe(false);
    expect(server.requests[0]?.headers).toMatchObject({ host: 'service.example', authorization: KEY });
    expect(server.requests[0]?.headers['proxy-authorization']).toBeUndefined();
    expect(stderr).toContain(`* connecting to service.example through the proxy 127.0.0.1:${proxy.port}\n`);
    expect(stderr).not.toMatch(/s@cret|s%40cret/);
  });

  test('also works if the proxy itself speaks TLS', async () => {
    const server = await scripted(file, tlsWith('own-name'));
    const outer = await scripted((socket) => {
      const upstream = connect(server.port, '127.0.0.1').on('error', () => {});
      socket.removeAllListeners('data');
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    }, tlsWith('own-name'));
    const { exitCode, stderr, place } = await download(HTTPS, { HTTPS_PROXY: outer.url });
    expect(exitCode, stderr).toBe(0);
    expect((await place.read('a.htm')).equals(FILE)).toBe(true);
  });

  test.each<[string, string, RegExp]>([
    ['a 403', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n', /refused with 403/],
    ['no HTTP', 'SSH-2.0-x\r\n\r\n', /does not respond as a proxy does/],
  ])('exits with 7 and names the proxy if it answers with %s', async (_, answer, words) => {
    const { server, proxy } = await through(file, () => answer);
    const env = { HTTPS_PROXY: proxy.url.replace('//', '//user:s3cret-word@') };
    const { exitCode, stderr } = await download(HTTPS, env, ONCE);
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toMatch(words);
    expect(stderr).toContain(`127.0.0.1:${proxy.port}`);
    expect(stderr).not.toContain('s3cret-word');
    expect(stderr, 'our own words are not blacked out').not.toMatch(/hint: .*\[redacted\]/);
    expect(server.requests).toEqual([]);
  });

  test.each<[string, () => Promise<number>, RegExp]>([
    ['does not listen', closedPort, /: connection refused/],
    ['does not answer', async () => (await scripted(() => {})).port, /: connecting timed out/],
  ])('exits with 7 and names the proxy if it %s', async (_, listening, why) => {
    const proxy = `127.0.0.1:${await listening()}`;
    const { exitCode, stderr } = await download(HTTPS, { HTTPS_PROXY: proxy }, [...ONCE, '--connect-timeout', '500ms']);
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toContain(`service.example through the proxy ${proxy}: `);
    expect(stderr).toMatch(why);
    expect(stderr).toMatch(/hint: check HTTPS_PROXY/);
  });

  test.each([
    ['socks5://127.0.0.1:1', /HTTPS_PROXY: not a URL of a proxy/],
    ['http://dOmAiN\\uSeR:p4ss@127.0.0.1:1', /HTTPS_PROXY: its user .* percent-encoded\n {2}hint: .*%5C/],
    ['http://uSeR:12#p4ss@127.0.0.1:1', /HTTPS_PROXY: its user .* percent-encoded\n {2}hint: .*%23/],
  ])('exits with 2 for the proxy %s and shows nothing of it', async (proxy, words) => {
    const { exitCode, stderr } = await download(HTTPS, { HTTPS_PROXY: proxy });
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(words)]);
    expect(stderr).not.toMatch(/dOmAiN|uSeR|p4ss|127\.0\.0\.1/);
  });
});

test('plain http through a proxy requests the whole URL from it', async () => {
  const proxy = await scripted(file);
  const { exitCode, stderr, place } = await download(HTTP, { HTTP_PROXY: proxy.url.replace('//', '//u:p@') });
  expect(exitCode, stderr).toBe(0);
  expect((await place.read('a.htm')).equals(FILE)).toBe(true);
  const [{ line, headers } = { line: '', headers: {} }] = proxy.requests;
  expect(line).toMatch(/^GET http:\/\/service\.example\/v1\/download\?accession_no=.* HTTP\/1\.1$/);
  const basic = `Basic ${Buffer.from('u:p').toString('base64')}`;
  expect(headers).toMatchObject({ host: 'service.example', 'proxy-authorization': basic });
});

describe.each([
  ['http', HTTP, 'HTTP_PROXY'],
  ['https', HTTPS, 'HTTPS_PROXY'],
])('%s through a proxy that accepts no password of ours', (_, url, variable) => {
  test.each([
    ['a download', ['download', ACCESSION, 'a.htm']],
    ['a batch', ['download', ACCESSION, ...'abcdefghijklmnop', '--jobs', '2']],
    ['list', ['list', ACCESSION, '0001234567-24-000002', '--jobs', '1']],
  ])('%s ends with 4 and says which variable to set', async (_, args) => {
    const proxy = await scripted((socket) => void socket.write(head(407, { 'Content-Length': 0 })));
    const place = await workplace();
    const env = { FILINGS_ALLOW_HTTP: '1', [variable]: proxy.url.replace('//', '//me:pass-word-1@') };
    const { exitCode, stderr } = await place.filings(args, { ...serviceAt(url, KEY), ...env });
    expect(exitCode, stderr).toBe(4);
    expect(stderr).toMatch(new RegExp(`hint: it does not accept the user and password in ${variable}\\n$`));
    expect(stderr).toContain('407');
    expect(stderr).not.toMatch(/pass-word-1|could not even connect/);
    expect(proxy.requests.length).toBeLessThanOrEqual(2);
  });

  test('is named with the schemes that it offers if Basic is not one of them', async () => {
    const challenge = 'Proxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\nContent-Length: 0';
    const proxy = await scripted((socket) => void socket.write(`HTTP/1.1 407 No\r\n${challenge}\r\n\r\n`));
    const { exitCode, stderr } = await download(url, { [variable]: proxy.url });
    expect(exitCode, stderr).toBe(4);
    expect(stderr).toContain(
      `service.example: the proxy 127.0.0.1:${proxy.port} refused with 407: it offers only Negotiate and NTLM\n`,
    );
  });
});

test.each(['http_proxy', 'HTTP_PROXY', 'ALL_PROXY'])('%s is not used for loopback and the sandbox', async (name) => {
  const server = await scripted(file);
  const proxy = { [name]: `http://127.0.0.1:${await closedPort()}` };
  const { exitCode, stderr, place } = await download(server.url, proxy);
  expect(exitCode, stderr).toBe(0);
  expect(await place.filings(['--sandbox', 'list', ACCESSION], proxy)).toMatchObject({ exitCode: 0 });
});
