import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ecPair } from '../key-pairs.ts';
import { head, sendFile } from '../servers/answers.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serve, serviceAt, type Workplace, workplace } from './run.ts';

const FILE = content(500);

/** A workplace whose config file says how to mint tokens; the key is beside it. */
async function mintingPlace(lifetime: string): Promise<Workplace> {
  const place = await workplace();
  const folder = join(place.home, '.config/filings');
  await mkdir(folder, { recursive: true });
  const key = join(folder, 'key.pem');
  const { privateKey, publicKey } = ecPair('P-256');
  await writeFile(key, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
  await writeFile(join(place.path, 'public.pem'), publicKey.export({ format: 'pem', type: 'spki' }));
  // The path is relative to the config file.
  const config = { jwt: { keyFile: 'key.pem', sub: 'alice', lifetime } };
  await writeFile(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  return place;
}

/** What a run needs; the place's config file is for this service from now on. */
async function atService(place: Workplace, baseUrl: string) {
  const path = join(place.home, '.config/filings/config.json');
  const config = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify({ ...config, baseUrl }));
  const { FILINGS_BASE_URL: _, ...key } = serviceAt(baseUrl) as Record<string, string>;
  return key;
}

async function scripted(script: Script) {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return server;
}

const claimsOf = (authorization = '') =>
  JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe('with jwt in the config file', () => {
  test.each(['header', 'query', 'path'])('the service lets list and download in, the key by %s', async (way) => {
    const place = await mintingPlace('1m');
    const service = await serve(['--api-key', 'a-key', '--jwt-key', join(place.path, 'public.pem')]);
    const env = await atService(place, service.url);
    const listed = await place.filings(['list', ACCESSION, '--key-in', way], env);
    expect(listed.exitCode, listed.stderr).toBe(0);
    const got = await place.filings(['download', ACCESSION, 'primary.htm', '--key-in', way], env);
    expect(got.exitCode, got.stderr).toBe(0);
  });

  test.each(['authorization', 'basic'])('the key can’t go by %s: exit 2, before any request', async (way) => {
    const server = await scripted((socket, request) => sendFile(socket, request, FILE, '"v1"'));
    const place = await mintingPlace('1m');
    const { exitCode, stderr } = await place.filings(
      ['list', ACCESSION, '--key-in', way],
      await atService(place, server.url),
    );
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/--key-in header, .*query.*path/);
    expect(server.requests).toHaveLength(0);
  });

  test('a batch renews its token before the old one runs out: each is valid when it is sent', async () => {
    let ahead = 0;
    const sent: { at: number; claims: Record<string, unknown> }[] = [];
    const server = await scripted((socket, request) => {
      sent.push({ at: (Date.now() + ahead) / 1000, claims: claimsOf(request.headers.authorization) });
      ahead += 400;
      sendFile(socket, request, FILE, '"v1"');
    });
    const place = await mintingPlace('4s');
    const names = Array.from({ length: 14 }, (_, index) => `f${index}.htm`);
    const env = await atService(place, server.url);
    const got = await place.filings(['download', ACCESSION, ...names, '-j', '1'], env, { ahead: () => ahead });
    expect(got.exitCode, got.stderr).toBe(0);
    for (const { at, claims } of sent) {
      expect(claims).toMatchObject({ sub: 'alice' });
      expect(claims.nbf).toBeLessThanOrEqual(at);
      expect(claims.exp).toBeGreaterThan(at);
    }
    expect(new Set(sent.map(({ claims }) => claims.iat)).size).toBeGreaterThan(1);
  });
});

describe('a 401', () => {
  const unauthorized =
    (offsetMs: number): Script =>
    (socket) =>
      void socket.write(head(401, { Date: new Date(Date.now() + offsetMs).toUTCString(), 'Content-Length': 0 }));
  test.each([
    ['an hour behind', 3_600_000, /this clock is 60 min behind the service/],
    ['three hours ahead', -3 * 3_600_000, /this clock is 3 h ahead of the service/],
    ['ten seconds ahead', -10_000, /this clock is \d+ s ahead of the service's: set it right/],
    ['right', 0, undefined],
  ])('tells how far the clock is off: %s', async (_, offsetMs, told) => {
    const server = await scripted(unauthorized(offsetMs));
    const place = await mintingPlace('1m');
    const { exitCode, stderr } = await place.filings(['list', ACCESSION], await atService(place, server.url));
    expect(exitCode).toBe(4);
    if (told === undefined) {
      expect(stderr).not.toContain('clock');
      expect(stderr).toContain('filings token inspect shows the JWT');
    } else expect(stderr).toMatch(told);
  });

  test('minds ten seconds only where a token is sent, and a date only where it is one', async () => {
    const place = await mintingPlace('1m');
    const withoutToken = await workplace();
    const ahead = await scripted(unauthorized(-10_000));
    const odd = await scripted((socket) => void socket.write(head(401, { Date: '-1', 'Content-Length': 0 })));
    const without = await withoutToken.filings(['list', ACCESSION], serviceAt(ahead.url));
    expect(without).toMatchObject({ exitCode: 4, stderr: expect.not.stringContaining('clock') });
    const checked = await place.filings(['config', 'check'], await atService(place, ahead.url));
    expect(checked.stdout.toString()).toMatch(/^clock\twrong\tthis clock is \d+ s ahead/m);
    const nonsense = await place.filings(['config', 'check'], await atService(place, odd.url));
    expect(nonsense.stdout.toString()).toMatch(/^clock\tunknown\t/m);
  });

  test('of several files is told once, with how many had it', async () => {
    const server = await scripted(unauthorized(0));
    const place = await workplace();
    const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a', 'b', 'c'], serviceAt(server.url));
    expect(exitCode).toBe(4);
    expect(stderr.match(/^filings: .*401/gm)).toHaveLength(1);
    // The first stops the others, whether or not their answers have come.
    const [, failed, undone = 0] = /, (\d) failed \(\1 not allowed\)(?:, (\d) not started)?[;,]/.exec(stderr) ?? [];
    expect(Number(failed) + Number(undone)).toBe(3);
  });
});

test.each([
  ['--api-key-file', '-', 'token', 'sign', '--key', '-'],
  ['--jwt-file', '-', 'token', 'inspect'],
  ['--jwt-file', '-', 'token', 'verify', '--key', 'public.pem'],
])('stdin has one user: %s %s %s %s', async (...args) => {
  const place = await workplace();
  const { exitCode, stderr } = await place.filings(args);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('stdin has one user');
});
