import { describe, expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { type Script, type ScriptedServer, type SeenRequest, scripted } from '../servers/scripted.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

const KEY = 'canary/key+1';
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl';
const ENCODED = encodeURIComponent(KEY);

const ok: Script = (socket) => void socket.write(`${head(200, { 'Content-Length': 4 })}file`);
const to = (location: string, status = 302) => head(status, { Location: location, 'Content-Length': 0 });

/** Leads the first requests elsewhere, and answers the others with the file. */
const leading = (location: (request: SeenRequest) => string, times = 1, status?: number) =>
  scripted((socket, request) => {
    if (request.index < times) socket.write(to(location(request), status));
    else ok(socket, request);
  });

async function download(url: string, env: Record<string, string> = {}) {
  const place = await workplace();
  const ended = await place.filings(['download', ACCESSION, 'a.htm', '-v'], { ...serviceAt(url, KEY), ...env });
  expect(ended.stderr).not.toContain(KEY);
  expect(ended.stderr).not.toContain(ENCODED);
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

// What others have in the place of a key is theirs, and goes where they send us.
test.each([
  '/file?apikey=of-somebody-else',
  '/APIKEY-of-somebody-else/file',
  '/file?next=https://user:pass@host.example/',
])('foreign credentials in a Location are followed, and not shown: %s', async (path) => {
  const other = await scripted(ok);
  const first = await leading(() => `${other.url}${path}`);
  const { exitCode, stderr, names } = await download(first.url);
  expect([exitCode, names], stderr).toEqual([0, ['a.htm']]);
  expect(other.requests[0]?.path).toBe(path);
  expect(stderr).toContain('[redacted]');
  expect(stderr).not.toMatch(/of-somebody-else|user:pass/);
});

test('a 401 of where a redirect has led says that no key is sent there', async () => {
  const other = await scripted((socket) => void socket.write(head(401, { 'Content-Length': 0 })));
  const first = await leading(() => `${other.url}/file`);
  const { exitCode, stderr } = await download(first.url);
  expect(exitCode).toBe(4);
  expect(stderr).toMatch(/hint: the service redirects to 127\.0\.0\.1:\d+, where no key is sent/);
});

describe.each(WAYS)('credentials by %j', (env) => {
  test.each<[string, 0 | 9, (request: SeenRequest, other: string) => string]>([
    ['a plain Location', 0, (_, other) => `${other}/file`],
    ['a Location that copies the query and the path', 0, ({ path }, other) => `${other}${path}`],
    [
      // The key is not where it was put, and can't be taken out: refused as a whole.
      'a Location that copies the key under another name',
      9,
      ({ path }, other) => `${other}${path}${path.includes('?') ? '&' : '?'}token=${ENCODED}`,
    ],
    ['the host by another name', 0, (_, other) => `${other.replace('127.0.0.1', 'localhost')}/file`],
  ])('never go to another origin: %s, exit %i', async (_, must, location) => {
    const other = await scripted(ok);
    const first = await leading((request) => location(request, other.url));
    const { exitCode, stderr, names } = await download(first.url, env);
    expect(carriers(first.requests[0] as SeenRequest)).not.toEqual([]);
    expect([exitCode, names], stderr).toEqual([must, must === 0 ? ['a.htm'] : []]);
    expect(other.requests).toHaveLength(must === 0 ? 1 : 0);
    for (const request of other.requests) expect(carriers(request)).toEqual([]);
  });

  test('go along within the origin, once', async () => {
    const server = await leading(({ path }) => `/elsewhere?${path.split('?')[1]}`);
    expect((await download(server.url, env)).exitCode).toBe(0);
    const [first, second] = server.requests as [SeenRequest, SeenRequest];
    expect(second.path).toMatch(/^\/elsewhere/);
    expect(carriers(second)).toHaveLength(carriers(first).length);
    expect(second.path.split('apikey=').length).toBe(first.path.split('apikey=').length);
  });
});

test('once away, the credentials stay away on the way back', async () => {
  const other: ScriptedServer = await scripted((socket) => void socket.write(to(`${first.url}/back`)));
  const first = await leading(() => `${other.url}/file`);
  expect((await download(first.url)).exitCode).toBe(0);
  expect(first.requests[1]?.path).toBe('/back');
  expect(carriers(first.requests[1] as SeenRequest)).toEqual([]);
});

test.each([301, 302, 303, 307, 308])('%i is followed with a GET', async (status) => {
  const server = await leading(() => '/there', 1, status);
  expect((await download(server.url)).exitCode).toBe(0);
  expect(server.requests[1]?.line).toBe('GET /there HTTP/1.1');
});

test.each<[number, number]>([
  [5, 0],
  [6, 9],
])('%i redirects: exit %i', async (hops, exit) => {
  const server = await leading(({ index }) => `/${index + 1}`, hops);
  const { exitCode, names } = await download(server.url);
  expect([exitCode, names]).toEqual([exit, exit === 0 ? ['a.htm'] : []]);
  expect(server.requests).toHaveLength(6);
});
