import { describe, expect, test } from 'vitest';
import { type Fields, head } from '../servers/answers.ts';
import { proxying } from '../servers/proxy.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { base64, expectClear, formsOf } from './clear.ts';
import { ACCESSION, jsonOf, linesOf, serve, workplace } from './run.ts';

// A service may echo anything that it received. No message about it may contain a secret in any form.
const KEY = 'kP3/x+9"q&Z<';
const SHORT = 'q7+';
const TOKEN = `eyJhbGciOiJIUzI1NiJ9.${'eyJjYW5hcnkiOiJ0b2tlbi1jYW5hcnkifQ'.repeat(8)}.c2lnbmF0dXJlLWNhbmFyeS1zaWc`;
const PROXY_PASSWORD = 'pr0xy p@ss/word';
const WAYS = ['authorization', 'header', 'query', 'path', 'basic'] as const;
const DOWNLOAD = ['download', ACCESSION, 'a.htm', '-v', '--retries', '0', '--report', 'report.jsonl'];

/** Every form of a secret. No cut of the text may reveal one. */
const echoOf = (secret: string) => formsOf(secret).join(' | ');

const answer = (status: number, body: string, fields: Fields = {}) =>
  head(status, { 'Content-Length': Buffer.byteLength(body), Connection: 'close', ...fields }) + body;

/** A workplace whose commands ask a service, or an address, with a key. */
async function setUp(service: Script | string, key = KEY, more: Record<string, string> = {}) {
  const server = typeof service === 'string' ? { url: service, requests: [] } : await scripted(service);
  const place = await workplace();
  const env = { FILINGS_BASE_URL: server.url, FILINGS_API_KEY: key, FILINGS_KEY_IN: 'header', ...more };
  return {
    ...place,
    requests: server.requests,
    filings: (...args: string[]) => place.filings(args, env),
    /** Names and contents of all files that runs left behind. */
    left: async () => {
      const names = await place.names();
      return [...names, ...(await Promise.all(names.map((name) => place.read(name))))];
    },
  };
}

describe('a secret that the service echoes is redacted', () => {
  const SECRETS = [KEY, TOKEN];
  const echo = SECRETS.map(echoOf).join(' | ');
  const fields = {
    ETag: `"${encodeURIComponent(KEY)}"`,
    'Set-Cookie': `k=${encodeURIComponent(KEY)}`,
    'X-Echo': base64(KEY),
  };
  const problem = { title: echo, instance: `/v1?apikey=${KEY}`, [echo]: echo, errors: { [echo]: [echo] } };

  test.each<[string, number, string]>([
    ['problem details', 400, JSON.stringify(problem)],
    ['HTML', 500, `<html><title>${echo}</title><body>${echo}</body></html>`],
    ['text', 403, echo],
    ['an endless body, cut at 1 MiB', 500, `${'x'.repeat((1 << 20) - 5)}${KEY}${'y'.repeat(100)}`],
  ])('in %s', async (_, status, body) => {
    const script: Script = (socket) => void socket.write(answer(status, body, fields));
    const { filings, left } = await setUp(script, KEY, { FILINGS_JWT: TOKEN });
    const runs = await Promise.all([
      filings(...DOWNLOAD, '--retries', '0'),
      filings('list', ACCESSION, '-v', '--retries', '0', '--error-format', 'json'),
      filings('config', 'check', ACCESSION, '-v', '--retries', '0'),
    ]);
    const own = { 400: 6, 403: 4, 500: 7 }[status];
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([own, own, own]);
    for (const { stdout, stderr } of runs) {
      expect(stderr).toContain('[redacted]');
      expectClear(SECRETS, stdout, stderr);
    }
    expectClear(SECRETS, ...(await left()));
  });

  test.each<[string, string]>([
    ['HTML', `<title>${echo}</title>`],
    ['text', echo],
    ['a scalar', JSON.stringify(echo)],
    ['members', JSON.stringify({ [echo]: 1, x: 2 })],
    ['text over the cut', 'x '.repeat(56) + echo],
  ])('in a listing that cannot be read: %s', async (_, body) => {
    const { filings } = await setUp((socket) => void socket.write(answer(200, body)), KEY, {
      FILINGS_JWT: TOKEN,
    });
    const { exitCode, stdout, stderr } = await filings('list', ACCESSION, '-v', '--error-format', 'json');
    expect(exitCode).toBe(9);
    expectClear(SECRETS, stdout, stderr);
  });

  const DATES = { 'Last-Modified': `Mon, 01 Jan 2024 00:00:00 GMT (${KEY})`, Date: 'Mon, 01 Jan 2024 00:01:00 GMT' };
  test.each<[string, Fields]>([
    ['ETag', { ETag: `"${KEY.replace('"', '%22')}"` }],
    ['ETag, in base64', { ETag: `"x${base64(`xx${KEY}`)}"` }],
    ['Last-Modified', DATES],
  ])('in a validator, which is neither recorded nor sent: %s', async (_, validator) => {
    const { filings, left, requests } = await setUp((socket, { index }) => {
      const start = head(200, { 'Content-Length': 3_000_000, ...validator });
      socket.end(start + 'x'.repeat(index < 2 ? 2_000_000 : 3_000_000));
    });
    for (const status of [9, 9, 0]) {
      const { exitCode, stderr } = await filings(...DOWNLOAD);
      expect(exitCode, stderr).toBe(status);
      expectClear([KEY], stderr, ...(await left()));
    }
    expect(requests.map(({ headers }) => headers['if-range'])).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    { where: 'path', location: `/v1/${encodeURIComponent(KEY)}`, isKept: false },
    { where: 'query', location: `/x?a=${base64(`xx${KEY}`)}`, isKept: true },
    { where: 'address to return to', location: `/login?next=${base64(`/v1?apikey=${KEY}`)}`, isKept: true },
  ])('in the $where of a Location of the same host, even in a part that is kept', async ({ location, isKept }) => {
    const { filings, left, requests } = await setUp((socket, { index }) => {
      const fields = { Location: location, ETag: '"v1"' };
      if (index % 2 === 0) socket.end(answer(302, '', fields));
      else socket.end(head(200, { 'Content-Length': 3_000_000, ETag: '"v1"' }) + 'x'.repeat(2_000_000));
    });
    const { exitCode, stderr, stdout } = await filings(...DOWNLOAD);
    expect([exitCode, requests.map(({ path }) => path)[1]]).toEqual([9, location]);
    const remains = await left();
    // With the key in the address that a kept part has to have, nothing is kept.
    const isResumable = remains.some((name) => /resume$/.test(`${name}`));
    expect(isResumable, remains.join()).toBe(isKept);
    expectClear([KEY], stderr, stdout, ...remains);
  });
});

