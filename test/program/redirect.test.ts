// Which redirects are followed is decided in test/unit/redirect.test.ts, and in which encodings a secret is found in
// test/unit/secrets.test.ts. Here: that no request to another origin carries a credential.
import { describe, expect, test } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { head } from '../servers/answers.ts';
import { closedPort, type Script, type ScriptedServer, type SeenRequest, scripted } from '../servers/scripted.ts';
import { readReport } from './batch.ts';
import { base64, expectClear } from './clear.ts';
import { ACCESSION, type RunOptions, serviceAt, workplace } from './run.ts';

const KEY = 'canary/key+1';
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl';
const percent = encodeURIComponent;
const ENCODED = percent(KEY);

const ok: Script = (socket) => void socket.write(`${head(200, { 'Content-Length': 4 })}file`);
const to = (location: string, status = 302) => head(status, { Location: location, 'Content-Length': 0 });

/** Redirects the first requests, and answers the others with the file. */
const leading = (location: (request: SeenRequest) => string, times = 1, status?: number) =>
  scripted((socket, request) => {
    if (request.index < times) socket.write(to(location(request), status));
    else ok(socket, request);
  });

async function download(url: string, env: Record<string, string> = {}, key = KEY) {
  const place = await workplace();
  const ended = await place.filings(['download', ACCESSION, 'a.htm', '-v'], { ...serviceAt(url, key), ...env });
  expectClear([KEY, 'canary-key-1'], ended.stderr);
  return { ...ended, names: await place.names() };
}

/** Returns what carries a credential in a request. */
function carriers({ line, headers }: SeenRequest): string[] {
  const forms = [KEY, ENCODED, 'APIKEY-', 'apikey=', base64(`service:${KEY}`), TOKEN];
  return [line, ...Object.values(headers)].filter((text) => forms.some((form) => text.includes(form)));
}

