// Mints tokens: one for `token sign`, or one after the other for a run whose config file has a recipe for them.
import { FilingsError } from '../errors.ts';
import { readAs } from '../spec/option.ts';
import type { World } from '../world.ts';
import { ALGORITHM, type Algorithm } from './algorithms.ts';
import { LATEST_SECOND } from './claims.ts';
import { requireFit } from './key-fit.ts';
import { type JwtKey, lineBreakWarning, readJwtKey } from './keys.ts';

/** The member `jwt` of the config file, with absolute paths. */
export interface TokenRecipe {
  readonly keyFile?: string | undefined;
  readonly secretFile?: string | undefined;
  readonly alg?: string | undefined;
  readonly kid?: string | undefined;
  readonly sub?: string | undefined;
  readonly name?: string | undefined;
  /** In seconds, at least 10. */
  readonly lifetime?: number | undefined;
}

/** Lifetime of a token, in seconds. */
export const DEFAULT_LIFETIME = 300;
/**
 * A token is replaced when it has less than this left, or less than half its lifetime, because a request takes time to
 * arrive. In seconds.
 */
const MARGIN = 60;
/** The number of tokens that are kept as secrets. Older ones have expired. */
const REMEMBERED_TOKENS = 8;

/** A claim. Its JSON text is signed as it is. */
export type Claim = readonly [name: string, json: string];

interface TokenPlan extends Pick<TokenRecipe, 'kid' | 'sub' | 'name'> {
  readonly key: JwtKey;
  readonly algorithm: Algorithm;
  /** In seconds since the epoch. */
  readonly issuedAt: number;
  /** In seconds since the epoch. Default: `issuedAt`. */
  readonly notBefore?: number | undefined;
  /** In seconds from `notBefore` on. */
  readonly lifetime: number;
  readonly claims?: readonly Claim[];
}

/**
 * Returns a signed token. Throws `usage` for a date after 9999 or a duplicate claim, and `config` for a damaged key.
 */
export async function mintToken(plan: TokenPlan): Promise<string> {
  const { key, algorithm, kid = key.kid } = plan;
  const claims = claimsOf(plan);
  const { CompactSign } = await import('jose');
  const header = { alg: algorithm.name, typ: 'JWT', ...(kid !== undefined && { kid }) };
  return new CompactSign(Buffer.from(claims))
    .setProtectedHeader(header)
    .sign(key.keyObject)
    .catch((cause: unknown) => {
      // jose needs numbers of the key that node:crypto can do without.
      throw new FilingsError('config', "the key's parts don't belong together", { subject: { name: key.name }, cause });
    });
}

/** Returns the payload. The JSON text of a claim is kept as it is, and `__proto__` is an ordinary claim. */
function claimsOf({ sub, name, issuedAt, notBefore = issuedAt, lifetime, claims = [] }: TokenPlan): string {
  const exp = notBefore + lifetime;
  if (exp > LATEST_SECOND)
    throw new FilingsError('usage', 'the token would expire after the year 9999', {
      subject: { name: 'the lifetime' },
    });
  const own = Object.entries({ sub, name, iat: issuedAt, nbf: notBefore, exp });
  const members = new Map(
    own.flatMap(([claim, value]) => (value === undefined ? [] : [[claim, JSON.stringify(value)]])),
  );
  for (const [claim, json] of claims) {
    if (members.has(claim)) {
      const subject = { name: `claim ${claim}` };
      throw new FilingsError('usage', 'set twice', {
        subject,
        hint: 'see --sub, --name, --not-before and --lifetime; iat is always set',
      });
    }
    members.set(claim, json);
  }
  return `{${[...members].map(([claim, json]) => `${JSON.stringify(claim)}:${json}`).join(',')}}`;
}

export function algorithmOf({ alg }: TokenRecipe): Algorithm | undefined {
  return alg === undefined ? undefined : readAs(ALGORITHM, alg, { name: "the config file's jwt.alg", code: 'config' });
}

/** Returns a minter, which reads the key once. Throws `config`. */
export async function createMinter(recipe: TokenRecipe, world: World) {
  const { kid, sub, name, lifetime = DEFAULT_LIFETIME } = recipe;
  const wanted = algorithmOf(recipe);
  const key = await readJwtKey(recipe, 'sign', world);
  const algorithm = requireFit(key, 'sign', wanted);
  const minted: string[] = [];
  const mint = async (): Promise<string> => {
    const token = await mintToken({ key, algorithm, kid, sub, name, issuedAt, lifetime });
    world.secrets.add(token);
    minted.push(token);
    const oldest = minted.length > REMEMBERED_TOKENS ? minted.shift() : undefined;
    // After the clock was set back, an RSA or HMAC key may have given the same token again.
    if (oldest !== undefined && !minted.includes(oldest)) world.secrets.forget(oldest);
    return token;
  };
  const margin = Math.min(MARGIN, lifetime / 2);
  let issuedAt = Number.NEGATIVE_INFINITY;
  let current: Promise<string>;
  return {
    warning: lineBreakWarning(key),
    /** Returns a token that is valid for a while, the last one or a new one. */
    async token() {
      const now = world.now() / 1000;
      // If the clock was set back, the last token would be one of the future.
      if (issuedAt <= now && now < issuedAt + lifetime - margin) return current;
      issuedAt = Math.floor(now);
      current = mint();
      return current;
    },
  };
}
