import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSecret } from '../../src/jwt/keys.ts';
import { createMinter, type TokenRecipe } from '../../src/jwt/minter.ts';
import { verifyToken } from '../../src/jwt/verify.ts';
import { Secrets } from '../../src/secrets.ts';
import { ecPair } from '../key-pairs.ts';
import { worldOf } from '../settings-world.ts';
import { NOW, pem } from './jwt-forge.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

const SECRET = Buffer.alloc(32, 7);

/** Returns a minter with a secret of its own and a clock that the test sets. */
async function minterOf(recipe: Omit<TokenRecipe, 'keyFile' | 'secretFile'>, bytes: Buffer = SECRET, mode = 0o600) {
  const file = join(await temporaryDirectory(), 'key');
  await writeFile(file, bytes);
  await chmod(file, mode);
  const clock = { ms: NOW * 1000 };
  const secrets = new Secrets();
  const interrupt = new AbortController();
  const world = worldOf({ interrupt: interrupt.signal, secrets, now: () => clock.ms });
  const source = bytes.includes('BEGIN') ? { keyFile: file } : { secretFile: file };
  const minter = await createMinter({ ...recipe, ...source }, world);
  return { minter, clock, secrets, file, interrupt };
}

function judge(token: string, ms: number) {
  return verifyToken(token, [loadSecret(SECRET, 's')], { atSeconds: ms / 1000 });
}

describe('createMinter', () => {
  it('mints a token from the recipe that is valid from now on', async () => {
    const { minter } = await minterOf({ alg: 'HS256', kid: 'k', sub: 's', name: 'n', lifetime: 120 });
    expect(await judge(await minter.token(), NOW * 1000)).toEqual({
      valid: true,
      header: { alg: 'HS256', typ: 'JWT', kid: 'k' },
      claims: { sub: 's', name: 'n', iat: NOW, nbf: NOW, exp: NOW + 120 },
    });
  });

  it.each([
    [300, 239],
    [60, 29],
    [10, 4],
  ])('uses a token of %i s for %i s and then the next one', async (lifetime, used) => {
    const { minter, clock } = await minterOf({ lifetime });
    const first = await minter.token();
    clock.ms += used * 1000;
    expect(await minter.token()).toBe(first);
    clock.ms += 1000;
    expect(await minter.token()).not.toBe(first);
  });

  it('never returns a token that is about to expire, whatever the time', async () => {
    for (const lifetime of [10, 11, 15, 300]) {
      const { minter, clock } = await minterOf({ lifetime });
      for (let step = 0; step < 200; step++) {
        clock.ms += 137;
        expect(await judge(await minter.token(), clock.ms + 900)).toMatchObject({ valid: true });
      }
    }
  });

  it('gives concurrent callers the same token', async () => {
    const { minter } = await minterOf({});
    const tokens = await Promise.all(Array.from({ length: 8 }, () => minter.token()));
    expect(new Set(tokens).size).toBe(1);
  });

  it('replaces a token from the future after the clock was set back', async () => {
    const { minter, clock } = await minterOf({});
    const first = await minter.token();
    clock.ms -= 60_000;
    const second = await minter.token();
    expect(second).not.toBe(first);
    expect(await judge(second, clock.ms)).toMatchObject({ valid: true });
  });

  it('reads the key once', async () => {
    const { minter, clock, file } = await minterOf({});
    await minter.token();
    await rm(file);
    clock.ms += 3_600_000;
    expect(await judge(await minter.token(), clock.ms)).toMatchObject({ valid: true });
  });

  it('registers tokens and the secret for redaction', async () => {
    const { minter, secrets } = await minterOf({}, Buffer.from('correct horse battery staple wins'));
    const token = await minter.token();
    expect(secrets.redact(`a ${token} b`)).toBe('a [redacted] b');
    expect(secrets.redact('correct horse battery staple wins')).toBe('[redacted]');
  });

  it('does not forget a token that is still in use, although its text came before', async () => {
    const { minter, clock, secrets } = await minterOf({});
    // The clock goes back and forth, and each second has a token whose text is the same every time.
    for (let step = 0; step < 40; step += 1) {
      clock.ms += step % 2 === 0 ? 400_000 : -400_000;
      expect(secrets.redact(await minter.token())).toBe('[redacted]');
    }
  });

  it('warns of a line break at the end of a secret that is text', async () => {
    const warningOf = async (bytes: Buffer) => (await minterOf({}, bytes)).minter.warning;
    expect(await warningOf(Buffer.from(`${'s'.repeat(40)}\n`))).toContain('line break');
    expect(await warningOf(Buffer.from('s'.repeat(40)))).toBeUndefined();
    expect(await warningOf(Buffer.concat([Buffer.alloc(40, 0xfe), Buffer.from('\n')]))).toBeUndefined();
  });

  it.each<[string, Omit<TokenRecipe, 'keyFile'>, Buffer, number, RegExp]>([
    ['an unknown algorithm', { alg: 'EdDSA' }, SECRET, 0o600, /jwt.alg: must be an algorithm that the service takes/],
    ['an algorithm that does not fit', { alg: 'RS256' }, SECRET, 0o600, /which is not for RS256/],
    ['a file that others can read', {}, SECRET, 0o644, /others can read it/],
    ['an empty secret', {}, Buffer.alloc(0), 0o600, /it is empty/],
    ['a public key', {}, pem(ecPair('prime256v1').publicKey), 0o600, /a public key, which can only verify/],
  ])('refuses %s', async (_, recipe, bytes, mode, reason) => {
    await expect(minterOf(recipe, bytes, mode)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(reason),
    });
  });
});
