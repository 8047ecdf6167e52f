// Mints tokens: a single one for `token sign`, or a series for a run whose config file has a recipe.
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import type { Algorithm } from './algorithms.ts';
import { LATEST_SECOND } from './claims.ts';
import { chooseAlgorithm } from './key-fit.ts';
import { type JwtKey, type JwtKeySource, readJwtKey } from './keys.ts';

/** The setting `jwt`. */
export interface TokenRecipe {
  readonly key: JwtKeySource;
  readonly alg?: Algorithm | undefined;
  readonly kid?: string | undefined;
  readonly sub?: string | undefined;
  readonly name?: string | undefined;
  /** In seconds from `nbf` to `exp`. */
  readonly lifetime?: number | undefined;
}

/** In seconds. */
const DEFAULT_LIFETIME = 300;
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

interface TokenContent extends Pick<TokenRecipe, 'sub' | 'name' | 'lifetime'> {
  /** This and `notBefore` (default: `issuedAt`) are in seconds since the epoch. */
  readonly issuedAt: number;
  readonly notBefore?: number | undefined;
  readonly claims?: readonly Claim[];
}

/** Throws `usage` if the token would expire after the year 9999 or has a claim twice, and `config` for a bad key. */
export async function mintToken(
  key: JwtKey,
  { alg, kid = key.kid, ...content }: Pick<TokenRecipe, 'alg' | 'kid'> & TokenContent,
): Promise<string> {
  const algorithm = chooseAlgorithm(key, 'sign', alg);
  const payload = buildPayload(content);
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
function buildPayload(content: TokenContent): string {
  const { sub, name, lifetime = DEFAULT_LIFETIME, issuedAt, notBefore = issuedAt, claims = [] } = content;
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

/** Returns a function that is called for each request. It throws the errors of `mintToken`. */
export async function createMinter(
  recipe: TokenRecipe,
  world: World,
  warn: (text: string) => void,
): Promise<() => Promise<string>> {
  const { lifetime = DEFAULT_LIFETIME } = recipe;
  const key = await readJwtKey(recipe.key, 'sign', world, warn);
  // An unsuitable key is reported before the first request.
  const alg = chooseAlgorithm(key, 'sign', recipe.alg);
  const minted: string[] = [];
  const mint = async (issuedAt: number): Promise<string> => {
    const token = await mintToken(key, { ...recipe, alg, issuedAt });
    world.secrets.add(token);
    minted.push(token);
    const oldest = minted.length > MAX_REDACTED_TOKENS ? minted.shift() : undefined;
    // RS and HMAC signatures are deterministic, so a clock that was set back may have caused the same token again.
    if (oldest !== undefined && !minted.includes(oldest)) world.secrets.forget(oldest);
    return token;
  };
  const margin = Math.min(RENEWAL_MARGIN, lifetime / 2);
  /** `issuedAt` is in seconds since the epoch. A promise, so that simultaneous requests share one token. */
  let current: { readonly issuedAt: number; readonly token: Promise<string> } | undefined;
  return () => {
    const now = world.now() / 1000;
    // If the clock was set back, the current token is not valid yet.
    if (current && current.issuedAt <= now && now < current.issuedAt + lifetime - margin) return current.token;
    const issuedAt = Math.floor(now);
    // If this fails, further calls fail with the same error. No retry is needed: a `config` error ends the run.
    current = { issuedAt, token: mint(issuedAt) };
    return current.token;
  };
}
