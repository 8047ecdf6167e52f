import { describe, expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { type Certificate, tlsWith } from '../servers/certificates.ts';
import { proxying } from '../servers/proxy.ts';
import { scripted } from '../servers/scripted.ts';
import { commandIn, pasted } from './pasted.ts';
import { ACCESSION, asking, jsonOf, serve, workplace } from './run.ts';

const answering = (status: number, body: string, tls?: Parameters<typeof asking>[1]) =>
  asking((socket) => void socket.end(head(status, { 'Content-Length': Buffer.byteLength(body) }) + body), tls);

/** Runs `config check --json` and returns its verdicts by check. */
async function check(
  { filings }: Pick<Awaited<ReturnType<typeof asking>>, 'filings'>,
  env: Record<string, string> = {},
  args: readonly string[] = [],
) {
  const { exitCode, stdout, stderr } = await filings(['config', 'check', '--json', ...args], env);
  // A wrong verdict has a detail.
  expect(jsonOf(stdout).filter(({ verdict, detail }) => verdict === 'wrong' && !detail)).toEqual([]);
  const verdicts = Object.fromEntries(jsonOf(stdout).map((line) => [line.check, line.verdict]));
  return { exitCode, stdout: `${stdout}`, stderr, verdicts };
}

test.each<[string, Certificate, string]>([
  ['a valid one', 'own-name', 'ok'],
  ['an untrusted one', 'api-example', 'wrong'],
  ['an expired one', 'expired', 'wrong'],
  ['one for another name', 'other-name', 'wrong'],
])('config check reports the verdict on the certificate: %s', async (_, certificate, verdict) => {
  const { exitCode, verdicts } = await check(await answering(200, '[]', tlsWith(certificate)));
  const isRight = verdict === 'ok';
  expect(verdicts).toMatchObject({ address: 'ok', certificate: verdict, key: isRight ? 'ok' : 'unknown' });
  expect(exitCode).toBe(isRight ? 0 : 7);
});

test('config check of the sandbox reports no problem', async () => {
  const { stdout, stderr, exitCode } = await (await workplace()).filings(['config', 'check', '--sandbox', '--json']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(`${stdout}`).toMatch(
    /^{"check":"address","verdict":"ok","detail":"the sandbox"}\n.*\n{"check":"key","verdict":"ok"}\n/,
  );
});

test('config check of an address where nothing listens reports the key as unknown', async () => {
  const { exitCode, stderr, verdicts } = await check(await workplace(), {
    FILINGS_BASE_URL: 'http://127.0.0.1:1',
    FILINGS_API_KEY: 'k',
  });
  expect(verdicts).toMatchObject({ address: 'wrong', key: 'unknown', clock: 'unknown' });
  expect([exitCode, stderr]).toEqual([7, expect.stringMatching(/^filings: config check: /)]);
});

test.each([
  [403, 7],
  [407, 4],
  [503, 7],
])('config check reports an unknown key and certificate if a proxy answers with %i', async (status, exit) => {
  const proxy = await proxying(1, () => `HTTP/1.1 ${status} No\r\n\r\n`);
  const env = { FILINGS_BASE_URL: 'https://service.example', FILINGS_API_KEY: 'k', HTTPS_PROXY: proxy.url };
  const { exitCode, stderr, verdicts } = await check(await workplace(), env);
  expect(verdicts).toMatchObject({ address: 'wrong', certificate: 'unknown', key: 'unknown' });
  expect([exitCode, stderr]).toEqual([exit, expect.stringContaining(`refused with ${status}`)]);
});

test('config check reports the key as unknown if a proxy requires a password', async () => {
  const proxy = await scripted((socket) => void socket.write(head(407, { 'Content-Length': 0 })));
  const env = { FILINGS_BASE_URL: 'http://service.example', FILINGS_API_KEY: 'k', FILINGS_ALLOW_HTTP: '1' };
  const { exitCode, stderr, verdicts } = await check(await workplace(), { ...env, HTTP_PROXY: proxy.url });
  expect(verdicts).toMatchObject({ address: 'wrong', certificate: 'not used', key: 'unknown' });
  expect([exitCode, stderr]).toEqual([4, expect.stringMatching(/407 .*\n {2}hint: the proxy requires a user/)]);
});

describe('config check exits according to the response', () => {
  test.each<[string, status: number, body: string, exit: number, address: 'ok' | 'wrong']>([
    ['JSON that is not a listing', 200, '{"listing":"no"}', 9, 'ok'],
    ['an HTML page', 200, '<!doctype html><title>Welcome</title>', 9, 'wrong'],
    ['an empty listing', 200, '[]', 0, 'ok'],
    ['a 401', 401, '', 4, 'ok'],
    ['a 503', 503, '', 7, 'ok'],
  ])('%s', async (_, status, body, exit, address) => {
    const { exitCode, stdout, stderr, verdicts } = await check(await answering(status, body));
    expect(exitCode, stderr).toBe(exit);
    expect(`${stdout}${stderr}`).not.toContain('0000000000-00-000000');
    expect(stderr).not.toContain('filings config check');
    if (exit > 0) expect(stderr).toMatch(/^filings: config check: .+\n(?: {2}.*\n)* {2}hint: ./);
    expect(verdicts).toMatchObject({ address, key: { 0: 'ok', 4: 'wrong' }[exit] ?? 'unknown' });
  });
});

const PROBLEM = '{"title":"Item not found","status":404}';
const HTML = '<html><title>404 Not Found</title></html>';
const UNKNOWN = { address: 'unknown', key: 'unknown', token: 'unknown' };

describe('after a 404', () => {
  test.each<[string, status: number, body: string]>([
    ['a problem', 404, PROBLEM],
    ['a problem whose members are null', 404, '{"type":null,"detail":null,"extensions":{}}'],
    ["a web server's page", 404, HTML],
    ["another program's JSON", 404, '{"status":404,"error":"Not Found","path":"/v1/filings"}'],
    ['no body', 404, ''],
    ['a 410', 410, PROBLEM],
  ])('config check without ACCESSION reports nothing as known and asks for one: %s', async (_, status, body) => {
    const place = await answering(status, body);
    const { exitCode, stdout, stderr, verdicts } = await check(place, { FILINGS_JWT: jwt(hoursAgo(-3)) });
    expect(verdicts).toEqual({ ...UNKNOWN, certificate: 'not used', clock: expect.anything() });
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringMatching(/^hint: .*accession number that exists: filings .*\n$/),
    ]);
    expect(`${stdout}${stderr}`).not.toContain('0000000000-00-000000');
    const command = pasted(commandIn(stderr).replace('ACCESSION', ACCESSION));
    expect(await place.filings(command)).toMatchObject({ exitCode: 5 });
  });

  test.each<[string, status: number, body: string, known: string]>([
    ['a problem', 404, PROBLEM, 'unknown'],
    ["a web server's page", 404, HTML, 'unknown'],
    ['an empty listing', 200, '[]', 'ok'],
  ])('config check with ACCESSION reports a missing filing and both causes: %s', async (_, status, body, known) => {
    const { exitCode, stderr, verdicts } = await check(await answering(status, body), {}, [ACCESSION]);
    expect(verdicts).toMatchObject({ address: known, key: known, token: 'not used', filing: 'wrong' });
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(
      /^filings: config check: .*\n[\s\S]* {2}hint: check the accession number and the base URL\n$/,
    );
  });

  test('config check reports a wrong path in the base URL only with ACCESSION', async () => {
    const { url } = await serve(['--api-key', 'a-key-1234']);
    const env = { FILINGS_BASE_URL: `${url}/wrong`, FILINGS_API_KEY: 'a-key-1234' };
    const place = await workplace();
    expect(await check(place, env)).toMatchObject({ exitCode: 0, verdicts: { address: 'unknown', key: 'unknown' } });
    expect(await check(place, env, [ACCESSION])).toMatchObject({ exitCode: 5, verdicts: { filing: 'wrong' } });
    const right = { ...env, FILINGS_BASE_URL: url };
    const { exitCode, stdout, verdicts } = await check(place, right, [ACCESSION]);
    expect([exitCode, verdicts]).toMatchObject([0, { address: 'ok', key: 'ok', filing: 'ok' }]);
    expect(stdout).toContain('{"check":"filing","verdict":"ok","detail":"11 records, 11 files"}\n');
  });

  test.each<[string, body: string, args: string[], exit: number]>([
    ['of the service for the number that no filing has', '{"title":"Invalid","status":422}', [], 0],
    ['of the service for ACCESSION', '{"title":"Invalid","status":422}', [ACCESSION], 6],
    ['of another program', '<title>Bad Request</title>', [], 6],
  ])('config check also reports address and key as unknown after a 422: %s', async (_, body, args, exit) => {
    const { exitCode, stderr, verdicts } = await check(await answering(422, body), {}, args);
    expect(verdicts).toMatchObject({ address: 'unknown', key: 'unknown' });
    const hint = args.length === 0 ? /hint: .* that exists: filings config check ACCESSION\n$/ : /hint: check the acc/;
    expect([exitCode, stderr]).toEqual([exit, expect.stringMatching(hint)]);
  });

  test.each([['download', 'x.htm'], ['list']])('%s names both causes in its hint', async (command, ...files) => {
    const place = await answering(404, PROBLEM);
    const { exitCode, stderr } = await place.filings([command, ACCESSION, ...files]);
    expect([exitCode, stderr]).toEqual([
      5,
      expect.stringMatching(/hint: check .*the accession number and the base URL/),
    ]);
  });
});

