import { describe, expect, test } from 'vitest';
import { head, sendAndEnd } from '../servers/answers.ts';
import { type SeenRequest, scripted } from '../servers/scripted.ts';
import { expectClear } from './clear.ts';
import { ACCESSION, workplace } from './run.ts';

// A key with all that encoders treat differently, and a token: neither may come out anywhere.
const KEY = `c4nary'k/y+%?&=~(1)*"!`;
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOiJ0b2tlbi1jYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ';
const WAYS = ['authorization', 'header', 'query', 'path', 'basic'] as const;
type Way = (typeof WAYS)[number];

const clear = (...texts: (string | Buffer)[]) => expectClear([KEY, `service:${KEY}`, TOKEN], ...texts);

const env = (url: string, way: Way, withToken = false): Record<string, string> => ({
  FILINGS_BASE_URL: url,
  FILINGS_API_KEY: KEY,
  FILINGS_KEY_IN: way,
  ...(withToken ? { FILINGS_JWT: TOKEN } : {}),
});

const CASES: [Way, boolean][] = [
  ...WAYS.map((way) => [way, false] as [Way, boolean]),
  ['header', true],
  ['query', true],
  ['path', true],
];

describe.each(CASES)('the key by %s, with a token: %s', (way, withToken) => {
  test('arrives as the contract says', async () => {
    const server = await scripted((socket) => void socket.end(`${head(200, { 'Content-Length': 2 })}ok`));
    const place = await workplace();
    const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a.htm'], env(server.url, way, withToken));
    expect(exitCode, stderr).toBe(0);
    const { path, headers } = server.requests[0] as SeenRequest;
    const url = new URL(path, server.url);
    const bearer = withToken ? `Bearer ${TOKEN}` : undefined;
    const basic = `Basic ${Buffer.from(`service:${KEY}`).toString('base64')}`;
    expect(headers.authorization).toBe(way === 'authorization' ? KEY : way === 'basic' ? basic : bearer);
    expect(headers['x-service-key']).toBe(way === 'header' ? KEY : undefined);
    expect(url.searchParams.get('apikey')).toBe(way === 'query' ? KEY : null);
    expect(decodeURIComponent(url.pathname)).toBe(way === 'path' ? `/v1/download/APIKEY-${KEY}` : '/v1/download');
    expect(url.searchParams.get('accession_no')).toBe(ACCESSION);
  });

  test('is in no file and no line of a download that is cut, waited for and resumed', async () => {
    const file = Buffer.alloc(1_200_000, 'x');
    const server = await scripted((socket, request) => {
      if (request.index === 0) socket.write(head(503, { 'Content-Length': 0, 'Retry-After': 0 }));
      else {
        const bytes = Buffer.concat([Buffer.from(head(200, { 'Content-Length': file.length, ETag: '"v1"' })), file]);
        sendAndEnd(socket, bytes.subarray(0, 900_000), 'FIN');
      }
    });
    const place = await workplace();
    const args = ['download', ACCESSION, 'a.htm', '--retries', '1', '-v'];
    const { exitCode, stderr } = await place.filings(args, env(server.url, way, withToken));
    expect(exitCode, stderr).toBe(9);
    const names = await place.names();
    expect(names).toHaveLength(2);
    clear(stderr, ...names, ...(await Promise.all(names.map((name) => place.read(name)))));
  });

  test('is not in what is told about a connection that fails', async () => {
    const place = await workplace();
    const args = ['download', ACCESSION, 'a.htm', '--retries', '0', '-v'];
    const { exitCode, stderr } = await place.filings(args, env('http://127.0.0.1:1', way, withToken));
    expect(exitCode).toBe(7);
    clear(stderr);
  });
});

test('no way named: the key goes in Authorization, and makes room for a token', async () => {
  const server = await scripted((socket) => void socket.end(`${head(200, { 'Content-Length': 2 })}ok`));
  const place = await workplace();
  for (const more of [{}, { FILINGS_JWT: TOKEN }]) {
    const given = { FILINGS_BASE_URL: server.url, FILINGS_API_KEY: KEY, ...more };
    const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a.htm', '-o', '-'], given);
    expect(exitCode, stderr).toBe(0);
  }
  const [alone, beside] = server.requests.map(({ headers }) => [headers.authorization, headers['x-service-key']]);
  expect(alone).toEqual([KEY, undefined]);
  expect(beside).toEqual([`Bearer ${TOKEN}`, KEY]);
});

test.each<Way>(['authorization', 'basic'])('%s together with a token is refused before any request', async (way) => {
  const server = await scripted(() => {});
  const place = await workplace();
  const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a.htm'], env(server.url, way, true));
  expect([exitCode, server.requests.length]).toEqual([2, 0]);
  expect(stderr).toMatch(/header.*query.*path/);
  clear(stderr);
});
