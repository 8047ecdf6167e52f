import { expect, test } from 'vitest';
import { head, sendAndEnd } from '../servers/answers.ts';
import { quick } from './batch.ts';
import { base64, expectClear } from './clear.ts';
import { ACCESSION, asking } from './run.ts';

// A key with every character that encoders treat differently, and a token. Neither may appear in any output.
const KEY = `c4nary'k/y+%?&=~(1)*"!`;
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOiJ0b2tlbi1jYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ';
const BASIC = `service:${KEY}`;
const clear = (...texts: (string | Buffer)[]) => expectClear([KEY, BASIC, TOKEN], ...texts);

/**
 * Downloads with the key sent by `way`, and with a token if it is not empty. The service is busy at first. Then it cuts
 * the file.
 */
async function downloaded(way: string, token: string) {
  const start = head(200, { 'Content-Length': 1_200_000, ETag: '"v1"' }) + 'x'.repeat(1_150_000);
  const place = await asking((socket, { index }) => {
    if (index === 0) socket.write(head(503, { 'Content-Length': 0, 'Retry-After': 0 }));
    else sendAndEnd(socket, start, 'FIN');
  });
  const env = { FILINGS_API_KEY: KEY, FILINGS_KEY_IN: way, FILINGS_JWT: token };
  const args = ['download', ACCESSION, 'a.htm', '--retries', '1', '-v'];
  return { ...place, ...(await place.filings(args, env, { sleep: quick })) };
}

test.each`
  way         | token    | sent
  ${''}       | ${''}    | ${{ authorization: KEY }}
  ${''}       | ${TOKEN} | ${{ authorization: `Bearer ${TOKEN}`, header: KEY }}
  ${'basic'}  | ${''}    | ${{ authorization: `Basic ${base64(BASIC)}` }}
  ${'header'} | ${TOKEN} | ${{ authorization: `Bearer ${TOKEN}`, header: KEY }}
  ${'query'}  | ${TOKEN} | ${{ authorization: `Bearer ${TOKEN}`, query: KEY }}
  ${'path'}   | ${TOKEN} | ${{ authorization: `Bearer ${TOKEN}`, path: `/v1/download/APIKEY-${KEY}` }}
`(
  'with --key-in $way and the token $token each request has the credentials, and no message or file has them',
  async ({ way, token, sent }) => {
    const { exitCode, stderr, requests, names, read, url } = await downloaded(way, token);
    expect(exitCode, stderr).toBe(9);
    expect(requests.length).toBeGreaterThan(1);
    for (const { path, headers } of requests) {
      const { pathname, searchParams } = new URL(path, url);
      expect({
        authorization: headers.authorization,
        header: headers['x-service-key'],
        path: decodeURIComponent(pathname),
        query: searchParams.get('apikey'),
        accession: searchParams.get('accession_no'),
      }).toEqual({ path: '/v1/download', query: null, accession: ACCESSION, ...sent });
    }
    expect(await names()).toEqual(['.a.htm.filings-resume']);
    clear(stderr, await read('.a.htm.filings-resume'));
  },
);

test.each(['authorization', 'basic'])('a token cannot be sent together with the key by %s', async (way) => {
  const { exitCode, requests, stderr } = await downloaded(way, TOKEN);
  expect([exitCode, requests.length]).toEqual([2, 0]);
  expect(stderr).toMatch(/header.*query.*path/);
  clear(stderr);
});
