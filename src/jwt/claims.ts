// The dates in the claims (docs/service.md, section 6; RFC 7519, section 4.1). `token verify`, `token inspect` and
// `serve` share these checks, so that they agree about a token.
import type { JsonObject } from '../json.ts';
import { roughDuration } from '../text.ts';

/** 9999-12-31T23:59:59Z, the last second that an RFC 3339 date can express, in seconds since the epoch. */
export const LATEST_SECOND = 253_402_300_799;

export interface CheckTime {
  /** In seconds since the epoch. */
  readonly atSeconds: number;
  /** How far the clock of whoever signed the token may differ. Default: 0. */
  readonly leewaySeconds?: number;
}

/**
 * Returns one sentence for each missing or malformed date, or one if the token is not valid at this time. `iat` is
 * optional, and is not compared with the time.
 */
export function findClaimFaults(claims: JsonObject, time: CheckTime): readonly string[] {
  const faults = ['nbf', 'exp', 'iat'].flatMap((name) => findDateFault(name, claims[name]) ?? []);
  return faults.length > 0 ? faults : findTimeFaults(Number(claims.nbf), Number(claims.exp), time);
}

/** The service allows whole numbers only, although RFC 7519, section 2, allows fractions. */
function findDateFault(name: string, value: unknown): string | undefined {
  if (value === undefined) return name === 'iat' ? undefined : `${name} is missing, and the service requires it`;
  if (!Number.isInteger(value)) return `${name} is not a whole number of seconds since the epoch`;
  if (Number(value) < 0) return `${name} is before 1970`;
  return Number(value) > LATEST_SECOND ? `${name} is after the year 9999: is it in milliseconds?` : undefined;
}

function findTimeFaults(nbf: number, exp: number, { atSeconds, leewaySeconds = 0 }: CheckTime): string[] {
  // Only for the messages: less than half a second ahead would be "0 s in the future".
  const now = Math.floor(atSeconds);
  if (exp <= nbf) return ['exp is not after nbf, so the token is never valid'];
  if (atSeconds < nbf - leewaySeconds) return [`nbf is ${roughDuration(nbf - now)} in the future: is a clock wrong?`];
  return atSeconds < exp + leewaySeconds ? [] : [`expired ${roughDuration(now - exp)} ago`];
}
