// Which proxy is used is decided in test/unit/proxy.test.ts. Here: what is sent to it, and how commands end at one that
// refuses.
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { head, sendFile, whole } from '../servers/answers.ts';
import { tlsWith } from '../servers/certificates.ts';
import { proxying } from '../servers/proxy.ts';
import { closedPort, listening, type SeenRequest, scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, test as base, serviceAt } from './run.ts';

// Loopback is never proxied. The service has a name that only the proxy resolves.
const HTTPS = 'https://service.example';
const HTTP = 'http://service.example';
const FILE = content(500_000);
const KEY = 'canary-key-for-the-service';
const file = whole(FILE);

/** Runs commands, and checks that no message has the key. */
const test = base.extend('filings', ({ place }) => async (args: string[], url: string, env: Record<string, string>) => {
  const ended = await place.filings(args, { ...serviceAt(url, KEY), FILINGS_ALLOW_HTTP: '1', ...env });
  expect(ended.stderr).not.toContain(KEY);
  return ended;
});
const DOWNLOAD = ['download', ACCESSION, 'a.htm', '-v', '--retries', '0'];
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

describe('https through a proxy', () => {
  test('sends the key only inside the tunnel', async ({ place, filings }) => {
    const server = await scripted(file, tlsWith('own-name'));
    const proxy = await proxying(server.port);
    const env = { HTTPS_PROXY: proxy.url.replace('//', '//user:s%40cret@') };
    const { exitCode, stderr } = await filings(DOWNLOAD, HTTPS, env);
    expect([exitCode, (await place.read('a.htm')).equals(FILE)], stderr).toEqual([0, true]);
    const fields = { host: 'service.example:443', 'proxy-authorization': basic('user:s@cret') };
    expect(proxy.requests).toMatchObject([{ line: 'CONNECT service.example:443 HTTP/1.1' }]);
    expect(proxy.requests[0]?.headers).toEqual(fields);
    expect(proxy.seen().includes(KEY)).toBe(false);
    expect(server.requests[0]?.headers).toMatchObject({ host: 'service.example', authorization: KEY });
    expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
    expect(stderr).toContain(`* connecting to service.example through the proxy 127.0.0.1:${proxy.port}\n`);
    expect(stderr).not.toMatch(/s@cret|s%40cret/);
  });

  test('also works if the proxy itself speaks TLS', async ({ place, filings }) => {
    const server = await scripted(file, tlsWith('own-name'));
    const outer = await scripted((socket) => {
      const upstream = connect(server.port, '127.0.0.1').on('error', () => {});
      socket.removeAllListeners('data');
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    }, tlsWith('own-name'));
    const { exitCode, stderr } = await filings(DOWNLOAD, HTTPS, { HTTPS_PROXY: outer.url });
    expect([exitCode, (await place.read('a.htm')).equals(FILE)], stderr).toEqual([0, true]);
  });

  const answering = (answer: string) => async () => (await proxying(1, () => answer)).port;
  const status = (code: string, fields = '') => answering(`HTTP/1.1 ${code}\r\n${fields}\r\n`);
  const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n';
  // Without a limit, this would take as long as the connect timeout.
  const endless = async () =>
    (await scripted((socket) => void socket.write(`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(5000)}`))).port;
  const resetting = async () => (await scripted((socket) => void socket.resetAndDestroy())).port;
  test.for`
    fault                            | port                                             | why
    ${'answers with 503'}            | ${status('503 No', 'Content-Length: 0\r\n')}     | ${'refused with 503'}
    ${'answers in odd characters'}   | ${status('502 \xe4\u20ac')}                      | ${'refused with 502'}
    ${'answers 502 after 103'}       | ${answering(`${HINTS}HTTP/1.0 502 Bad\r\n\r\n`)} | ${'refused with 502'}
    ${'answers with a status of 99'} | ${status('099 No')}                              | ${'no valid response from the proxy'}
    ${'answers with NUL'}            | ${status('200 O\0K')}                            | ${'no valid response from the proxy'}
    ${'answers only with 103'}       | ${answering(HINTS)}                              | ${'no valid response from the proxy'}
    ${'never ends its head'}         | ${endless}                                       | ${'no valid response from the proxy'}
    ${'closes the connection'}       | ${answering('')}                                 | ${'no valid response from the proxy'}
    ${'resets the connection'}       | ${resetting}                                     | ${'caused by: Error: read ECONNRESET'}
    ${'does not listen'}             | ${closedPort}                                    | ${'connection refused'}
  `('exits with 7 and names a proxy that $fault', async ({ port, why }, { filings }) => {
    const proxy = `127.0.0.1:${await port()}`;
    const env = { HTTPS_PROXY: `user:s3cret-word@${proxy}` };
    const { exitCode, stderr } = await filings([...DOWNLOAD, '-v'], HTTPS, env);
    expect([exitCode, stderr]).toEqual([7, expect.stringContaining(`the proxy ${proxy}`)]);
    expect(stderr).toContain(why);
    expect(stderr).not.toContain('s3cret-word');
  });

  test.for([401, 403, 407])('fails only a file whose redirect is refused with %i', async (code, { place, filings }) => {
    const server = await scripted((socket, { path, index }) => {
      const fields = { Location: 'https://cdn.example/file', 'Content-Length': 0 };
      if (path.includes('=b')) sendFile(socket, { line: '', path, headers: {}, index }, FILE, '"v1"');
      else socket.write(head(302, fields));
    }, tlsWith('own-name'));
    const isOther = ({ line }: SeenRequest) => line.includes('cdn.example');
    const proxy = await proxying(server.port, (request) =>
      isOther(request) ? head(code, { 'Content-Length': 0 }) : undefined,
    );
    const env = { HTTPS_PROXY: proxy.url };
    const { exitCode, stderr } = await filings(['download', ACCESSION, ...'abc', '-j', '1'], HTTPS, env);
    expect([exitCode, await place.names()], stderr).toEqual([3, ['b']]);
    expect(stderr).toMatch(
      new RegExp(`a of .*: service\\.example redirects to cdn\\.example: the proxy 127.* refused with ${code}\n`),
    );
    expect(proxy.requests.filter(isOther)).toHaveLength(2);
  });

  test('says that a proxy named with https does not speak TLS', async ({ filings }) => {
    for (const answer of ['HTTP/1.1 400 Bad Request\r\n\r\n', '']) {
      const port = await listening((socket) => void socket.end(answer));
      const { exitCode, stderr } = await filings(DOWNLOAD, HTTPS, { HTTPS_PROXY: `https://127.0.0.1:${port}` });
      expect([exitCode, stderr]).toEqual([
        7,
        expect.stringContaining(`service.example through the proxy 127.0.0.1:${port}: `),
      ]);
      expect(stderr).toMatch(/hint: check HTTPS_PROXY \(a proxy that does not speak TLS itself needs http:\/\/\)/);
      if (answer) expect(stderr).toContain(': the proxy does not speak TLS');
      expect(stderr).not.toContain('base URL');
    }
  });

  test('closes its connection to a proxy that refuses', async ({ filings }) => {
    const closed: Promise<unknown>[] = [];
    const proxy = await scripted((socket) => {
      closed.push(once(socket, 'close'));
      socket.write(head(502, { 'Content-Length': 0 }));
    });
    const { exitCode, stderr } = await filings(DOWNLOAD, HTTPS, { HTTPS_PROXY: proxy.url });
    expect([exitCode, closed.length], stderr).toEqual([7, 1]);
    await Promise.all(closed);
  });

  test('exits with 7 and names a proxy that does not answer in time', async ({ place }) => {
    const asked = new EventEmitter();
    const { port } = await scripted(() => void asked.emit('connect'));
    const env = { ...serviceAt(HTTPS, KEY), HTTPS_PROXY: `127.0.0.1:${port}`, FILINGS_CONNECT_TIMEOUT: '1h' };
    const { exitCode, stderr } = await place.filings(DOWNLOAD, env, {
      sleep: (ms, signal) => (ms === 3_600_000 ? once(asked, 'connect').then(() => {}) : sleep(ms, signal)),
    });
    const message = `service.example through the proxy 127.0.0.1:${port}: connecting timed out`;
    expect([exitCode, stderr]).toEqual([7, expect.stringContaining(message)]);
  });
});

