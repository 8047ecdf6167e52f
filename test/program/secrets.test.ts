import { describe, expect, onTestFinished, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { startProxy } from '../servers/proxy.ts';
import { scripted } from '../servers/scripted.ts';
import { base64, expectClear, formsOf, percent } from './clear.ts';
import { ACCESSION, serve, type Workplace, workplace } from './run.ts';

// What a service may do with what it was sent; nothing that is said about it may hold a secret, in any form.
const KEY = 'kP3/x+9"q&Z<';
const SHORT = 'q7+';
const TOKEN = `eyJhbGciOiJIUzI1NiJ9.${'eyJjYW5hcnkiOiJ0b2tlbi1jYW5hcnkifQ'.repeat(8)}.c2lnbmF0dXJlLWNhbmFyeS1zaWc`;
const PROXY_PASSWORD = 'pr0xy p@ss/word';
const WAYS = ['authorization', 'header', 'query', 'path', 'basic'] as const;

/** Everything a service could say of a secret, in pieces that no cut should bring out again. */
const echoOf = (secret: string) => formsOf(secret).join(' | ');

const answer = (status: number, body: string, fields: Record<string, string> = {}) =>
  head(status, { 'Content-Length': Buffer.byteLength(body), Connection: 'close', ...fields }) + body;

/** Every byte that a run left behind, and every name. */
async function leftBy(place: Workplace): Promise<(Buffer | string)[]> {
  const names = await place.names();
  return [...names, ...(await Promise.all(names.map((name) => place.read(name))))];
}

const env = (url: string, key: string, more: Record<string, string> = {}) => ({
  FILINGS_BASE_URL: url,
  FILINGS_API_KEY: key,
  FILINGS_KEY_IN: 'header',
  ...more,
});

describe('a service that says all it was sent', () => {
  const SECRETS = [KEY, TOKEN];
  const echo = SECRETS.map(echoOf).join(' | ');
  const fields = {
    ETag: `"${encodeURIComponent(KEY)}"`,
    'Set-Cookie': `k=${encodeURIComponent(KEY)}`,
    'X-Echo': base64(KEY),
  };
  // Where the program cuts: the beginning of the echo is moved over each cut.
  const around = (cut: number) => [cut - 12, cut - 8, cut - 4].map((length) => 'x '.repeat(length / 2) + echo);
  const at = (cut: number): [string, number, string] => {
    const [title = '', detail = '', other = ''] = around(cut);
    const body = {
      title,
      detail,
      other,
      [title]: title,
      [detail]: detail,
      errors: { [other]: [title, detail, other] },
    };
    return [`details over the cut at ${cut}`, 422, JSON.stringify(body)];
  };
  const bodies: [string, number, string][] = [
    [
      'problem details',
      400,
      JSON.stringify({ title: echo, instance: `/v1?apikey=${KEY}`, [echo]: echo, errors: { [echo]: [echo] } }),
    ],
    ['HTML', 500, `<html><title>${echo}</title><body>${echo}</body></html>`],
    ['text', 403, echo],
    ...[200, 300, 500, 1000, 4096, 16_384].map(at),
    ['an endless body, cut at 1 MiB', 500, `${'x'.repeat((1 << 20) - 5)}${KEY}${'y'.repeat(100)}`],
  ];

  test.each(bodies)('in %s', async (_, status, body) => {
    const server = await scripted((socket) => void socket.write(answer(status, body, fields)));
    const place = await workplace();
    const given = env(server.url, KEY, { FILINGS_JWT: TOKEN });
    const runs = await Promise.all([
      place.filings(['download', ACCESSION, 'a.htm', '-v', '--retries', '0', '--report', 'report.jsonl'], given),
      place.filings(['list', ACCESSION, '-v', '--retries', '0', '--error-format', 'json'], given),
      place.filings(['config', 'check', '-v'], given),
    ]);
    // What a service objects to is no fault of the address, nor of the key.
    const own = { 400: 6, 403: 4, 422: 6, 500: 7 }[status];
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([own, own, own === 6 ? 0 : own]);
    for (const { stdout, stderr } of runs) {
      expect(stderr).toContain('[redacted]');
      expectClear(SECRETS, stdout, stderr);
    }
    expectClear(SECRETS, ...(await leftBy(place)));
  });

  test.each<[string, string]>([
    ['HTML', `<title>${echo}</title>`],
    ['text', echo],
    ['a scalar', JSON.stringify(echo)],
    ['members', JSON.stringify({ [echo]: 1, x: 2 })],
    ...around(120).map((text, index): [string, string] => [`text over the cut, ${index}`, text]),
    ...around(120).map((text, index): [string, string] => [
      `members over the cut, ${index}`,
      JSON.stringify({ [text]: 1 }),
    ]),
    ['text at the end of what is looked at', `${' '.repeat(16_378)}${KEY}`],
  ])('in a listing that can’t be read: %s', async (_, body) => {
    const server = await scripted((socket) => void socket.write(answer(200, body)));
    const place = await workplace();
    const args = ['list', ACCESSION, '-v', '--error-format', 'json'];
    const { exitCode, stdout, stderr } = await place.filings(args, env(server.url, KEY, { FILINGS_JWT: TOKEN }));
    expect(exitCode).toBe(9);
    expectClear(SECRETS, stdout, stderr);
  });

  test.each([
    ['ETag', { ETag: `"${KEY.replace('"', '%22')}"` }],
    ['ETag, in base64', { ETag: `"x${base64(`xx${KEY}`)}"` }],
    [
      'Last-Modified',
      { 'Last-Modified': `Mon, 01 Jan 2024 00:00:00 GMT (${KEY})`, Date: 'Mon, 01 Jan 2024 00:01:00 GMT' },
    ],
  ])('in a validator: neither report, record nor a further request has it (%s)', async (_, validator) => {
    const server = await scripted((socket, { index }) => {
      const fields = { 'Content-Length': 3_000_000, ...validator };
      if (index < 2) socket.end(head(200, fields) + 'x'.repeat(2_000_000));
      else socket.end(head(200, fields) + 'x'.repeat(3_000_000));
    });
    const place = await workplace();
    const args = ['download', ACCESSION, 'a.htm', '-v', '--retries', '0', '--report', 'report.jsonl'];
    for (const status of [9, 9, 0]) {
      const { exitCode, stderr } = await place.filings(args, env(server.url, KEY));
      expect(exitCode, stderr).toBe(status);
      expectClear([KEY], stderr, ...(await leftBy(place)));
    }
    expect(server.requests.map(({ headers }) => headers['if-range'])).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    ['a path', `/v1/${percent(KEY)}`],
    ['a query', `/x?a=${base64(`xx${KEY}`)}`],
  ])('in a Location: %s', async (_, location) => {
    const server = await scripted((socket) => void socket.write(answer(302, '', { Location: location })));
    const place = await workplace();
    const args = ['download', ACCESSION, 'a.htm', '-v', '--report', 'report.jsonl'];
    const { exitCode, stderr } = await place.filings(args, env(server.url, KEY));
    expect([exitCode, server.requests.length]).toEqual([9, 1]);
    expectClear([KEY], stderr, ...(await leftBy(place)));
  });
});

describe('a key of three characters', () => {
  test.each(WAYS)('by %s is masked wherever it was put, and nowhere else', async (way) => {
    const body = JSON.stringify({ title: 'no', instance: `/v1/download?apikey=${encodeURIComponent(SHORT)}&x` });
    const server = await scripted((socket, { headers }) => {
      const fields = { Authorization: headers.authorization ?? '', 'X-Service-Key': SHORT, 'X-Echo': SHORT };
      socket.write(answer(400, body, { ...fields, 'Set-Cookie': `key=${SHORT}` }));
    });
    const place = await workplace();
    const given = env(server.url, SHORT, { FILINGS_KEY_IN: way });
    const { stderr } = await place.filings(['download', ACCESSION, 'a.htm', '-v', '--retries', '0'], given);
    const shown = way === 'header' ? stderr : stderr.replace(/<\s+x-(echo|service-key): .*/g, '');
    for (const form of [SHORT, encodeURIComponent(SHORT), base64(`service:${SHORT}`)])
      expect(shown).not.toContain(form);
    expect(stderr).toMatch(/>.*\[redacted\]/);
    expect(stderr).toContain('a.htm');
  });

  test('is in no line of serve’s log', async () => {
    const service = await serve([], { FILINGS_API_KEY: SHORT });
    const place = await workplace();
    for (const way of WAYS) await place.filings(['list', ACCESSION], env(service.url, SHORT, { FILINGS_KEY_IN: way }));
    await fetch(`${service.url}/v1/APIKEY-${SHORT}/download?apikey=${encodeURIComponent(SHORT)}`);
    expect(service.log()).toContain('key=query');
    expect(service.log()).not.toMatch(/q7(\+|%2B)/i);
  });
});

describe('data is exact, whatever the key', () => {
  const NAMES = ['ex99-1.htm', 'R&D.htm', 'wrong', 'auditors-report.htm'];

  test.each(['ex99', 'wrong', 'not used', 'certificate', 'ex99-1.htm', ACCESSION])('%s', async (key) => {
    const server = await scripted((socket, { path }) => {
      socket.write(path.startsWith('/v1/filings') ? answer(200, JSON.stringify(NAMES)) : answer(200, `of ${key}`));
    });
    const place = await workplace();
    const given = env(server.url, key);
    const linesOf = async (...args: string[]) =>
      (await place.filings(args, given)).stdout.toString().trimEnd().split('\n');
    expect(await linesOf('list', ACCESSION)).toEqual(NAMES);
    const listed = (await linesOf('list', ACCESSION, '--json')).map((line) => JSON.parse(line).file_name);
    expect(listed).toEqual(NAMES);
    const report = await linesOf('download', ACCESSION, ...NAMES, '--report', '-', '-j', '1');
    const expected = NAMES.map((name) => ({ accession_no: ACCESSION, file_name: name, path: name }));
    expect(report.slice(0, -1).map((line) => JSON.parse(line))).toMatchObject(expected);
    expect((await place.names()).sort()).toEqual([...NAMES].sort());
    expect((await place.read('wrong')).toString()).toBe(`of ${key}`);
    const check = (await place.filings(['config', 'check'], given)).stdout.toString();
    expect(check).toMatch(/^address\tok\t.*\ncertificate\tnot used\nkey\tok\ntoken\tnot used\nclock\t/);
    if (key.length < 8) {
      const missing = await scripted((socket) => void socket.write(answer(404, '')));
      const { stderr } = await place.filings(['download', ACCESSION, 'ex99-1x.htm'], env(missing.url, key));
      expect(stderr).toContain('ex99-1x.htm of 0001234567-24-000001: 404');
    }
  });
});

test('user and password of a proxy are told nowhere, as written, decoded or in Basic', async () => {
  const pair = `us3r:${PROXY_PASSWORD}`;
  const proxy = await startProxy(1, ({ headers }) => {
    const body = [headers['proxy-authorization'], echoOf(pair), echoOf(PROXY_PASSWORD)].join(' ');
    return answer(407, body, { 'X-Echo': encodeURIComponent(body), 'Proxy-Authorization': 'Basic abc' });
  });
  onTestFinished(() => proxy.close());
  const place = await workplace();
  const url = proxy.url.replace('//', `//${encodeURIComponent('us3r')}:${encodeURIComponent(PROXY_PASSWORD)}@`);
  for (const base of ['https://service.example', 'http://service.example']) {
    const given = env(base, KEY, { HTTPS_PROXY: url, HTTP_PROXY: url, FILINGS_ALLOW_HTTP: '1' });
    const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a', '-v', '--retries', '0'], given);
    expect(exitCode).toBeGreaterThan(3);
    expectClear([KEY, pair, PROXY_PASSWORD], stderr);
  }
});

test('a value that is shown because it is wrong is not shown up to the middle of the key', async () => {
  const key = 'kP3x9qZ-4711-0815-abcdefghijklmnopqrstuvwxyz-0123456789-ABCDEF';
  const place = await workplace();
  for (const args of [
    ['--key-in', key],
    ['--color', key],
    ['--jobs', key],
    ['--deadline', `x${key}`],
  ]) {
    const { exitCode, stderr } = await place.filings(['list', ACCESSION, ...args], env('http://127.0.0.1:1', key));
    expect(exitCode, stderr).toBe(2);
    expect(stderr).not.toContain('kP3x');
  }
  const { stderr } = await place.filings(['list', key], env('http://127.0.0.1:1', key));
  expect(stderr).not.toContain('kP3x');
});
