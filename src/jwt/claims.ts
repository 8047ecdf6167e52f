import type { JsonObject } from '../json.ts';
import { span } from '../text.ts';

/** The last second that RFC 3339 can express. */
export const LATEST_SECOND = 253_402_300_799;

export interface Clock {
  /** Seconds since the epoch. */
  readonly atSeconds: number;
  readonly leewaySeconds?: number;
}

/**
 * Returns what the service would object to, the worst first (service.md, section 6; RFC 7519, section 4.1). `nbf` and
 * `exp` must be present, they and `iat` must be valid dates, and `nbf <= now < exp` must be true within the leeway.
 */
export function claimFaults(claims: JsonObject, clock: Clock): readonly string[] {
  const faults = ['nbf', 'exp', 'iat'].flatMap((name) => dateFault(name, claims[name]) ?? []);
  return faults.length > 0 ? faults : timeFaults(Number(claims.nbf), Number(claims.exp), clock);
}

function dateFault(name: string, value: unknown): string | undefined {
  if (value === undefined) return name === 'iat' ? undefined : `${name} is missing, and the service requires it`;
  if (!Number.isInteger(value)) return `${name} is not a whole number of seconds since the epoch`;
  const isDate = Number(value) >= 0 && Number(value) <= LATEST_SECOND;
  return isDate ? undefined : `${name} is before 1970 or after 9999: is it in milliseconds?`;
}

function timeFaults(nbf: number, exp: number, { atSeconds, leewaySeconds = 0 }: Clock): string[] {
  const now = Math.floor(atSeconds);
  if (exp <= nbf) return ['it is valid at no time: exp is not after nbf'];
  if (atSeconds < nbf - leewaySeconds) return [`nbf is ${span(nbf - now)} in the future: is a clock wrong?`];
  return atSeconds < exp + leewaySeconds ? [] : [`expired ${span(now - exp)} ago`];
}