test('-v says that ALL_PROXY is not used, and shows the proxy of each connection', async ({ filings }) => {
  const { url, port } = await scripted(file);
  const direct = await filings(DOWNLOAD, url, { all_proxy: 'socks5://uSeR:p4ss@127.0.0.1:1' });
  expect(direct.stderr).toContain('* ALL_PROXY is not used');
  expect(direct.stderr).toContain(`* connecting to 127.0.0.1:${port} without a proxy\n`);
  expect(direct.stderr).not.toMatch(/uSeR|p4ss/);
});

test('plain http through a proxy requests the whole URL from it', async ({ place, filings }) => {
  const proxy = await scripted(file);
  const { exitCode, stderr } = await filings(DOWNLOAD, HTTP, { HTTP_PROXY: proxy.url.replace('//', '//u:p@') });
  expect([exitCode, (await place.read('a.htm')).equals(FILE)], stderr).toEqual([0, true]);
  expect(proxy.requests[0]).toMatchObject({
    line: expect.stringMatching(/^GET http:\/\/service\.example\/v1\/download\?accession_no=.* HTTP\/1\.1$/),
    headers: { host: 'service.example', 'proxy-authorization': basic('u:p') },
  });
});

const BASIC = 'Proxy-Authenticate: Basic realm="x"';
const OTHERS = 'Proxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM';
// The password is a word of the hint, which must not be redacted.
test.for`
  url      | variable         | challenge | says
  ${HTTP}  | ${'HTTP_PROXY'}  | ${BASIC}  | ${'user and password in HTTP_PROXY\n'}
  ${HTTPS} | ${'HTTPS_PROXY'} | ${BASIC}  | ${'user and password in HTTPS_PROXY\n'}
  ${HTTP}  | ${'HTTP_PROXY'}  | ${OTHERS} | ${'407: it offers only Negotiate and NTLM\n'}
  ${HTTPS} | ${'HTTPS_PROXY'} | ${OTHERS} | ${'407: it offers only Negotiate and NTLM\n'}
`('a run ends with 4 if a proxy does not accept $variable: $says', async (row, { filings }) => {
  const { url, variable, challenge, says } = row as Record<string, string>;
  const refusal = `HTTP/1.1 407 No\r\n${challenge}\r\nContent-Length: 0\r\n\r\n`;
  const proxy = await scripted((socket) => void socket.write(refusal));
  const env = { [`${variable}`]: proxy.url.replace('//', '//me:password@') };
  const { exitCode, stderr } = await filings(DOWNLOAD, `${url}`, env);
  expect([exitCode, stderr]).toEqual([4, expect.stringContaining(`${says}`)]);
  expect(stderr).not.toContain('could not connect');
  expect(proxy.requests).toHaveLength(1);
});