describe('credentials never reach another origin', () => {
  const withToken = { FILINGS_JWT: TOKEN };
  test.each`
    way                | more                               | follows
    ${'authorization'} | ${{}}                              | ${true}
    ${'basic'}         | ${{}}                              | ${true}
    ${'header'}        | ${{ FILINGS_KEY_HEADER: 'X-Own' }} | ${true}
    ${'header'}        | ${withToken}                       | ${true}
    ${'query'}         | ${{}}                              | ${false}
    ${'query'}         | ${withToken}                       | ${false}
    ${'path'}          | ${{}}                              | ${false}
    ${'path'}          | ${withToken}                       | ${false}
  `('if the key is sent by $way with $more, a redirect is followed: $follows', async ({ way, more, follows }) => {
    const other = await scripted(ok);
    const first = await leading(({ path }) => `${other.url}${path}`);
    const { exitCode, stderr, names } = await download(first.url, { FILINGS_KEY_IN: way, ...more });
    expect(carriers(first.requests[0] as SeenRequest)).not.toEqual([]);
    expect([exitCode, names, other.requests.length], stderr).toEqual(follows ? [0, ['a.htm'], 1] : [9, [], 0]);
    for (const request of other.requests) expect(carriers(request)).toEqual([]);
    if (!follows) expect(stderr).toMatch(/hint: .*--key-in header/);
  });

  test.each(['header', 'query', 'path'])('and are sent once by %s within the origin', async (way) => {
    const server = await leading(({ path }) => `/elsewhere?${path.split('?')[1]}`);
    expect((await download(server.url, { FILINGS_KEY_IN: way, FILINGS_JWT: TOKEN })).exitCode).toBe(0);
    const [first, second] = server.requests as [SeenRequest, SeenRequest];
    expect(second.path).toMatch(/^\/elsewhere/);
    expect(carriers(second)).toHaveLength(carriers(first).length);
    expect(second.path.split('apikey=').length).toBe(first.path.split('apikey=').length);
  });

  test('not even at its second redirect, nor on the way back to their own', async () => {
    const next = () => (other.requests.length === 1 ? '/again' : `${first.url}/back`);
    const other: ScriptedServer = await scripted((socket) => void socket.write(to(next())));
    const first = await leading(() => `${other.url}/file`);
    expect((await download(first.url)).exitCode).toBe(0);
    const later = [...other.requests, ...first.requests.slice(1)];
    expect(later.map(({ path }) => path)).toEqual(['/file', '/again', '/back']);
    expect(later.flatMap(carriers)).toEqual([]);
  });

  // A login page has such an address, which leads back to the first request.
  const back = `https://api.example/v1?apikey=${ENCODED}&x=y`;
  const login = (address: string) => (other: string) => `${other}/login?next=${address}`;
  const by = (place: string) => (other: string) => `${other}${place}`;
  test.each`
    where                                | location                                                        | key
    ${'in an address to return to'}      | ${login(percent(percent(back)))}                                | ${KEY}
    ${'in one that is in base64'}        | ${login(`/r/${base64(back)}`)}                                  | ${KEY}
    ${'under another name'}              | ${by(`/?token=${ENCODED}`)}                                     | ${KEY}
    ${'as a password'}                   | ${(other: string) => other.replace('//', `//user:${ENCODED}@`)} | ${KEY}
    ${'in its fragment'}                 | ${by(`/#${ENCODED}`)}                                           | ${KEY}
    ${'as a token'}                      | ${by(`/?t=${TOKEN}`)}                                           | ${KEY}
    ${'in the query, of two characters'} | ${by('/?apikey=q%2B')}                                          | ${'q+'}
    ${'in the path, of two characters'}  | ${by('/v1/APIKEY-q+')}                                          | ${'q+'}
  `('if the address of a redirect has one $where, it is refused', async ({ location, key }) => {
    const other = await scripted(ok);
    const first = await leading(() => location(other.url));
    const env = { FILINGS_KEY_IN: 'header', FILINGS_JWT: TOKEN };
    const { exitCode, stderr, names } = await download(first.url, env, key);
    expect([exitCode, names, other.requests.length], stderr).toEqual([9, [], 0]);
    const hosts = [first, other].map(({ url }) => new URL(url).host);
    expect(stderr).toContain(`${hosts[0]}: refused to follow a redirect to ${hosts[1]} (its URL contains the key`);
  });

  test('and no part of a host that is the key is shown', async () => {
    const first = await leading(() => 'http://canary-key-1.localhost:1/');
    const { exitCode, stderr } = await download(first.url, {}, 'canary-key-1');
    expect([exitCode, stderr]).toEqual([9, expect.stringContaining('redirect to [redacted].localhost:1')]);
  });
});

// They are not secrets of this program, and are sent to the host that the Location names.
test.each([
  '/file?apikey=of-somebody-else',
  '/APIKEY-of-somebody-else/file',
  '/file?next=https://user:pass@host.example/',
])('a redirect whose Location has credentials of others is followed, and they are redacted: %s', async (path) => {
  const other = await scripted(ok);
  const first = await leading(() => `${other.url}${path}`);
  const { exitCode, stderr, names } = await download(first.url);
  expect([exitCode, names, other.requests[0]?.path], stderr).toEqual([0, ['a.htm'], path]);
  expect(stderr).not.toMatch(/of-somebody-else|user:pass/);
});

test('-v shows origin and path of a redirect, and nothing behind them', async () => {
  const other = await scripted(ok);
  const first = await leading(() => `${other.url}/file;a=1?X-Signature=canary-signature#fragment`);
  const { stderr } = await download(first.url);
  expect(stderr).toContain(`\n<   location: ${other.url}/file;a=1\n`);
  expect(stderr).toContain(`\n> GET ${other.url}/file;a=1\n`);
  expect(stderr).not.toMatch(/canary-signature|fragment/);
});

test.each([301, 302, 303, 307, 308])('a redirect of %i is followed with a GET', async (status) => {
  const server = await leading(() => '/there', 1, status);
  expect((await download(server.url)).exitCode).toBe(0);
  expect(server.requests[1]?.line).toBe('GET /there HTTP/1.1');
});

test.each`
  hops | exit | names
  ${5} | ${0} | ${['a.htm']}
  ${6} | ${9} | ${[]}
`('$hops redirects in a row exit with $exit, after six requests', async ({ hops, exit, names }) => {
  const server = await leading(({ index }) => `/${index + 1}`, hops);
  expect(await download(server.url)).toMatchObject({ exitCode: exit, names });
  expect(server.requests).toHaveLength(6);
});

describe('an error behind a redirect names both hosts', () => {
  const DOWNLOAD = ['download', ACCESSION, 'a.htm'];
  const LIST = ['list', ACCESSION];
  const length = (body: string) => head(200, { 'Content-Length': body.length }) + body;

  /** Runs a command whose request is redirected to `url`. */
  async function expectHosts(command: string[], url: string, exit: number) {
    const first = await leading(() => `${url}/file`);
    const place = await workplace();
    const env = { ...serviceAt(first.url, KEY), FILINGS_RETRIES: '0' };
    const { exitCode, stderr } = await place.filings(command, env);
    expect(exitCode, stderr).toBe(exit);
    expect(stderr.split('\n')[0]).toContain(
      `${ACCESSION}: ${new URL(first.url).host} redirects to ${new URL(url).host}`,
    );
    return stderr;
  }

  test('a host that refuses the connection is not blamed on the base URL', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    expect(await expectHosts(DOWNLOAD, url, 7)).toMatch(/connection refused\n {2}hint: the service redirects there/);
  });

  test.each`
    what                                  | command     | exit | answer
    ${'a 404'}                            | ${DOWNLOAD} | ${5} | ${head(404, { 'Content-Length': 0 })}
    ${'no HTTP'}                          | ${LIST}     | ${9} | ${'hello\r\n\r\n'}
    ${'a closed connection'}              | ${DOWNLOAD} | ${7} | ${''}
    ${'a body that is cut'}               | ${LIST}     | ${9} | ${head(200, { 'Content-Length': 9 })}
    ${'a redirect that carries the key'}  | ${DOWNLOAD} | ${9} | ${to(`http://127.0.0.1:2/${ENCODED}`)}
    ${'too many redirects'}               | ${LIST}     | ${9} | ${to('/again')}
    ${'an empty answer without a length'} | ${DOWNLOAD} | ${9} | ${head(200)}
    ${'a page of HTML'}                   | ${LIST}     | ${9} | ${length('<html><title>Log in</title>')}
    ${'a listing that is too large'}      | ${LIST}     | ${9} | ${head(200, { 'Content-Length': 1 << 30 })}
  `('$what', async ({ command, exit, answer }) => {
    // The hops of a chain share a connection.
    const hop = to('/again');
    const { url } = await scripted((socket) => void (answer === hop ? socket.write(hop) : socket.end(answer)));
    await expectHosts(command, url, exit);
  });

  test('a 401, whose hint says that no key is sent there', async () => {
    const { url } = await scripted((socket) => void socket.write(head(401, { 'Content-Length': 0 })));
    const stderr = await expectHosts(LIST, url, 4);
    expect(stderr).toMatch(/hint: the service redirects to .*, and the key is never sent to another host/);
  });
});

describe('a host behind a redirect, which got no key,', () => {
  /** Redirects all files but `b` to a host that answers with `response`, and downloads them one by one. */
  async function batch(names: readonly string[], response: (index: number) => string, own: RunOptions = {}) {
    const other = await scripted((socket, { index }) => void socket.write(response(index)));
    const first = await scripted((socket, request) => {
      if (request.path.endsWith('=b')) ok(socket, request);
      else socket.write(to(`${other.url}/file`));
    });
    const place = await workplace();
    const args = ['download', ACCESSION, ...names, '-j', '1', '--report', 'report'];
    const ended = await place.filings(args, serviceAt(first.url, KEY), own);
    return {
      ...ended,
      other,
      files: readReport(await place.read('report')).files.map((line) => [line.file_name, line.result]),
    };
  }
  const many = Array.from({ length: 22 }, (_, index) => `f${index}`);
  const FAILED = ['a', 'c'].map((name) => [name, 'failed']);
  const answering =
    (status: number, fields = {}) =>
    () =>
      head(status, { 'Content-Length': 0, ...fields });
  const WAIT = { 'Retry-After': 9999 };

  test.each`
    what                    | answer                  | exit | stopped
    ${'a 401'}              | ${answering(401)}       | ${3} | ${4}
    ${'a 407'}              | ${answering(407)}       | ${3} | ${4}
    ${'a long Retry-After'} | ${answering(503, WAIT)} | ${7} | ${7}
  `('fails only its own file by $what, and stops the batch after 20 in a row', async ({ answer, exit, stopped }) => {
    const some = await batch(['a', 'b', 'c'], answer);
    expect([some.exitCode, some.files], some.stderr).toEqual([exit, [FAILED[0], ['b', 'downloaded'], FAILED[1]]]);
    const { exitCode, stderr, other } = await batch(many, answer);
    expect([exitCode, other.requests.length], stderr).toEqual([stopped, 20]);
    expect(stderr).toContain(
      'filings: the host behind a redirect refused 20 files in a row; 20 of 20 files failed; 2 files not started\n',
    );
    expect(stderr).not.toContain('lack permission');
  });

  test('delays only its own file by a Retry-After', async () => {
    const waits: number[] = [];
    const answers = (index: number) => head(index === 0 ? 503 : 200, { 'Content-Length': 0, 'Retry-After': 50 });
    const { exitCode, stderr, other } = await batch(['a', 'b'], answers, {
      sleep: (ms, signal) => {
        if (ms > 45_000 && ms <= 50_000) waits.push(ms);
        return sleep(ms > 45_000 && ms <= 50_000 ? 0 : ms, signal);
      },
    });
    // If the limiter had been paused as well, the batch would end after 50 s.
    expect([exitCode, other.requests.length, waits.length], stderr).toEqual([0, 2, 1]);
  });
});
