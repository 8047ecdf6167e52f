import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Sleep } from '../../src/abort.ts';
import { heldClock } from '../held-clock.ts';
import { keyPair } from '../key-pairs.ts';
import { head, sendFile } from '../servers/answers.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serve, serviceAt, type Workplace, workplace } from './run.ts';

const FILE = content(500);

/** A workplace whose config file says how to mint tokens for the service at a URL; the keys are beside it. */
async function mintingPlace(): Promise<Workplace & { readonly asks: (baseUrl: string) => Promise<void> }> {
  const place = await workplace();
  const folder = join(place.home, '.config/filings');
  await mkdir(folder, { recursive: true });
  const { privateKey, publicKey } = keyPair('ec', { namedCurve: 'P-256' });
  await writeFile(join(folder, 'key.pem'), privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
  await writeFile(join(place.path, 'public.pem'), publicKey.export({ format: 'pem', type: 'spki' }));
  const asks = async (baseUrl: string) => {
    // The path is relative to the config file.
    const config = { baseUrl, jwt: { keyFile: 'key.pem', sub: 'alice', lifetime: '1m' } };
    await writeFile(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  };
  return { ...place, asks };
}

const KEY = { FILINGS_API_KEY: 'a-key' };

const claimsOf = (authorization = '') =>
  JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe('with jwt in the config file', () => {
  test.each(['header', 'query', 'path'])('the service lets list and download in, the key by %s', async (way) => {
    const place = await mintingPlace();
    const service = await serve(['--api-key', 'a-key', '--jwt-key', join(place.path, 'public.pem')]);
    await place.asks(service.url);
    const listed = await place.filings(['list', ACCESSION, '--key-in', way], KEY);
    expect(listed.exitCode, listed.stderr).toBe(0);
    const got = await place.filings(['download', ACCESSION, 'primary.htm', '--key-in', way], KEY);
    expect(got.exitCode, got.stderr).toBe(0);
  });

  test('each token is valid when it is sent, and there are as many as it takes', async () => {
    const start = Date.now();
    let ahead = 0;
    const server = await scripted((socket, request) => {
      const { sub, nbf, exp } = claimsOf(request.headers.authorization);
      const now = (start + ahead) / 1000;
      expect([sub, Number(nbf) <= now + 5, Number(exp) > now]).toEqual(['alice', true, true]);
      ahead += 20_000;
      sendFile(socket, request, FILE, '"v1"');
    });
    const place = await mintingPlace();
    await place.asks(server.url);
    const names = Array.from({ length: 7 }, (_, index) => `f${index}.htm`);
    const args = ['download', ACCESSION, ...names, '-j', '1'];
    const { exitCode, stderr } = await place.filings(args, KEY, { ahead: () => ahead });
    expect(exitCode, stderr).toBe(0);
    const issued = server.requests.map(({ headers }) => Number(claimsOf(headers.authorization).iat));
    expect(issued).toHaveLength(7);
    expect(new Set(issued).size).toBe(4);
  });

  test('one that waits for its turn is minted behind the wait', async () => {
    const start = Date.now();
    const { monotonic, pass, ...clock } = heldClock();
    const left: number[] = [];
    const server = await scripted((socket, request) => {
      left.push(Number(claimsOf(request.headers.authorization).exp) - (start + monotonic()) / 1000);
      sendFile(socket, request, FILE, '"v1"');
      return pass(60_000);
    });
    const place = await mintingPlace();
    await place.asks(server.url);
    const args = ['download', ACCESSION, 'a.htm', 'b.htm', 'c.htm', '--rate', '1/m', '--idle-timeout', '1d'];
    const sleep: Sleep = async (ms, signal) => (ms > 0 ? clock.sleep(ms, signal) : undefined);
    const given = { ahead: monotonic, monotonic, sleep };
    const { exitCode, stderr } = await place.filings([...args, '--connect-timeout', '1d'], KEY, given);
    expect([exitCode, left.length, Math.min(...left) > 30], stderr).toEqual([0, 3, true]);
  });
});

describe('a 401', () => {
  const unauthorized =
    (offsetMs: number): Script =>
    (socket) =>
      void socket.write(head(401, { Date: new Date(Date.now() + offsetMs).toUTCString(), 'Content-Length': 0 }));
  test('tells how far the clock is off: ten seconds only where a token is sent, a date only where it is one', async () => {
    const place = await mintingPlace();
    const ahead = await scripted(unauthorized(-10_000));
    const odd = await scripted((socket) => void socket.write(head(401, { Date: '-1', 'Content-Length': 0 })));
    await place.asks(ahead.url);
    const told = expect.stringMatching(/this clock is \d+ s ahead of the service's: set it right/);
    expect(await place.filings(['list', ACCESSION], KEY)).toMatchObject({ exitCode: 4, stderr: told });
    const without = await (await workplace()).filings(['list', ACCESSION], serviceAt(ahead.url));
    expect(without).toMatchObject({ exitCode: 4, stderr: expect.not.stringContaining('clock') });
    for (const [{ url }, told] of [
      [ahead, /^clock\twrong\tthis clock is \d+ s ahead/m],
      [odd, /^clock\tunknown\t/m],
    ] as const) {
      await place.asks(url);
      const checked = await place.filings(['config', 'check'], KEY);
      expect(checked.stdout.toString()).toMatch(told);
    }
  });
});

test.each([
  ['--api-key-file', '-', 'token', 'sign', '--key', '-'],
  ['--jwt-file', '-', 'token', 'inspect'],
])('stdin has one user: %s %s %s %s', async (...args) => {
  const place = await workplace();
  const { exitCode, stderr } = await place.filings(args);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('stdin has one user')]);
});
