// Whoever puts text from elsewhere into a message must mark it, and only marked text is redacted. The forms in which a
// secret is found are tested in test/unit/secrets.test.ts. Here: that no way of the program misses a mark, or marks its
// own words.
import { describe, expect, test } from 'vitest';
import { type Sleep, sleep } from '../../src/abort.ts';
import { type Fields, head } from '../servers/answers.ts';
import { proxying } from '../servers/proxy.ts';
import type { Script } from '../servers/scripted.ts';
import { base64, expectClear, formsOf } from './clear.ts';
import { ACCESSION, asking, jsonOf, linesOf } from './run.ts';

const KEY = 'kP3/x+9"q&Z<';
const SHORT = 'q7+';
const TOKEN = `eyJhbGciOiJIUzI1NiJ9.${'eyJjYW5hcnkiOiJ0b2tlbi1jYW5hcnkifQ'.repeat(8)}.c2lnbmF0dXJlLWNhbmFyeS1zaWc`;
const DOWNLOAD = ['download', ACCESSION, 'a.htm', '-v', '--retries', '0', '--report', 'report.jsonl'];

/** Every form of a secret. No cut of the text may reveal one. */
const echoOf = (secret: string) => formsOf(secret).join(' | ');

const answer = (status: number, body: string, fields: Fields = {}) =>
  head(status, { 'Content-Length': Buffer.byteLength(body), Connection: 'close', ...fields }) + body;

/** The waits before retries take no time. The limit of a last flush, of two seconds, stays. */
const withoutBackOff: Sleep = (ms, signal) => sleep(ms < 2000 ? 0 : ms, signal);

/** A workplace whose commands ask a service with a key. */
async function setUp(service: Script, key = KEY, env: Record<string, string> = {}) {
  const place = await asking(service);
  const usual = { FILINGS_API_KEY: key, FILINGS_KEY_IN: 'header', ...env };
  return {
    ...place,
    filings: (...args: string[]) => place.filings(args, usual, { sleep: withoutBackOff }),
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
  const problem = { title: echo, instance: `/v1?apikey=${KEY}`, [echo]: echo, errors: { [echo]: [echo] } };
  const endless = `${'x'.repeat((1 << 20) - 5)}${KEY}${'y'.repeat(100)}`;

  test.each`
    what                             | status | body                       | exit
    ${'problem details'}             | ${400} | ${JSON.stringify(problem)} | ${6}
    ${'text'}                        | ${403} | ${echo}                    | ${4}
    ${'a body that is cut at 1 MiB'} | ${500} | ${endless}                 | ${7}
  `('in an error: $what', async ({ status, body, exit }) => {
    const echoed = { ETag: `"${encodeURIComponent(KEY)}"`, 'Set-Cookie': `k=${encodeURIComponent(KEY)}` };
    const script: Script = (socket) => void socket.write(answer(status, body, { ...echoed, 'X-Echo': base64(KEY) }));
    const { filings, left } = await setUp(script, KEY, { FILINGS_JWT: TOKEN, FILINGS_RETRIES: '0' });
    const list = ['list', ACCESSION, '-v', '--error-format', 'json'];
    for (const command of [DOWNLOAD, list, ['config', 'check', ACCESSION, '-v']]) {
      const { exitCode, stdout, stderr } = await filings(...command);
      expect([exitCode, stderr]).toEqual([exit, expect.stringContaining('[redacted]')]);
      expectClear(SECRETS, stdout, stderr);
    }
    expectClear(SECRETS, ...(await left()));
  });

  test.each`
    what                   | body
    ${'text over the cut'} | ${'x '.repeat(56) + echo}
    ${'a scalar'}          | ${JSON.stringify(echo)}
    ${'members'}           | ${JSON.stringify({ [echo]: 1, x: 2 })}
  `('in a listing that cannot be read: $what', async ({ body }) => {
    const { filings } = await setUp((socket) => void socket.write(answer(200, body)), KEY, { FILINGS_JWT: TOKEN });
    const { exitCode, stdout, stderr } = await filings('list', ACCESSION, '-v', '--error-format', 'json');
    expect(exitCode).toBe(9);
    expectClear(SECRETS, stdout, stderr);
  });

  const DATES = { 'Last-Modified': `Mon, 01 Jan 2024 00:00:00 GMT (${KEY})`, Date: 'Mon, 01 Jan 2024 00:01:00 GMT' };
  test.each([
    { validator: { ETag: `"${KEY.replace('"', '%22')}"` } },
    { validator: { ETag: `"x${base64(`xx${KEY}`)}"` } },
    { validator: DATES },
  ])('in a validator, which is neither recorded nor sent: $validator', async ({ validator }) => {
    const { filings, left, requests } = await setUp((socket, { index }) => {
      const start = head(200, { 'Content-Length': 1_500_000, ...validator });
      socket.end(start + 'x'.repeat(index < 2 ? 1_200_000 : 1_500_000));
    });
    // The second run retries once.
    for (const [run, status] of [9, 0].entries()) {
      const { exitCode, stderr } = await filings(...DOWNLOAD, '--retries', `${run}`);
      expect(exitCode, stderr).toBe(status);
      expectClear([KEY], stderr, ...(await left()));
    }
    expect(requests.map(({ headers }) => headers['if-range'])).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    { where: 'path', location: `/v1/${encodeURIComponent(KEY)}`, isKept: false },
    { where: 'query', location: `/x?a=${base64(`xx${KEY}`)}`, isKept: true },
  ])('in the $where of a Location of the same host, even in a part that is kept', async ({ location, isKept }) => {
    const { filings, left, requests } = await setUp((socket, { index }) => {
      if (index % 2 === 0) socket.write(head(302, { Location: location, 'Content-Length': 0 }));
      else socket.end(head(200, { 'Content-Length': 1_500_000, ETag: '"v1"' }) + 'x'.repeat(1_200_000));
    });
    const { exitCode, stderr } = await filings(...DOWNLOAD);
    expect([exitCode, requests[1]?.path], stderr).toEqual([9, location]);
    const remains = await left();
    // With the key in the address that a kept part has to have, nothing is kept.
    expect(remains.some((name) => /resume$/.test(`${name}`))).toBe(isKept);
    expectClear([KEY], stderr, ...remains);
  });
});

