import { FilingsError } from '../errors.ts';
import type { Algorithm } from './algorithms.ts';
import { LATEST_SECOND } from './claims.ts';
import type { JwtKey } from './keys.ts';

/** The JSON text is signed as it is. */
export type Claim = readonly [name: string, json: string];

interface TokenPlan {
  readonly key: JwtKey;
  readonly algorithm: Algorithm;
  readonly kid?: string | undefined;
  readonly sub?: string | undefined;
  readonly name?: string | undefined;
  /** Seconds since the epoch. */
  readonly issuedAt: number;
  /** By default `issuedAt`. */
  readonly notBefore?: number | undefined;
  /** Seconds from `notBefore` on. */
  readonly lifetime: number;
  readonly claims?: readonly Claim[];
}

/** Throws `usage`: too late a date, a claim set twice; `config`: a damaged key. */
export async function mintToken(plan: TokenPlan): Promise<string> {
  const { key, algorithm, kid = key.kid } = plan;
  const claims = claimsOf(plan);
  const { CompactSign } = await import('jose');
  const header = { alg: algorithm.name, typ: 'JWT', ...(kid !== undefined && { kid }) };
  return new CompactSign(Buffer.from(claims))
    .setProtectedHeader(header)
    .sign(key.keyObject)
    .catch((cause: unknown) => {
      // Numbers that node:crypto does without, and jose does not.
      throw new FilingsError('config', `${key.what}: the key's parts don't belong together`, { cause });
    });
}

/** A claim's JSON is signed as it was given, and `__proto__` is a claim like another. */
function claimsOf({ sub, name, issuedAt, notBefore = issuedAt, lifetime, claims = [] }: TokenPlan): string {
  const exp = notBefore + lifetime;
  if (exp > LATEST_SECOND) throw new FilingsError('usage', 'the lifetime: the token would expire after the year 9999');
  const own = Object.entries({ sub, name, iat: issuedAt, nbf: notBefore, exp });
  const members = new Map(
    own.flatMap(([claim, value]) => (value === undefined ? [] : [[claim, JSON.stringify(value)]])),
  );
  for (const [claim, json] of claims) {
    if (members.has(claim)) {
      const hint = 'see --sub, --name, --not-before and --lifetime; iat is always set';
      throw new FilingsError('usage', `claim ${claim}: set twice`, { hint });
    }
    members.set(claim, json);
  }
  return `{${[...members].map(([claim, json]) => `${JSON.stringify(claim)}:${json}`).join(',')}}`;
}
