import { describe, expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { closedPort, startScripted } from '../servers/scripted.ts';
import { downloadInto, FILE, file, HTTPS, started, through } from './behind-proxy.ts';
import { ACCESSION, workplace } from './run.ts';

const HTTP = 'http://service.example';

async function download(url: string, env: Record<string, string>, more: string[] = []) {
  return downloadInto(await workplace(), url, env, more);
}

describe('https through a proxy', () => {
  test.each<[string, string, RegExp]>([
    ['407', 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n', /refused with 407/],
    ['403', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno', /refused with 403/],
    ['no HTTP', 'SSH-2.0-x\r\n\r\n', /does not answer as a proxy does/],
    ['nothing', '', /does not answer as a proxy does/],
    ['half a head', 'HTTP/1.1 200 OK\r\n', /does not answer as a proxy does/],
  ])('a proxy that answers %s: exit 7, and which proxy', async (_, answer, words) => {
    const { server, proxy } = await through(file, () => answer);
    const env = { HTTPS_PROXY: proxy.url.replace('//', '//user:s3cret-word@') };
    const { exitCode, stderr } = await download(HTTPS, env, ['--retries', '0']);
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toMatch(words);
    expect(stderr).toContain(`127.0.0.1:${proxy.port}`);
    expect(stderr).not.toContain('s3cret-word');
    expect(stderr, 'our own words are not blacked out').not.toMatch(/hint: .*\[redacted\]/);
    expect(server.requests).toEqual([]);
  });

  test('a proxy that is not there', async () => {
    const port = await closedPort();
    const { exitCode, stderr } = await download(HTTPS, { HTTPS_PROXY: `127.0.0.1:${port}` }, ['--retries', '0']);
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toContain(`service.example through the proxy 127.0.0.1:${port}: connection refused\n`);
    expect(stderr).toMatch(/hint: check HTTPS_PROXY/);
  });

  test.each([HTTPS, HTTP])('a proxy that nobody knows is told as the proxy, for %s', async (url) => {
    const env = { HTTPS_PROXY: 'no-proxy.invalid:3128', HTTP_PROXY: 'no-proxy.invalid:3128' };
    // A resolver may take its time over it.
    const { exitCode, stderr } = await download(url, env, ['--retries', '0', '--connect-timeout', '50s']);
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toMatch(
      /service\.example through the proxy no-proxy\.invalid:3128: the name .*\n {2}hint: check HTTPS_PROXY/,
    );
  });

  test('a proxy that says nothing: the connect timeout', async () => {
    const silent = await started(startScripted(() => {}));
    const env = { HTTPS_PROXY: silent.url };
    const { exitCode, stderr } = await download(HTTPS, env, ['--retries', '0', '--connect-timeout', '500ms']);
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toContain(`the proxy 127.0.0.1:${silent.port}`);
    expect(stderr).toMatch(/timed out/);
  });
});

describe('http through a proxy', () => {
  test('the whole URL is asked for', async () => {
    const proxy = await started(startScripted(file));
    const { exitCode, stderr, place } = await download(HTTP, { HTTP_PROXY: proxy.url.replace('//', '//u:p@') });
    expect(exitCode, stderr).toBe(0);
    expect((await place.read('a.htm')).equals(FILE)).toBe(true);
    expect(proxy.requests[0]?.line).toMatch(
      /^GET http:\/\/service\.example\/v1\/download\?accession_no=.* HTTP\/1\.1$/,
    );
    expect(proxy.requests[0]?.headers).toMatchObject({
      host: 'service.example',
      'proxy-authorization': `Basic ${Buffer.from('u:p').toString('base64')}`,
    });
  });

  test('a proxy that wants a password: 407 is told as such', async () => {
    const proxy = await started(startScripted((socket) => void socket.write(head(407, { 'Content-Length': 0 }))));
    const { exitCode, stderr } = await download(HTTP, { HTTP_PROXY: proxy.url.replace('//', '//me:pass-word-1@') });
    expect(stderr).toContain('hint: the proxy wants a user and a password');
    expect(stderr).not.toContain('pass-word-1');
    expect(exitCode).toBeGreaterThan(3);
    expect(stderr).toMatch(/407/);
  });
});

describe('no proxy', () => {
  test.each(['http_proxy', 'HTTP_PROXY', 'ALL_PROXY'])('for loopback, whatever %s says', async (name) => {
    const server = await started(startScripted(file));
    const port = await closedPort();
    const { exitCode, stderr } = await download(server.url, { [name]: `http://127.0.0.1:${port}` });
    expect(exitCode, stderr).toBe(0);
  });

  test('for the sandbox', async () => {
    const place = await workplace();
    const env = { HTTP_PROXY: `http://127.0.0.1:${await closedPort()}` };
    const { exitCode, stderr } = await place.filings(['--sandbox', 'download', ACCESSION, 'primary.htm'], env);
    expect(exitCode, stderr).toBe(0);
  });

  test('for what NO_PROXY names', async () => {
    const proxy = await started(startScripted(file));
    const env = { HTTPS_PROXY: proxy.url, NO_PROXY: 'foo, .example' };
    const { exitCode, stderr } = await download('https://service.example', env, ['--retries', '0']);
    expect(exitCode, stderr).toBe(7);
    expect(proxy.requests).toEqual([]);
  });
});

test.each(['socks5://127.0.0.1:1', 'http://u:%zz@127.0.0.1:1', '::'])('%s is no proxy: exit 2', async (value) => {
  const { exitCode, stderr } = await download(HTTPS, { HTTPS_PROXY: value });
  expect(exitCode, stderr).toBe(2);
  expect(stderr).toContain('HTTPS_PROXY');
});
