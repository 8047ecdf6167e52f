import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALGORITHM, type Algorithm } from '../../src/jwt/algorithms.ts';
import { loadSecret } from '../../src/jwt/keys.ts';
import { createMinter, type TokenRecipe } from '../../src/jwt/sign.ts';
import { Secrets } from '../../src/secrets.ts';
import { ecPair } from '../key-pairs.ts';
import { worldOf } from '../settings-world.ts';
import { NOW, pem, verifyToken } from './jwt-forge.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

const SECRET = Buffer.alloc(32, 7);
const algorithm = (name: string) => ALGORITHM.parse(name) as Algorithm;

/** Returns a minter with a secret of its own and a clock that the test sets. */
async function minterOf(recipe: Omit<TokenRecipe, 'keyFile' | 'secretFile'>, bytes: Buffer = SECRET, mode = 0o600) {
  const file = join(await temporaryDirectory(), 'key');
  await writeFile(file, bytes);
  await chmod(file, mode);
  const clock = { ms: NOW * 1000 };
  const secrets = new Secrets();
  const world = worldOf({ secrets, now: () => clock.ms });
  const source = bytes.includes('BEGIN') ? { keyFile: file } : { secretFile: file };
  const minter = await createMinter({ ...recipe, ...source }, world);
  return { minter, clock, secrets };
}

function judge(token: string, ms: number) {
  return verifyToken(token, [loadSecret(SECRET, 's')], { atSeconds: ms / 1000 });
}

describe('createMinter', () => {
  test('mints a token from the recipe that is valid from now on', async () => {
    const { minter } = await minterOf({ alg: algorithm('HS256'), kid: 'k', sub: 's', name: 'n', lifetime: 120 });
    expect(await judge(await minter.token(), NOW * 1000)).toEqual({
      valid: true,
      header: { alg: 'HS256', typ: 'JWT', kid: 'k' },
      claims: { sub: 's', name: 'n', iat: NOW, nbf: NOW, exp: NOW + 120 },
    });
  });

  test.each`
    lifetime | used
    ${300}   | ${239}
    ${60}    | ${29}
    ${10}    | ${4}
  `('uses a token of $lifetime s for $used s and then the next one', async ({ lifetime, used }) => {
    const { minter, clock } = await minterOf({ lifetime });
    const first = await minter.token();
    clock.ms += used * 1000;
    expect(await minter.token()).toBe(first);
    clock.ms += 1000;
    expect(await minter.token()).not.toBe(first);
  });

  test('replaces a token from the future after the clock was set back', async () => {
    const { minter, clock } = await minterOf({});
    const first = await minter.token();
    clock.ms -= 60_000;
    const second = await minter.token();
    expect(second).not.toBe(first);
    expect(await judge(second, clock.ms)).toMatchObject({ valid: true });
  });

  test('registers tokens and the secret for redaction', async () => {
    const { minter, secrets } = await minterOf({}, Buffer.from('correct horse battery staple wins'));
    const token = await minter.token();
    expect(secrets.redact(`a ${token} b`)).toBe('a [redacted] b');
    expect(secrets.redact('correct horse battery staple wins')).toBe('[redacted]');
  });

  test('forgets tokens that have long expired', async () => {
    const { minter, clock, secrets } = await minterOf({ lifetime: 10 });
    const first = await minter.token();
    for (let later = 0; later < 8; later += 1) {
      clock.ms += 10_000;
      await minter.token();
    }
    expect(secrets.redact(first)).toBe(first);
  });

  test('still redacts a token that it minted twice, because the clock was set back', async () => {
    const { minter, clock, secrets } = await minterOf({ lifetime: 10 });
    const first = await minter.token();
    for (let later = 0; later < 7; later += 1) {
      clock.ms += 10_000;
      await minter.token();
    }
    clock.ms = NOW * 1000;
    expect(await minter.token()).toBe(first);
    expect(secrets.redact(first)).toBe('[redacted]');
  });

  test('warns of a line break at the end of a secret that is text', async () => {
    const warningOf = async (bytes: Buffer) => (await minterOf({}, bytes)).minter.warning;
    expect(await warningOf(Buffer.from(`${'s'.repeat(40)}\n`))).toContain('line break');
    expect(await warningOf(Buffer.from('s'.repeat(40)))).toBeUndefined();
    expect(await warningOf(Buffer.concat([Buffer.alloc(40, 0xfe), Buffer.from('\n')]))).toBeUndefined();
  });

  test('refuses what its recipe and its key file do not allow', async () => {
    const refused = (reason: string) => ({ code: 'config', message: expect.stringContaining(reason) });
    await expect(minterOf({ alg: algorithm('RS256') })).rejects.toMatchObject(
      refused('which cannot be used with RS256'),
    );
    await expect(minterOf({}, SECRET, 0o602)).rejects.toMatchObject(refused('other users can write it'));
    const publicKey = pem(ecPair('P-256').publicKey);
    await expect(minterOf({}, publicKey)).rejects.toMatchObject(refused('a public key, which can only verify'));
  });
});
