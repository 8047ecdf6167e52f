// Mints tokens: a single one for `token sign`, or a series for a run whose config file has a recipe.
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import type { Algorithm } from './algorithms.ts';
import { LATEST_SECOND } from './claims.ts';
import { chooseAlgorithm } from './key-fit.ts';
import { findLineBreakWarning, type JwtKey, type KeyFiles, readJwtKey } from './keys.ts';

/** The setting `jwt`. */
export interface TokenRecipe extends Pick<KeyFiles, 'keyFile' | 'secretFile'> {
  readonly alg?: Algorithm | undefined;
  readonly kid?: string | undefined;
  readonly sub?: string | undefined;
  readonly name?: string | undefined;
  /** In seconds. */
  readonly lifetime?: number | undefined;
}

/** In seconds. */
export const DEFAULT_LIFETIME = 300;
/**
 * A token is replaced this many seconds before it expires, because a request takes time to arrive. A token with a short
 * lifetime is used for half of it.
 */
const RENEWAL_MARGIN = 60;
/**
 * Each token is used for at least half its lifetime, so older ones have expired. They are forgotten, because each costs
 * time whenever a message is searched for secrets.
 */
const MAX_REDACTED_TOKENS = 8;

/** The value goes into the token exactly as it is written. */
export type Claim = readonly [name: string, json: string];

interface TokenPlan extends Pick<TokenRecipe, 'kid' | 'sub' | 'name'> {
  readonly key: JwtKey;
  readonly algorithm: Algorithm;
  /** This and `notBefore` (default: `issuedAt`) are in seconds since the epoch. */
  readonly issuedAt: number;
  readonly notBefore?: number | undefined;
  /** In seconds from `notBefore` on. */
  readonly lifetime: number;
  readonly claims?: readonly Claim[];
}

/** Throws `usage` if the token would expire after the year 9999 or has a claim twice, and `config` for a bad key. */
export async function mintToken(plan: TokenPlan): Promise<string> {
  const { key, algorithm, kid = key.kid } = plan;
  const payload = buildPayload(plan);
  // A run loads jose only when it really mints a token.
  const { CompactSign } = await import('jose');
  const header = { alg: algorithm.name, typ: 'JWT', ...(kid !== undefined && { kid }) };
  return new CompactSign(Buffer.from(payload))
    .setProtectedHeader(header)
    .sign(key.keyObject)
    .catch((cause: unknown) => {
      // `readJwtKey` has tested the key by a signature. But a private key has redundant numbers, and jose may use some
      // that the test has not used.
      throw new FilingsError('config', "the key's parts don't belong together", { subject: { name: key.name }, cause });
    });
}

/** Put together from strings, so that the JSON of a claim is not changed. */
function buildPayload({ sub, name, issuedAt, notBefore = issuedAt, lifetime, claims = [] }: TokenPlan): string {
  const exp = notBefore + lifetime;
  if (exp > LATEST_SECOND)
    throw new FilingsError('usage', 'the token would expire after the year 9999', {
      subject: { name: 'the lifetime' },
    });
  const registered = Object.entries({ sub, name, iat: issuedAt, nbf: notBefore, exp });
  // A Map, so that `__proto__` is an ordinary claim.
  const members = new Map(
    registered.flatMap(([claim, value]) => (value === undefined ? [] : [[claim, JSON.stringify(value)]])),
  );
  for (const [claim, json] of claims) {
    if (members.has(claim)) {
      const hint = 'set each claim once; for sub, name, nbf and exp use --sub, --name, --not-before and --lifetime';
      throw new FilingsError('usage', 'set twice', { subject: { name: `claim ${claim}` }, hint });
    }
    members.set(claim, json);
  }
  return `{${[...members].map(([claim, json]) => `${JSON.stringify(claim)}:${json}`).join(',')}}`;
}

/** `warning` is about the key. `token` throws the errors of `mintToken`. */
export async function createMinter(recipe: TokenRecipe, world: World) {
  const { alg, kid, sub, name, lifetime = DEFAULT_LIFETIME } = recipe;
  const key = await readJwtKey(recipe, 'sign', world);
  const algorithm = chooseAlgorithm(key, 'sign', alg);
  const minted: string[] = [];
  /** In seconds since the epoch. At first there is no token, as if it had expired. */
  let issuedAt = Number.NEGATIVE_INFINITY;
  const mint = async (): Promise<string> => {
    const token = await mintToken({ key, algorithm, kid, sub, name, issuedAt, lifetime });
    world.secrets.add(token);
    minted.push(token);
    const oldest = minted.length > MAX_REDACTED_TOKENS ? minted.shift() : undefined;
    // RS and HMAC signatures are deterministic, so a clock that was set back may have caused the same token again.
    if (oldest !== undefined && !minted.includes(oldest)) world.secrets.forget(oldest);
    return token;
  };
  const margin = Math.min(RENEWAL_MARGIN, lifetime / 2);
  /** A promise, so that requests at the same time share the token that is being minted. */
  let current: Promise<string>;
  return {
    warning: findLineBreakWarning(key),
    /** Called for each request. */
    async token() {
      const now = world.now() / 1000;
      // If the clock was set back, the current token is not valid yet.
      if (issuedAt <= now && now < issuedAt + lifetime - margin) return current;
      issuedAt = Math.floor(now);
      // If this fails, further calls fail with the same error. No retry is needed: a `config` error ends the run.
      current = mint();
      return current;
    },
  };
}
