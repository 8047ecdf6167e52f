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
async function minterOf(recipe: Omit<TokenRecipe, 'key'>, bytes: Buffer = SECRET, mode = 0o600) {
  const file = join(await temporaryDirectory(), 'key');
  await writeFile(file, bytes);
  await chmod(file, mode);
  const clock = { ms: NOW * 1000 };
  const secrets = new Secrets();
  const world = worldOf({ secrets, now: () => clock.ms });
  const kind = bytes.includes('BEGIN') ? 'key' : 'secret';
  const warnings: string[] = [];
  const mint = await createMinter({ ...recipe, key: { kind, path: file } }, world, (text) => warnings.push(text));
  return { mint, clock, secrets, warnings };
}

function judge(token: string, ms: number) {
  return verifyToken(token, [loadSecret(SECRET, 's')], { atSeconds: ms / 1000 });
}

describe('createMinter', () => {
  test('mints a token from the recipe that is valid from now on', async () => {
    const { mint } = await minterOf({ alg: algorithm('HS256'), kid: 'k', sub: 's', name: 'n', lifetime: 120 });
    expect(await judge(await mint(), NOW * 1000)).toEqual({
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
    const { mint, clock } = await minterOf({ lifetime });
    const first = await mint();
    clock.ms += used * 1000;
    expect(await mint()).toBe(first);
    clock.ms += 1000;
    expect(await mint()).not.toBe(first);
  });

  test('replaces a token from the future after the clock was set back', async () => {
    const { mint, clock } = await minterOf({});
    const first = await mint();
    clock.ms -= 60_000;
    const second = await mint();
    expect(second).not.toBe(first);
    expect(await judge(second, clock.ms)).toMatchObject({ valid: true });
  });

  test('registers tokens and the secret for redaction', async () => {
    const { mint, secrets } = await minterOf({}, Buffer.from('correct horse battery staple wins'));
    const token = await mint();
    expect(secrets.redact(`a ${token} b`)).toBe('a [redacted] b');
    expect(secrets.redact('correct horse battery staple wins')).toBe('[redacted]');
  });

  test('forgets tokens that have long expired', async () => {
    const { mint, clock, secrets } = await minterOf({ lifetime: 10 });
    const first = await mint();
    for (let later = 0; later < 8; later += 1) {
      clock.ms += 10_000;
      await mint();
    }
    expect(secrets.redact(first)).toBe(first);
  });

  test('still redacts a token that it minted twice, because the clock was set back', async () => {
    const { mint, clock, secrets } = await minterOf({ lifetime: 10 });
    const first = await mint();
    for (let later = 0; later < 7; later += 1) {
      clock.ms += 10_000;
      await mint();
    }
    clock.ms = NOW * 1000;
    expect(await mint()).toBe(first);
    expect(secrets.redact(first)).toBe('[redacted]');
  });

  test('warns of a line break at the end of a secret that is text', async () => {
    const warningsOf = async (bytes: Buffer) => (await minterOf({}, bytes)).warnings;
    expect(await warningsOf(Buffer.from(`${'s'.repeat(40)}\n`))).toEqual([expect.stringContaining('line break')]);
    expect(await warningsOf(Buffer.from('s'.repeat(40)))).toEqual([]);
    expect(await warningsOf(Buffer.concat([Buffer.alloc(40, 0xfe), Buffer.from('\n')]))).toEqual([]);
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
