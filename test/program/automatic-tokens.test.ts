// A config file with `jwt` mints the tokens of list and download. When the next one is due is in service/jwt-minter.
import { test as base, expect } from 'vitest';
import type { Sleep } from '../../src/abort.ts';
import { heldClock } from '../held-clock.ts';
import { ecPair } from '../key-pairs.ts';
import { head, whole } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { part, pem } from '../service/jwt-forge.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, type RunOptions, serve, workplace } from './run.ts';

const FILE = content(500);
const KEY = { FILINGS_API_KEY: 'a-key' };

const test = base.extend('minting', async () => {
  const { config, filings, write } = await workplace();
  const { privateKey, publicKey } = ecPair('P-256');
  await write('../.config/filings/key.pem', pem(privateKey));
  const publicPem = await write('public.pem', pem(publicKey));
  return {
    publicPem,
    /** Runs a command with a config file that mints tokens for a service. The path is relative to the file. */
    async asking(baseUrl: string, args: string[], runOptions?: Omit<RunOptions, 'env'>) {
      await config({ baseUrl, jwt: { keyFile: 'key.pem', sub: 'alice', lifetime: '1m' } });
      return filings(args, KEY, runOptions);
    },
  };
});

const claimsOf = (authorization = '') =>
  JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

test('a config file with jwt lets list and download authenticate', async ({ minting }) => {
  const { url } = await serve(['--api-key', 'a-key', '--jwt-key', minting.publicPem]);
  for (const command of [['list'], ['download', '--all']]) {
    const { exitCode, stderr } = await minting.asking(url, [...command, ACCESSION]);
    expect(exitCode, stderr).toBe(0);
  }
});

test('a secret that ends in a line break causes a warning', async () => {
  const { config, filings, write } = await workplace();
  await write('../.config/filings/secret', `${'0'.repeat(32)}\n`);
  const { url } = await scripted(whole(Buffer.from('["a.htm"]')));
  await config({ baseUrl: url, jwt: { secretFile: 'secret' } });
  const { stderr } = await filings(['list', ACCESSION, '--error-format', 'json'], KEY);
  expect(JSON.parse(stderr)).toEqual({ warning: { message: expect.stringContaining('ends in a line break') } });
});

test('a token is minted after the wait for the request rate, not before it', async ({ minting }) => {
  const start = Date.now();
  const { monotonic, pass, ...clock } = heldClock();
  const seen: unknown[] = [];
  const server = await scripted((socket, request) => {
    const { sub, exp } = claimsOf(request.headers.authorization);
    seen.push([sub, Number(exp) - (start + monotonic()) / 1000 > 30]);
    whole(FILE)(socket, request);
    return pass(60_000);
  });
  const args = ['download', ACCESSION, 'a.htm', 'b.htm', 'c.htm', '--rate', '1/m', '--idle-timeout', '1d'];
  const sleep: Sleep = async (ms, signal) => (ms > 0 ? clock.sleep(ms, signal) : undefined);
  const runOptions = { ahead: monotonic, monotonic, sleep };
  const { exitCode, stderr } = await minting.asking(server.url, [...args, '--connect-timeout', '1d'], runOptions);
  expect([exitCode, seen], stderr).toEqual([0, Array(3).fill(['alice', true])]);
});

test('a 401 reports a clock that is ahead of the service only if a token was sent', async ({ minting }) => {
  const date = () => new Date(Date.now() - 10_000).toUTCString();
  const { url } = await scripted((socket) => void socket.write(head(401, { Date: date(), 'Content-Length': 0 })));
  const message = expect.stringMatching(/hint: .*this machine's clock is \d+ s ahead/);
  expect(await minting.asking(url, ['list', ACCESSION])).toMatchObject({ exitCode: 4, stderr: message });
  const without = await (await workplace()).filings(['list', ACCESSION, '--base-url', url], KEY);
  expect(without).toMatchObject({ exitCode: 4, stderr: expect.not.stringContaining('clock') });
});

/** Runs a command with a token that expires `seconds` from now. Each response takes 20 s. */
async function expiring(seconds: number, args: string[]) {
  let ahead = 0;
  const { requests, url } = await scripted((socket, request) => {
    ahead += 20_000;
    return whole(FILE)(socket, request);
  });
  const claims = { nbf: 0, exp: Date.now() / 1000 + seconds };
  const token = `${part({ alg: 'HS256' })}.${part(claims)}.c2lnbmF0dXJl`;
  const env = { ...KEY, FILINGS_BASE_URL: url, FILINGS_JWT: token };
  return { requests, ...(await (await workplace()).filings(args, env, { ahead: () => ahead })) };
}

test.each`
  ends                     | seconds  | args                                             | asked
  ${'a list'}              | ${-7200} | ${['list', ACCESSION]}                           | ${0}
  ${'a list at its exp'}   | ${0}     | ${['list', ACCESSION]}                           | ${0}
  ${'a download'}          | ${-7200} | ${['download', ACCESSION, '--all']}              | ${0}
  ${'a batch in progress'} | ${30}    | ${['download', ACCESSION, ...'abcd', '-j', '1']} | ${2}
`('a token of the user that has expired ends $ends with exit status 4', async ({ seconds, args, asked }) => {
  const { exitCode, requests, stderr } = await expiring(seconds, args);
  expect([exitCode, requests.length], stderr).toEqual([4, asked]);
  expect(stderr).toMatch(/FILINGS_JWT: the JWT expired .*\n {2}hint: .*clock/);
});
