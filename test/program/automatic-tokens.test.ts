import { describe, expect, test } from 'vitest';
import type { Sleep } from '../../src/abort.ts';
import { heldClock } from '../held-clock.ts';
import { ecPair } from '../key-pairs.ts';
import { head, sendFile } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { part, pem } from '../service/jwt-forge.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, type RunOptions, serve, workplace } from './run.ts';

const FILE = content(500);
const KEY = { FILINGS_API_KEY: 'a-key' };

/** A workplace whose config file mints tokens for the service at a URL. The keys are beside the config file. */
async function mintingPlace() {
  const { config, filings, ...place } = await workplace();
  const { privateKey, publicKey } = ecPair('P-256');
  await place.write('../.config/filings/key.pem', pem(privateKey));
  const publicPem = await place.write('public.pem', pem(publicKey));
  return {
    publicPem,
    // The path is relative to the config file.
    asks: (baseUrl: string) => config({ baseUrl, jwt: { keyFile: 'key.pem', sub: 'alice', lifetime: '1m' } }),
    filings: (args: string[], runOptions?: Omit<RunOptions, 'env'>) => filings(args, KEY, runOptions),
  };
}

const claimsOf = (authorization = '') =>
  JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe('a config file with jwt', () => {
  test.each(['header', 'query', 'path'])('lets list and download authenticate, with the key by %s', async (way) => {
    const { asks, filings, publicPem } = await mintingPlace();
    await asks((await serve(['--api-key', 'a-key', '--jwt-key', publicPem])).url);
    for (const command of [['list'], ['download', '--all']]) {
      const { exitCode, stderr } = await filings([...command, ACCESSION, '--key-in', way]);
      expect(exitCode, stderr).toBe(0);
    }
  });

  test('mints a new token when the last one expires, so that each request carries a valid one', async () => {
    const start = Date.now();
    let ahead = 0;
    const server = await scripted((socket, request) => {
      const { sub, nbf, exp } = claimsOf(request.headers.authorization);
      const now = (start + ahead) / 1000;
      expect([sub, Number(nbf) <= now + 5, Number(exp) > now]).toEqual(['alice', true, true]);
      ahead += 20_000;
      sendFile(socket, request, FILE, '"v1"');
    });
    const { asks, filings } = await mintingPlace();
    await asks(server.url);
    const names = Array.from({ length: 7 }, (_, index) => `f${index}.htm`);
    const { exitCode, stderr } = await filings(['download', ACCESSION, ...names, '-j', '1'], { ahead: () => ahead });
    expect(exitCode, stderr).toBe(0);
    const issued = server.requests.map(({ headers }) => Number(claimsOf(headers.authorization).iat));
    expect([issued.length, new Set(issued).size]).toEqual([7, 4]);
  });

  test('mints a token after the wait for the request rate, not before it', async () => {
    const start = Date.now();
    const { monotonic, pass, ...clock } = heldClock();
    const left: number[] = [];
    const server = await scripted((socket, request) => {
      left.push(Number(claimsOf(request.headers.authorization).exp) - (start + monotonic()) / 1000);
      sendFile(socket, request, FILE, '"v1"');
      return pass(60_000);
    });
    const { asks, filings } = await mintingPlace();
    await asks(server.url);
    const args = ['download', ACCESSION, 'a.htm', 'b.htm', 'c.htm', '--rate', '1/m', '--idle-timeout', '1d'];
    const sleep: Sleep = async (ms, signal) => (ms > 0 ? clock.sleep(ms, signal) : undefined);
    const runOptions = { ahead: monotonic, monotonic, sleep };
    const { exitCode, stderr } = await filings([...args, '--connect-timeout', '1d'], runOptions);
    expect([exitCode, left.length, Math.min(...left) > 30], stderr).toEqual([0, 3, true]);
  });
});

describe('a token whose exp is past', () => {
  const tokenUntil = (exp: number) => `${part({ alg: 'HS256' })}.${part({ nbf: 0, exp })}.c2lnbmF0dXJl`;
  const inSeconds = () => Date.now() / 1000;

  test.each(['list', 'download --all', 'download -i -', 'config check'])(
    'is an error before any request of %s',
    async (command) => {
      const server = await scripted((socket) => void socket.end(head(404, { 'Content-Length': 0 })));
      const { filings } = await workplace();
      const env = { ...KEY, FILINGS_BASE_URL: server.url, FILINGS_JWT: tokenUntil(inSeconds() - 7200) };
      const args = command.endsWith('-') ? command.split(' ') : [...command.split(' '), ACCESSION];
      const { exitCode, stderr } = await filings(args, env, { input: `${ACCESSION}\ta.htm\n${ACCESSION}\tb.htm\n` });
      expect([exitCode, server.requests.length], stderr).toEqual([4, 0]);
      expect(stderr).toMatch(/FILINGS_JWT: the JWT expired 2 h ago.*\n {2}hint: .*clock/);
    },
  );

  test('ends a batch in whose middle it expires', async () => {
    let ahead = 0;
    const server = await scripted((socket, request) => {
      ahead += 20_000;
      sendFile(socket, request, FILE, '"v1"');
    });
    const { filings } = await workplace();
    const env = { ...KEY, FILINGS_BASE_URL: server.url, FILINGS_JWT: tokenUntil(inSeconds() + 30) };
    const args = ['download', ACCESSION, 'a.htm', 'b.htm', 'c.htm', 'd.htm', '-j', '1'];
    const { exitCode, stderr } = await filings(args, env, { ahead: () => ahead });
    expect([exitCode, server.requests.length], stderr).toEqual([4, 2]);
    expect(stderr).toContain('the JWT expired');
  });
});

test('a 401 reports a clock that is ahead of the service only if a token was sent', async () => {
  const date = () => new Date(Date.now() - 10_000).toUTCString();
  const server = await scripted((socket) => void socket.write(head(401, { Date: date(), 'Content-Length': 0 })));
  const { asks, filings } = await mintingPlace();
  await asks(server.url);
  const message = expect.stringMatching(/this clock is \d+ s ahead of the service's: set it right/);
  expect(await filings(['list', ACCESSION])).toMatchObject({ exitCode: 4, stderr: message });
  const without = await (await workplace()).filings(['list', ACCESSION, '--base-url', server.url], KEY);
  expect(without).toMatchObject({ exitCode: 4, stderr: expect.not.stringContaining('clock') });
});

test.each([
  '--api-key-file - token sign --key -',
  `--jwt-file - --api-key-file - list ${ACCESSION} --base-url http://127.0.0.1:1`,
])('%s is rejected because stdin has two readers', async (line) => {
  const { exitCode, stderr } = await (await workplace()).filings(line.split(' '));
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('cannot both read stdin')]);
});
