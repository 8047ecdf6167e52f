import type { JsonObject } from '../json.ts';
import { span } from '../text.ts';

/** The last second of the year 9999: no later one can be written as RFC 3339. */
export const LATEST_SECOND = 253_402_300_799;

/** Seconds since the epoch as RFC 3339 in UTC; undefined for what is no such time. */
export function utc(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= LATEST_SECOND)) return undefined;
  return new Date(seconds * 1000).toISOString().replace(/\.000Z$/, 'Z');
}

/** When a token is looked at. */
export interface Clock {
  /** Seconds since the epoch. */
  readonly atSeconds: number;
  /** How far clocks may differ, in seconds. */
  readonly leewaySeconds?: number;
}

/**
 * Everything wrong with the claims, the worst first (contract part 5, RFC 7519 section 4.1): `nbf` and `exp`
 * there and sound, `iat` sound where it is there, and now within `nbf <= now < exp`, give or take the leeway.
 */
export function claimFaults(claims: JsonObject, clock: Clock): readonly string[] {
  const faults = ['nbf', 'exp', 'iat'].flatMap((name) => dateFault(name, claims[name]) ?? []);
  return faults.length > 0 ? faults : timeFaults(Number(claims.nbf), Number(claims.exp), clock);
}

function dateFault(name: string, value: unknown): string | undefined {
  if (value === undefined) return name === 'iat' ? undefined : `${name} is missing, and the service requires it`;
  if (typeof value !== 'number') return `${name} is not a number of seconds since the epoch`;
  if (!Number.isFinite(value)) return `${name} is a number beyond all dates`;
  if (!Number.isInteger(value)) return `${name} is a fraction, not whole seconds`;
  if (value < 0) return `${name} is before 1970`;
  return value <= LATEST_SECOND ? undefined : `${name} is after the year 9999: is it in milliseconds?`;
}

function timeFaults(nbf: number, exp: number, { atSeconds, leewaySeconds = 0 }: Clock): string[] {
  const now = Math.floor(atSeconds);
  if (exp <= nbf) return [`exp (${utc(exp)}) is not after nbf (${utc(nbf)}): it is valid at no time`];
  if (atSeconds < nbf - leewaySeconds) return [`nbf is ${span(nbf - now)} in the future: is a clock wrong?`];
  if (atSeconds < exp + leewaySeconds) return [];
  return [now === exp ? 'expired this very second: exp is now' : `expired ${span(now - exp)} ago`];
}
