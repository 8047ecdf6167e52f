import { describe, expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { tlsWith } from '../servers/certificates.ts';
import { closedPort, type Script, type ScriptedServer, type SeenRequest, scripted } from '../servers/scripted.ts';
import { expectClear } from './clear.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

const KEY = 'canary/key+1';
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl';
const ENCODED = encodeURIComponent(KEY);

const ok: Script = (socket) => void socket.write(`${head(200, { 'Content-Length': 4 })}file`);
const to = (location: string, status = 302) => head(status, { Location: location, 'Content-Length': 0 });

/** Redirects the first requests, and answers the others with the file. */
const leading = (location: (request: SeenRequest) => string, times = 1, status?: number) =>
  scripted((socket, request) => {
    if (request.index < times) socket.write(to(location(request), status));
    else ok(socket, request);
  });

const base64 = (text: string) => Buffer.from(text).toString('base64');
const percent = encodeURIComponent;
/** Some of the encodings in which services put an address into the query of another one. */
const ENCODINGS: Readonly<Record<string, (address: string) => string>> = {
  'as it is': (address) => address,
  'percent-encoded three times, in small letters': (address) =>
    percent(percent(percent(address))).replace(/%../g, (hex) => hex.toLowerCase()),
  'form-encoded': (address) => new URLSearchParams([['', address]]).toString().slice(1),
  'base64 in a path': (address) => `/r/${base64(address)}`,
  'base64url of JSON': (address) => Buffer.from(JSON.stringify({ r: address })).toString('base64url'),
};

async function download(url: string, env: Record<string, string> = {}, key = KEY) {
  const place = await workplace();
  const ended = await place.filings(['download', ACCESSION, 'a.htm', '-v'], { ...serviceAt(url, key), ...env });
  expectClear([KEY, 'canary-key-1'], ended.stderr);
  return { ...ended, names: await place.names() };
}

function carriers({ line, headers }: SeenRequest): string[] {
  const all = [line, ...Object.values(headers)];
  const base64 = Buffer.from(`service:${KEY}`).toString('base64');
  return all.filter((text) => [KEY, ENCODED, 'APIKEY-', 'apikey=', base64, TOKEN].some((form) => text.includes(form)));
}

const KEY_WAYS = ['authorization', 'basic', 'header', 'query', 'path'].map((way) => ({ FILINGS_KEY_IN: way }));
const WAYS: Record<string, string>[] = [
  ...KEY_WAYS,
  { FILINGS_KEY_IN: 'header', FILINGS_KEY_HEADER: 'X-Own' },
  ...KEY_WAYS.slice(2).map((way) => ({ ...way, FILINGS_JWT: TOKEN })),
];

// Credentials of others in a Location are not secrets of this program. They are sent to the host that it names.
test.each([
  '/file?apikey=of-somebody-else',
  '/APIKEY-of-somebody-else/file',
  '/file?next=https://user:pass@host.example/',
])('follows a redirect whose Location has credentials of others, and redacts them: %s', async (path) => {
  const other = await scripted(ok);
  const first = await leading(() => `${other.url}${path}`);
  const { exitCode, stderr, names } = await download(first.url);
  expect([exitCode, names], stderr).toEqual([0, ['a.htm']]);
  expect(other.requests[0]?.path).toBe(path);
  expect(stderr).not.toMatch(/of-somebody-else|user:pass/);
});

test("a 401 of a redirect's target says that no key is sent there", async () => {
  const other = await scripted((socket) => void socket.write(head(401, { 'Content-Length': 0 })));
  const first = await leading(() => `${other.url}/file`);
  const { exitCode, stderr } = await download(first.url);
  expect(exitCode).toBe(4);
  expect(stderr).toMatch(/hint: the service redirects to 127\.0\.0\.1:\d+, and the key is never sent to another host/);
});

describe.each(WAYS)('credentials by %j', (env) => {
  const isInUrl = /query|path/.test(env.FILINGS_KEY_IN ?? '');

  test(`are ${isInUrl ? 'kept by refusing' : 'dropped when following'} a redirect to another origin`, async () => {
    const other = await scripted(ok);
    const first = await leading(({ path }) => `${other.url}${path}`);
    const { exitCode, stderr, names } = await download(first.url, env);
    expect(carriers(first.requests[0] as SeenRequest)).not.toEqual([]);
    expect([exitCode, names, other.requests.length], stderr).toEqual(isInUrl ? [9, [], 0] : [0, ['a.htm'], 1]);
    for (const request of other.requests) expect(carriers(request)).toEqual([]);
    if (isInUrl) expect(stderr).toMatch(/hint: .*--key-in header/);
  });

  test('are sent once within the origin', async () => {
    const server = await leading(({ path }) => `/elsewhere?${path.split('?')[1]}`);
    expect((await download(server.url, env)).exitCode).toBe(0);
    const [first, second] = server.requests as [SeenRequest, SeenRequest];
    expect(second.path).toMatch(/^\/elsewhere/);
    expect(carriers(second)).toHaveLength(carriers(first).length);
    expect(second.path.split('apikey=').length).toBe(first.path.split('apikey=').length);
  });
});

describe('a redirect to another origin is refused if its URL holds the key or the token', () => {
  async function expectRefused(location: (other: string) => string, env: Record<string, string> = {}, key = KEY) {
    const other = await scripted(ok);
    const first = await leading(() => location(other.url));
    const { exitCode, stderr, names } = await download(first.url, env, key);
    expect([exitCode, names, other.requests.length], stderr).toEqual([9, [], 0]);
    const hosts = [first, other].map(({ url }) => new URL(url).host);
    expect(stderr).toContain(`${hosts[0]}: refused to follow a redirect to ${hosts[1]} (its address holds the key`);
  }

  // A login page has such an address, which leads back to the first request.
  test.each(Object.entries(ENCODINGS))('in an address to return to: %s', (_, encode) =>
    expectRefused((other) => `${other}/login?next=${encode(`https://api.example/v1?apikey=${ENCODED}&x=y`)}`),
  );

  test.each<[where: string, location: (other: string) => string, env?: Record<string, string>]>([
    ['under another name', (other) => `${other}/?token=${ENCODED}`],
    ['as a password', (other) => other.replace('//', `//user:${ENCODED}@`)],
    ['in its fragment', (other) => `${other}/#${ENCODED}`],
    ['as a token', (other) => `${other}/?t=${TOKEN}`, { FILINGS_KEY_IN: 'header', FILINGS_JWT: TOKEN }],
  ])('%s', (_, location, env) => expectRefused(location, env));

  test.each([
    ['in the query', '/?apikey=q%2B'],
    ['in the path', '/v1/APIKEY-q+'],
  ])('even if the key has two characters: %s', (_, path) => expectRefused((other) => `${other}${path}`, {}, 'q+'));

  test('and shows no part of a host that is the key', async () => {
    const first = await leading(() => 'http://canary-key-1.localhost:1/');
    const { exitCode, stderr } = await download(first.url, {}, 'canary-key-1');
    expect(exitCode).toBe(9);
    expect(stderr).toContain('refused to follow a redirect to [redacted].localhost:1');
  });
});

test('-v shows origin and path of a redirect, and nothing behind them', async () => {
  const other = await scripted(ok);
  const first = await leading(() => `${other.url}/file;a=1?X-Signature=canary-signature#fragment`);
  const { stderr } = await download(first.url);
  expect(stderr).toContain(`\n<   location: ${other.url}/file;a=1\n`);
  expect(stderr).toContain(`\n> GET ${other.url}/file;a=1\n`);
  expect(stderr).not.toMatch(/canary-signature|fragment/);
});

test('credentials that a redirect removed are not sent again on the way back', async () => {
  const other: ScriptedServer = await scripted((socket) => void socket.write(to(`${first.url}/back`)));
  const first = await leading(() => `${other.url}/file`);
  expect((await download(first.url)).exitCode).toBe(0);
  expect(first.requests[1]?.path).toBe('/back');
  expect(carriers(first.requests[1] as SeenRequest)).toEqual([]);
});

test('follows a redirect of 301, 302, 303, 307 or 308 with a GET', async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    const server = await leading(() => '/there', 1, status);
    expect((await download(server.url)).exitCode).toBe(0);
    expect(server.requests[1]?.line).toBe('GET /there HTTP/1.1');
  }
});

