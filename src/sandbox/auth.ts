// Checks the credentials of a request to the stand-in service, and its rate.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { JwtKey } from '../jwt/keys.ts';
import type { KeyWay } from '../service/credentials.ts';
import type { ParsedRequest, PresentedKey } from './request.ts';

export interface AuthRules {
  readonly apiKey: string;
  /** If there are any, both key and token are required, otherwise the key alone (service.md, section 5). */
  readonly jwtKeys: readonly JwtKey[];
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
}

/** The fixed user name of Basic authentication (service.md, section 5). */
const BASIC_USER = Buffer.from('service');
const BASIC = 'Basic realm="filings", charset="UTF-8"';
const BEARER = 'Bearer realm="filings"';
const IN_AUTHORIZATION: readonly KeyWay[] = ['authorization', 'basic'];

/**
 * Returns why a request is rejected, or undefined. `detail` holds no secret, and `challenge` is the value of
 * WWW-Authenticate (RFC 9110, section 11.6.1). If a key is given in several ways, each must be right.
 */
export async function authenticationError({ keys, tokens }: ParsedRequest, rules: AuthRules) {
  const wantsToken = rules.jwtKeys.length > 0;
  const reject = (detail: string, challenge = wantsToken ? BEARER : BASIC) => ({ detail, challenge });
  if (keys.length === 0) return reject('no API key was given');
  if (!keys.every((key) => isRight(key, rules.apiKey))) return reject('the API key is not valid');
  if (!wantsToken) return undefined;
  if (keys.some((key) => IN_AUTHORIZATION.includes(key.way))) {
    return reject('this key wants a JWT in Authorization: pass the key in X-Service-Key, apikey or the path');
  }
  const [token] = tokens;
  if (token === undefined || tokens.length > 1) return reject('this key wants one JWT: Authorization: Bearer <JWT>');
  const { verifyToken } = await import('../jwt/verify.ts');
  const verdict = await verifyToken(token, rules.jwtKeys, { atSeconds: Math.floor(rules.now() / 1000) });
  if (verdict.valid) return undefined;
  return reject(`the JWT is not valid: ${verdict.reason}`, `${BEARER}, error="invalid_token"`);
}

function isRight({ value, user = BASIC_USER }: PresentedKey, apiKey: string): boolean {
  return timingSafeEqual(digest(value), digest(Buffer.from(apiKey))) && user.equals(BASIC_USER);
}

/** Returns a digest for comparison, so that the time of comparing reveals neither the key nor its length. */
function digest(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

export interface RateLimit {
  readonly requests: number;
  readonly perMs: number;
}

/**
 * Returns a function that takes one request from the budget: 0 if it is allowed, otherwise the whole seconds to wait.
 * The budget is a token bucket that holds `requests` tokens and refills evenly.
 */
export function createRateLimit({ requests, perMs }: RateLimit, now: () => number): () => number {
  const capacity = Math.max(1, Math.floor(requests));
  const refill = requests / perMs;
  let tokens = capacity;
  let filledAt = now();
  return () => {
    const at = now();
    tokens = Math.min(capacity, tokens + Math.max(0, at - filledAt) * refill);
    filledAt = at;
    if (tokens < 1) return Math.max(1, Math.ceil((1 - tokens) / refill / 1000));
    tokens -= 1;
    return 0;
  };
}