describe('a key of three characters', () => {
  test.each(WAYS)('by %s is redacted in its own positions only', async (way) => {
    const body = JSON.stringify({ title: 'no', instance: `/v1/download?apikey=${encodeURIComponent(SHORT)}&x` });
    const script: Script = (socket, { headers }) => {
      const fields = { Authorization: headers.authorization ?? '', 'X-Service-Key': SHORT, 'X-Echo': SHORT };
      socket.write(
        answer(400, body, { ...fields, 'Proxy-Authorization': `Basic ${SHORT}`, 'Set-Cookie': `key=${SHORT}` }),
      );
    };
    const { filings } = await setUp(script, SHORT, { FILINGS_KEY_IN: way });
    const { stderr } = await filings(...DOWNLOAD);
    const output = stderr.replace(/<\s+x-echo: .*/g, '');
    for (const form of [SHORT, encodeURIComponent(SHORT), base64(`service:${SHORT}`)])
      expect(output).not.toContain(form);
    expect(stderr).toMatch(/>.*\[redacted\]/);
    expect(stderr).toContain('a.htm');
  });

  test('is in no line of the log of serve', async () => {
    const service = await serve([], { FILINGS_API_KEY: SHORT });
    for (const way of WAYS) {
      const { filings } = await setUp(service.url, SHORT, { FILINGS_KEY_IN: way });
      await filings('list', ACCESSION);
    }
    await fetch(`${service.url}/v1/APIKEY-${SHORT}/download?apikey=${encodeURIComponent(SHORT)}`);
    expect(service.log().match(/ 200 \d+ms\n/g)).toHaveLength(WAYS.length);
    expect(service.log()).not.toMatch(/q7(\+|%2B)/i);
  });
});

describe('names and contents are exact if the key is', () => {
  const NAMES = ['ex99-1.htm', 'R&D.htm', 'wrong', 'auditors-report.htm'];

  test.each(['ex99', 'certificate', 'ex99-1.htm', ACCESSION])('%s', async (key) => {
    const records = NAMES.map((name) => ({ file_name: name, description: `of ${key}`, [key]: 1 }));
    const { filings, names, read } = await setUp((socket, { path }) => {
      if (path.includes('1x.htm')) socket.write(answer(404, ''));
      else socket.write(answer(200, path.startsWith('/v1/filings') ? JSON.stringify(records) : `of ${key}`));
    }, key);
    const stdout = async (...args: string[]) => `${(await filings(...args)).stdout}`;
    expect(linesOf(await stdout('list', ACCESSION))).toEqual(NAMES);
    expect(await stdout('list', ACCESSION, '-0')).toBe(NAMES.map((name) => `${name}\0`).join(''));
    expect((await stdout('list', ACCESSION, '-l')).split(`of ${key}\n`)).toHaveLength(5);
    const listed = NAMES.map((name) => ({
      accession_no: ACCESSION,
      file_name: name,
      description: `of ${key}`,
      [key]: 1,
    }));
    expect(jsonOf(await stdout('list', ACCESSION, '--json'))).toMatchObject(listed);
    const report = jsonOf(await stdout('download', ACCESSION, ...NAMES, '--report', '-', '-j', '1'));
    const expected = NAMES.map((name) => ({ accession_no: ACCESSION, file_name: name, path: name }));
    expect(report.slice(0, -1)).toMatchObject(expected);
    expect((await names()).sort()).toEqual([...NAMES].sort());
    expect(`${await read('wrong')}`).toBe(`of ${key}`);
    const check = await stdout('config', 'check', ACCESSION);
    expect(check).toMatch(/^address\t.*\nkey\t.*\ntoken\tnone\nsource\t.*\nclock\t.*\n/);
    if (key.length >= 8) return;
    const { stderr } = await filings('download', ACCESSION, 'ex99-1x.htm');
    expect(stderr).toContain('ex99-1x.htm of 0001234567-24-000001: 404');
  });
});

