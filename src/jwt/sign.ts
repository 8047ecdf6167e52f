import { FilingsError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { Algorithm } from './algorithms.ts';
import { LATEST_SECOND } from './claims.ts';
import type { JwtKey } from './keys.ts';

/** A claim beyond the service's own: its name and its value as JSON text, which is signed as it is. */
export type FurtherClaim = readonly [name: string, json: string];

export interface TokenPlan {
  readonly key: JwtKey;
  readonly algorithm: Algorithm;
  readonly kid?: string | undefined;
  readonly sub?: string | undefined;
  readonly name?: string | undefined;
  /** Seconds since the epoch. */
  readonly issuedAt: number;
  /** Seconds since the epoch; when it is issued by default. */
  readonly notBefore?: number | undefined;
  /** Seconds from `notBefore` on. */
  readonly lifetime: number;
  readonly further?: readonly FurtherClaim[];
}

export interface MintedToken {
  readonly token: string;
  readonly header: JsonObject;
  readonly claims: JsonObject;
}

/**
 * Mints a token with the header and the claims of the contract's part 5: `exp` is `nbf` and the lifetime.
 *
 * @throws FilingsError `usage`: it would expire after the year 9999; `config`: a damaged key
 */
export async function mintToken(plan: TokenPlan): Promise<MintedToken> {
  const header = headerOf(plan);
  const claims = claimsOf(plan);
  const { CompactSign } = await import('jose');
  const { keyObject, what } = plan.key;
  const signing = new CompactSign(Buffer.from(claims)).setProtectedHeader(header).sign(keyObject);
  const token = await signing.catch((cause: unknown) => {
    // Numbers that node:crypto does without, and jose does not.
    throw new FilingsError('config', `${what}: the key's parts don't belong together`, { cause });
  });
  return { token, header, claims: JSON.parse(claims) };
}

function headerOf({ algorithm, kid, key }: TokenPlan) {
  const id = kid ?? key.kid;
  return { alg: algorithm.name, typ: 'JWT', ...(id === undefined ? {} : { kid: id }) };
}

/** Written by hand, so that a claim's JSON is signed as it was given, and `__proto__` is a claim like another. */
function claimsOf({ sub, name, issuedAt, notBefore = issuedAt, lifetime, further = [] }: TokenPlan): string {
  const exp = notBefore + lifetime;
  if (exp > LATEST_SECOND) throw new FilingsError('usage', 'the lifetime: the token would expire after the year 9999');
  const known = { sub, name, iat: issuedAt, nbf: notBefore, exp };
  const members = Object.entries(known).filter(([, value]) => value !== undefined);
  const all: FurtherClaim[] = [
    ...members.map(([key, value]): FurtherClaim => [key, JSON.stringify(value)]),
    ...further,
  ];
  return `{${all.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(',')}}`;
}
