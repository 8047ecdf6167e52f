import { FilingsError } from '../errors.ts';
import type { Algorithm } from './algorithms.ts';
import { LATEST_SECOND } from './claims.ts';
import type { JwtKey } from './keys.ts';

/** A claim. Its JSON text is signed as it is. */
export type Claim = readonly [name: string, json: string];

interface TokenPlan {
  readonly key: JwtKey;
  readonly algorithm: Algorithm;
  readonly kid?: string | undefined;
  readonly sub?: string | undefined;
  readonly name?: string | undefined;
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
      throw new FilingsError('usage', 'set twice', { subject, hint: { advice: 'claim-options' } });
    }
    members.set(claim, json);
  }
  return `{${[...members].map(([claim, json]) => `${JSON.stringify(claim)}:${json}`).join(',')}}`;
}