test.each(['authorization', 'header', 'query', 'path', 'basic'])(
  'a key of three characters that is sent by %s is redacted in its own positions only',
  async (way) => {
    const body = JSON.stringify({ title: 'no', instance: `/v1/download?apikey=${encodeURIComponent(SHORT)}&x` });
    const { filings } = await setUp(
      (socket, { headers: { authorization = '' } }) => {
        const echoed = { Authorization: authorization, 'Proxy-Authorization': `Basic ${SHORT}`, 'X-Echo': SHORT };
        socket.write(answer(400, body, { ...echoed, 'X-Service-Key': SHORT, 'Set-Cookie': `key=${SHORT}` }));
      },
      SHORT,
      { FILINGS_KEY_IN: way },
    );
    const { stderr } = await filings(...DOWNLOAD);
    const output = stderr.replace(/<\s+x-echo: .*/g, '');
    for (const form of [SHORT, encodeURIComponent(SHORT), base64(`service:${SHORT}`)])
      expect(output).not.toContain(form);
    expect(stderr).toMatch(/>.*\[redacted\]/);
    expect(stderr).toContain('a.htm');
  },
);

describe('a key that the service puts into the next page', () => {
  const encoded = encodeURIComponent(KEY);
  const short = encodeURIComponent(SHORT);
  const OTHER = 'xyzzy-1234';
  const ADDRESS = `/v1/${encoded}/x?y=${base64(KEY)}&${encoded}`;
  test.each`
    what                              | key      | next                                                 | cursor
    ${'an address'}                   | ${KEY}   | ${ADDRESS}                                           | ${''}
    ${'an address, by its place'}     | ${SHORT} | ${`/x?X-Service-Key=${short}&apikey=${short}`}       | ${''}
    ${'an address, as path and user'} | ${SHORT} | ${`http://${short}:${short}@HOST/APIKEY-${short}/x`} | ${''}
    ${'an address of another host'}   | ${KEY}   | ${`http://${encoded}@other.example${ADDRESS}`}       | ${''}
    ${'what is no address'}           | ${KEY}   | ${`http://${encoded}@[`}                             | ${''}
    ${'a cursor'}                     | ${KEY}   | ${`x${KEY}`}                                         | ${'c'}
    ${'a cursor in base64'}           | ${KEY}   | ${base64(KEY)}                                       | ${'c'}
    ${'a cursor, by its place'}       | ${SHORT} | ${`/v1/x?apikey=${OTHER}&b=/APIKEY-${OTHER}`}        | ${'c'}
  `('is not shown by -v: $what', async ({ key, next, cursor }) => {
    const { filings, requests } = await setUp((socket, { path, headers }) => {
      const n = requests.length > 1 ? null : next.replace('HOST', `${headers.host}`);
      socket.write(answer(200, JSON.stringify({ f: [`${path.length}.htm`], n })));
    }, key);
    for (const [name, value] of Object.entries({ files: 'f', next: 'n', ...(cursor && { cursor }) }))
      await filings('config', 'set', `listing.${name}`, `${value}`);
    const { exitCode, stderr } = await filings('list', ACCESSION, '-v');
    expect(exitCode).toBe(requests.length > 1 ? 0 : 9);
    expectClear([key, encodeURIComponent(key), OTHER], stderr);
    // The page itself was requested as the service said, but without the places of a key.
    if (cursor) expect(requests[1]?.path).toContain(`&c=${encodeURIComponent(next)}`);
    else expect(requests[1]?.path ?? '').not.toMatch(/apikey/i);
  });
});

test.each(['ex99', 'certificate', ACCESSION])('names and contents are exact if the key is %s', async (key) => {
  const names = ['ex99-1.htm', 'R&D.htm', 'auditors-report.htm'];
  const records = names.map((name) => ({ file_name: name, description: `of ${key}`, [key]: 1 }));
  const place = await setUp((socket, { path }) => {
    if (path.includes('1x.htm')) socket.write(answer(404, ''));
    else socket.write(answer(200, path.startsWith('/v1/filings') ? JSON.stringify(records) : `of ${key}`));
  }, key);
  const stdout = async (...args: string[]) => `${(await place.filings(...args)).stdout}`;
  expect(linesOf(await stdout('list', ACCESSION))).toEqual(names);
  expect((await stdout('list', ACCESSION, '-l')).split(`of ${key}\n`)).toHaveLength(4);
  expect(jsonOf(await stdout('list', ACCESSION, '--json'))).toMatchObject(records);
  const report = jsonOf(await stdout('download', ACCESSION, ...names, '--report', '-', '-j', '1'));
  const downloaded = names.map((name) => ({ accession_no: ACCESSION, file_name: name, path: name }));
  expect(report.slice(0, -1)).toMatchObject(downloaded);
  expect((await place.names()).sort()).toEqual([...names].sort());
  expect(`${await place.read('R&D.htm')}`).toBe(`of ${key}`);
  const { stderr } = await place.filings('download', ACCESSION, 'ex99-1x.htm');
  if (key.length < 8) expect(stderr).toContain('ex99-1x.htm of 0001234567-24-000001: 404');
});

test.each(['exhibits', ACCESSION, 'filings list'])(
  "the program's own words and the user's paths are not redacted with the key %j",
  async (key) => {
    const outputWith = async (key: string) => {
      const { filings, read } = await setUp((socket, { path }) => {
        if (path.startsWith('/v1/filings')) socket.write(answer(200, '["a.htm","b.htm"]'));
        else socket.write(path.includes('b.htm') ? answer(404, '{"title":"no exhibits"}') : answer(200, 'x'));
      }, key);
      const args = ['download', ACCESSION, '--all', '-d', 'exhibits', '--report', 'report', '-j', '1', '-v'];
      const { stderr } = await filings(...args);
      const own = stderr.replace(/: 404 .*|^< .*\n|:\d+|\d+\.\d s$/gm, '');
      return { own, paths: jsonOf(await read('report')).map(({ path }) => path) };
    };
    expect(await outputWith(key)).toEqual(await outputWith('quite-another-key'));
  },
);

const NOT_ACCEPTED = 'hint: check the user and password in ';
test.each`
  variable         | status | exit | shown
  ${'HTTPS_PROXY'} | ${407} | ${4} | ${NOT_ACCEPTED}
  ${'https_proxy'} | ${407} | ${4} | ${NOT_ACCEPTED}
  ${'HTTP_PROXY'}  | ${407} | ${4} | ${NOT_ACCEPTED}
  ${'http_proxy'}  | ${400} | ${6} | ${'400 Bad Request: Basic [redacted]'}
`('no message about $status of the proxy in $variable has its user and password', async (row) => {
  const { variable, status, exit, shown } = row;
  const password = 'pr0xy p@ss/word';
  const pair = `us3r:${password}`;
  const proxy = await proxying(1, ({ headers }) => {
    const body = [headers['proxy-authorization'], echoOf(pair), echoOf(password)].join(' ');
    return answer(status, body, { 'X-Echo': encodeURIComponent(body), 'Proxy-Authorization': 'Basic abc' });
  });
  const url = proxy.url.replace('//', `//us3r:${encodeURIComponent(password)}@`);
  const proxied = { FILINGS_BASE_URL: `${/^https?/i.exec(variable)}://service.example`, [variable]: url };
  const { filings } = await setUp(() => {}, KEY, { ...proxied, FILINGS_ALLOW_HTTP: '1' });
  const { exitCode, stderr } = await filings(...DOWNLOAD);
  expect([exitCode, stderr]).toEqual([exit, expect.stringContaining(shown)]);
  expectClear([KEY, pair, password], stderr);
});

