import { describe, expect, test } from 'vitest';
import { head, sendAndEnd } from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { expectClear } from './clear.ts';
import { ACCESSION, asking } from './run.ts';

// A key with every character that encoders treat differently, and a token. Neither may appear in any output.
const KEY = `c4nary'k/y+%?&=~(1)*"!`;
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOiJ0b2tlbi1jYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ';
const BASIC = `service:${KEY}`;

const file: Script = (socket) => void socket.end(`${head(200, { 'Content-Length': 2 })}ok`);
const clear = (...texts: (string | Buffer)[]) => expectClear([KEY, BASIC, TOKEN], ...texts);

/** Downloads with the key sent by `way`, with or without a token. */
async function setUp(script: Script, way = '', token = '') {
  const { filings, ...place } = await asking(script);
  const env = { FILINGS_API_KEY: KEY, FILINGS_KEY_IN: way, FILINGS_JWT: token };
  const download = (args: string[] = [], more = {}) =>
    filings(['download', ACCESSION, 'a.htm', ...args], { ...env, ...more });
  return { ...place, download };
}

describe.each([
  ['authorization', ''],
  ['basic', ''],
  ...['header', 'query', 'path'].flatMap((way) => [
    [way, ''],
    [way, TOKEN],
  ]),
])('credentials with the key by %s and the token "%s"', (way, token) => {
  test('are sent in the fields and parameters of docs/service.md', async () => {
    const { download, requests, url: base } = await setUp(file, way, token);
    const { exitCode, stderr } = await download();
    expect(exitCode, stderr).toBe(0);
    const { path = '', headers = {} } = requests[0] ?? {};
    const url = new URL(path, base);
    const basic = `Basic ${Buffer.from(BASIC).toString('base64')}`;
    const own = { authorization: KEY, basic }[way] ?? (token ? `Bearer ${TOKEN}` : undefined);
    expect(headers.authorization).toBe(own);
    expect(headers['x-service-key']).toBe(way === 'header' ? KEY : undefined);
    expect(url.searchParams.get('apikey')).toBe(way === 'query' ? KEY : null);
    expect(decodeURIComponent(url.pathname)).toBe(way === 'path' ? `/v1/download/APIKEY-${KEY}` : '/v1/download');
    expect(url.searchParams.get('accession_no')).toBe(ACCESSION);
  });

  test('are in no file and no message of a download that is retried and cut', async () => {
    const whole = head(200, { 'Content-Length': 1_200_000, ETag: '"v1"' }) + 'x'.repeat(1_150_000);
    const { download, names, read } = await setUp(
      (socket, request) => {
        if (request.index === 0) socket.write(head(503, { 'Content-Length': 0, 'Retry-After': 0 }));
        else sendAndEnd(socket, whole, 'FIN');
      },
      way,
      token,
    );
    const { exitCode, stderr } = await download(['--retries', '1', '-v']);
    expect(exitCode, stderr).toBe(9);
    const left = await names();
    expect(left).toHaveLength(1);
    clear(stderr, ...left, ...(await Promise.all(left.map((name) => read(name)))));
  });
});

test('without FILINGS_KEY_IN the key goes in Authorization, or in its own header if a token is sent', async () => {
  const { download, requests } = await setUp(file);
  for (const token of ['', TOKEN])
    expect(await download(['-o', '-'], { FILINGS_JWT: token })).toMatchObject({ exitCode: 0 });
  expect(requests.map(({ headers }) => [headers.authorization, headers['x-service-key']])).toEqual([
    [KEY, undefined],
    [`Bearer ${TOKEN}`, KEY],
  ]);
});

test.each(['authorization', 'basic'])('%s together with a token is rejected before any request', async (way) => {
  const { download, requests } = await setUp(file, way, TOKEN);
  const { exitCode, stderr } = await download();
  expect([exitCode, requests.length]).toEqual([2, 0]);
  expect(stderr).toMatch(/header.*query.*path/);
  clear(stderr);
});
