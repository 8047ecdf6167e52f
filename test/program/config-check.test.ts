import { expect, onTestFinished, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { type Certificate, tlsWith } from '../servers/certificates.ts';
import { startProxy } from '../servers/proxy.ts';
import { scripted } from '../servers/scripted.ts';
import { serviceAt, workplace } from './run.ts';

/** What `config check` says of each part. */
async function check(url: string, env: Record<string, string> = {}) {
  const place = await workplace();
  const { exitCode, stdout, stderr } = await place.filings(['config', 'check'], { ...serviceAt(url), ...env });
  const lines = stdout.toString().trimEnd().split('\n');
  const verdicts = Object.fromEntries(lines.map((line) => line.split('\t').slice(0, 2)));
  return { exitCode, stderr, verdicts };
}

test.each<[string, Certificate, string]>([
  ['a right one', 'own-name', 'ok'],
  ['an untrusted one', 'api-example', 'wrong'],
  ['an expired one', 'expired', 'wrong'],
  ['one for another name', 'other-name', 'wrong'],
])('config check tells of the certificate: %s', async (_, certificate, verdict) => {
  const server = await scripted((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]');
  }, tlsWith(certificate));
  const { exitCode, verdicts } = await check(server.url);
  const isRight = verdict === 'ok';
  expect(verdicts).toMatchObject({ address: 'ok', certificate: verdict, key: isRight ? 'ok' : 'unknown' });
  expect(exitCode).toBe(isRight ? 0 : 7);
});

test('config check of the sandbox finds all well', async () => {
  const { stdout, stderr, exitCode } = await (await workplace()).filings(['config', 'check', '--sandbox', '--json']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout.toString()).toMatch(
    /^{"check":"address","verdict":"ok","detail":"the sandbox"}\n.*\n{"check":"key","verdict":"ok"}\n/,
  );
});

test('config check of an address where nobody is says nothing of the key', async () => {
  const { exitCode, stderr, verdicts } = await check('http://127.0.0.1:1');
  expect(verdicts).toMatchObject({ address: 'wrong', key: 'unknown', clock: 'unknown' });
  expect([exitCode, stderr]).toEqual([7, expect.stringMatching(/^filings: config check: /)]);
});

test.each([403, 407, 503])(
  'config check says nothing of the certificate, when a proxy refuses with %s',
  async (status) => {
    const proxy = await startProxy(1, () => `HTTP/1.1 ${status} No\r\n\r\n`);
    onTestFinished(() => proxy.close());
    const { exitCode, stderr, verdicts } = await check('https://service.example', { HTTPS_PROXY: proxy.url });
    expect(verdicts).toMatchObject({ address: 'wrong', certificate: 'unknown', key: 'unknown' });
    expect(stderr).toContain(`refused with ${status}`);
    expect(exitCode).toBe(7);
  },
);

const claims = (exp: unknown) => Buffer.from(JSON.stringify({ nbf: 0, exp })).toString('base64url');
const jwt = (exp: unknown) => `eyJhbGciOiJIUzI1NiJ9.${claims(exp)}.c2lnbmF0dXJl`;
const hoursAgo = (hours: number) => Math.floor(Date.now() / 1000) - hours * 3600;

test.each<[string, number, string, Record<string, string>]>([
  ['an expired token', 401, jwt(hoursAgo(3)), { key: 'unknown', token: 'wrong' }],
  ['an expired token that is taken all the same', 200, jwt(hoursAgo(3)), { key: 'unknown', token: 'wrong' }],
  ['a valid token', 401, jwt(hoursAgo(-3)), { key: 'wrong', token: 'wrong' }],
  ['a valid token that is taken', 200, jwt(hoursAgo(-3)), { key: 'ok', token: 'ok' }],
  ['a token without exp', 401, jwt(undefined), { key: 'wrong', token: 'wrong' }],
  ['what is no token', 401, 'no-token-at-all', { key: 'wrong', token: 'wrong' }],
])('%s, answered by %i', async (_, status, token, expected) => {
  const server = await scripted((socket) => void socket.end(`${head(status, { 'Content-Length': 2 })}[]`));
  const { exitCode, verdicts } = await check(server.url, { FILINGS_JWT: token });
  expect(verdicts).toMatchObject(expected);
  expect(exitCode).toBe(expected.token === 'wrong' ? 4 : 0);
});