test.each([
  { what: 'that config set is about to write', args: ['config', 'set', 'api-key', KEY], apiKey: undefined },
  { what: 'of a profile that is not used', args: ['list', ACCESSION], apiKey: KEY },
])('a message that quotes the config file does not show a key $what', async ({ args, apiKey }) => {
  const { filings, config, requests } = await setUp(() => {}, 'another-key');
  await config({ keyHeader: `X ${KEY}`, profiles: { other: { apiKey } } });
  const { exitCode, stderr } = await filings(...args);
  expect([exitCode, requests], stderr).toEqual([2, []]);
  expectClear([KEY], stderr);
});

const LONG = 'kP3x9qZ-4711-0815-abcdefghijklmnopqrstuvwxyz-0123456789-ABCDEF';
test.each`
  source               | key          | given
  ${'the environment'} | ${LONG}      | ${[]}
  ${'a flag'}          | ${undefined} | ${['--api-key', LONG]}
`('an invalid value that is quoted does not show the start of the key of $source', async ({ key, given }) => {
  const { filings } = await setUp(() => {}, key);
  for (const args of [
    [LONG],
    ...['--key-in', '--color', '--jobs', '--deadline'].map((flag) => [ACCESSION, flag, LONG]),
  ]) {
    const { exitCode, stderr } = await filings('list', ...args, ...given);
    expect(exitCode, stderr).toBe(2);
    expect(stderr).not.toContain('kP3x');
  }
});