const claims = (exp: unknown) => Buffer.from(JSON.stringify({ nbf: 0, exp })).toString('base64url');
const jwt = (exp: unknown) => `eyJhbGciOiJIUzI1NiJ9.${claims(exp)}.c2lnbmF0dXJl`;
const hoursAgo = (hours: number) => Math.floor(Date.now() / 1000) - hours * 3600;

test.each<[string, number, string, key: string, token: string]>([
  ['an expired token', 401, jwt(hoursAgo(3)), 'unknown', 'wrong'],
  ['an expired token', 404, jwt(hoursAgo(3)), 'unknown', 'wrong'],
  ['an expired token that the service accepts', 200, jwt(hoursAgo(3)), 'unknown', 'wrong'],
  ['a valid token', 401, jwt(hoursAgo(-3)), 'wrong', 'wrong'],
  ['a valid token that the service accepts', 200, jwt(hoursAgo(-3)), 'ok', 'ok'],
  ['a token without exp', 401, jwt(undefined), 'wrong', 'wrong'],
  ['text that is not a token', 401, 'no-token-at-all', 'wrong', 'wrong'],
])('config check reports key and token: %s, response %i', async (_, status, sent, key, token) => {
  const { exitCode, verdicts } = await check(await answering(status, '[]'), { FILINGS_JWT: sent });
  expect(verdicts).toMatchObject({ key, token });
  expect(exitCode).toBe(token === 'wrong' ? 4 : 0);
});