describe("the program's own words and the user's paths are never redacted", () => {
  const file: Script = (socket, { path }) => {
    if (path.startsWith('/v1/filings')) socket.write(answer(200, '["a.htm","b.htm"]'));
    else
      socket.write(path.includes('b.htm') ? answer(404, '{"title":"no exhibits were downloaded"}') : answer(200, 'x'));
  };

  test.each(['exhibits', '0001234567-24-000001', 'filings list'])('with the key %j', async (key) => {
    const [one, other] = [await setUp(file, key), await setUp(file, 'quite-another-key')];
    const run = async ({ filings, read }: typeof one) => {
      const args = ['download', ACCESSION, '--all', '-d', 'exhibits', '--report', 'report', '-j', '1', '-v'];
      const { stderr } = await filings(...args);
      const own = stderr.replace(/: 404 .*|^< .*\n|:\d+|\d+\.\d s$/gm, '');
      return { own, paths: jsonOf(await read('report')).map(({ path }) => path) };
    };
    expect(await run(one)).toEqual(await run(other));
  });

  test('with the password `password` of a proxy', async () => {
    const proxy = await proxying(1, () => answer(407, ''));
    const url = proxy.url.replace('//', '//somebody:password@');
    const { filings } = await setUp('https://service.example', KEY, { HTTPS_PROXY: url });
    const { stderr } = await filings(...DOWNLOAD);
    expect(stderr).toMatch(/hint: .* user and password in HTTPS_PROXY/);
  });
});

test('a key with an apostrophe is redacted to its end where a URL has one', async () => {
  const key = "a'b!(c)*~";
  const script: Script = (socket, { path }) =>
    void socket.write(answer(400, JSON.stringify({ title: `bad: ${path}` })));
  for (const way of ['query', 'path']) {
    for (const short of [key, key.slice(0, 5)]) {
      const { filings } = await setUp(script, short, { FILINGS_KEY_IN: way });
      const { stderr } = await filings(...DOWNLOAD);
      expect(stderr).toContain('[redacted]');
      expect(stderr).not.toMatch(/a'b|'b!|\(c\)/);
    }
  }
});

test('no message contains the user and password of a proxy, as written, decoded or in Basic', async () => {
  const pair = `us3r:${PROXY_PASSWORD}`;
  const proxy = await proxying(1, ({ headers }) => {
    const body = [headers['proxy-authorization'], echoOf(pair), echoOf(PROXY_PASSWORD)].join(' ');
    return answer(407, body, { 'X-Echo': encodeURIComponent(body), 'Proxy-Authorization': 'Basic abc' });
  });
  const url = proxy.url.replace('//', `//us3r:${encodeURIComponent(PROXY_PASSWORD)}@`);
  for (const base of ['https://service.example', 'http://service.example']) {
    const { filings } = await setUp(base, KEY, { HTTPS_PROXY: url, HTTP_PROXY: url, FILINGS_ALLOW_HTTP: '1' });
    const { exitCode, stderr } = await filings(...DOWNLOAD);
    expect(exitCode).toBeGreaterThan(3);
    expectClear([KEY, pair, PROXY_PASSWORD], stderr);
  }
});

test('an invalid value that is quoted does not show the start of the key', async () => {
  const key = 'kP3x9qZ-4711-0815-abcdefghijklmnopqrstuvwxyz-0123456789-ABCDEF';
  const { filings } = await setUp('http://127.0.0.1:1', key);
  const wrong = [
    ['--key-in', key],
    ['--color', key],
    ['--jobs', key],
    ['--deadline', `x${key}`],
  ];
  for (const args of [[key], ...wrong.map((flag) => [ACCESSION, ...flag])]) {
    const { exitCode, stderr } = await filings('list', ...args);
    expect(exitCode, stderr).toBe(2);
    expect(stderr).not.toContain('kP3x');
  }
});
