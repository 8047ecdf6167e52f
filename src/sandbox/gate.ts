import { createHash, timingSafeEqual } from 'node:crypto';
import type { JwtKey } from '../jwt/keys.ts';
import type { KeyWay } from '../service/credentials.ts';
import type { Asked, PresentedKey } from './request.ts';

export interface GateRules {
  readonly apiKey: string;
  /** Empty: the key alone. Otherwise both key and token are wanted (contract part 5, modes). */
  readonly jwtKeys: readonly JwtKey[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Why a request is not let in, in words that hold no secret. */
export interface Rejection {
  readonly detail: string;
  /** The value of WWW-Authenticate (RFC 9110 section 11.6.1). */
  readonly challenge: string;
}

/** Takes what a request brings to undefined when it may come in. */
export type Gate = (asked: Pick<Asked, 'keys' | 'tokens'>) => Promise<Rejection | undefined>;

/** The fixed word of Basic authentication (contract part 5). */
const BASIC_USER = 'service';
const BASIC = 'Basic realm="filings", charset="UTF-8"';
const BEARER = 'Bearer realm="filings"';
const IN_AUTHORIZATION: readonly KeyWay[] = ['authorization', 'basic'];

/** The contract's rules of who may come in. Where a key is given in several ways, each must be right. */
export function createGate(rules: GateRules): Gate {
  const wantsToken = rules.jwtKeys.length > 0;
  const reject = (detail: string, challenge = wantsToken ? BEARER : BASIC): Rejection => ({ detail, challenge });
  const isRight = keyCheck(rules.apiKey);
  return async ({ keys, tokens }) => {
    if (keys.length === 0) return reject('no API key was given');
    if (keys.map(isRight).includes(false)) return reject('the API key is not valid');
    if (!wantsToken) return undefined;
    if (keys.some((key) => IN_AUTHORIZATION.includes(key.way))) {
      return reject('this key wants a JWT in Authorization: pass the key in X-Service-Key, apikey or the path');
    }
    const [token] = tokens;
    if (token === undefined || tokens.length > 1) return reject('this key wants one JWT: Authorization: Bearer <JWT>');
    const objection = await tokenObjection(token, rules);
    return objection === undefined
      ? undefined
      : reject(`the JWT is not valid: ${objection}`, `${BEARER}, error="invalid_token"`);
  };
}

async function tokenObjection(token: string, { jwtKeys, now }: GateRules): Promise<string | undefined> {
  const { verifyToken } = await import('../jwt/verify.ts');
  const verdict = await verifyToken(token, jwtKeys, { atSeconds: Math.floor(now() / 1000) });
  return verdict.valid ? undefined : verdict.reason;
}

/** Compares digests, so that time tells neither the key nor its length. */
function keyCheck(apiKey: string): (presented: PresentedKey) => boolean {
  const accepted = [digest(Buffer.from(apiKey))];
  // A header may hold a key of Latin-1 characters as such.
  if (Buffer.from(apiKey, 'latin1').toString('latin1') === apiKey) accepted.push(digest(Buffer.from(apiKey, 'latin1')));
  const user = digest(Buffer.from(BASIC_USER));
  return (presented) => {
    const given = digest(presented.value);
    const keyFits = accepted.map((right) => timingSafeEqual(given, right)).includes(true);
    const userFits = timingSafeEqual(digest(presented.user ?? Buffer.from(BASIC_USER)), user);
    return keyFits && userFits;
  };
}

function digest(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