test.each<[number, number]>([
  [5, 0],
  [6, 9],
])('follows up to five redirects: %i of them exit with %i', async (hops, exit) => {
  const server = await leading(({ index }) => `/${index + 1}`, hops);
  const { exitCode, names } = await download(server.url);
  expect([exitCode, names]).toEqual([exit, exit === 0 ? ['a.htm'] : []]);
  expect(server.requests).toHaveLength(6);
});

describe('an error behind a redirect names both hosts', () => {
  const length = (body: string) => head(200, { 'Content-Length': body.length }) + body;
  const both: [what: string, answer: string][] = [
    ['a 404', head(404, { 'Content-Length': 0 })],
    ['a coded answer', head(200, { 'Content-Length': 2, 'Content-Encoding': 'gzip' }).concat('xx')],
    ['no HTTP', 'hello\r\n\r\n'],
    ['a closed connection', ''],
    ['a body that is cut', head(200, { 'Content-Length': 9 }).concat('xx')],
    ['a redirect that leads nowhere', to('')],
    ['a redirect that carries the key', to(`http://127.0.0.1:2/${ENCODED}`)],
    ['too many redirects', to('/again')],
  ];

  async function expectHosts(command: string[], answer: string | { url: string }, env: Record<string, string> = {}) {
    const ending: Script = (socket) => void socket.end(answer as string);
    const other = typeof answer === 'string' ? await scripted(ending) : answer;
    const first = await leading(() => `${other.url}/file`);
    const place = await workplace();
    const { exitCode, stderr } = await place.filings(command, {
      ...serviceAt(first.url, KEY),
      FILINGS_RETRIES: '0',
      ...env,
    });
    const [from, last] = [first.url, other.url].map((url) => new URL(url).host);
    expect(exitCode, stderr).toBeGreaterThan(3);
    expect(stderr.split('\n')[0], stderr).toContain(`${ACCESSION}: ${from} redirects to ${last}`);
  }

  const DOWNLOAD = ['download', ACCESSION, 'a.htm'];
  const LIST = ['list', ACCESSION];

  test.each(both)('%s', async (_, answer) => {
    for (const command of [DOWNLOAD, LIST]) await expectHosts(command, answer);
  });

  test.each<[string, string[], string]>([
    ['an empty answer without a length', DOWNLOAD, head(200)],
    ['another hash', [...DOWNLOAD, '--sha256', '0'.repeat(64)], length('file')],
    ['a page of HTML', LIST, length('<html><title>Log in</title>')],
    ['a listing that is too large', LIST, head(200, { 'Content-Length': 1 << 30 })],
  ])('%s', (_, command, answer) => expectHosts(command, answer));

  test('a refused connection, an untrusted certificate and a missing response', async () => {
    const untrusted = await scripted(ok, tlsWith('api-example'));
    const silent = await scripted(() => {});
    for (const command of [DOWNLOAD, LIST]) {
      await expectHosts(command, { url: `http://127.0.0.1:${await closedPort()}` });
      await expectHosts(command, { url: untrusted.url });
      await expectHosts(command, { url: silent.url }, { FILINGS_IDLE_TIMEOUT: '50ms' });
    }
  });
});
