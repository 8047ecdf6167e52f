import type { JsonObject } from '../json.ts';
import { span } from '../text.ts';
import type { Objection } from './strict-token.ts';

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
export function claimFaults(claims: JsonObject, clock: Clock): readonly Objection[] {
  const faults = ['nbf', 'exp', 'iat'].flatMap((name) => dateFault(name, claims[name]) ?? []);
  if (faults.length > 0) return faults;
  return timeFaults(Number(claims.nbf), Number(claims.exp), clock);
}

function dateFault(name: string, value: unknown): Objection | undefined {
  if (value === undefined) {
    return name === 'iat' ? undefined : { reason: `${name} is missing, and the service requires it` };
  }
  if (typeof value !== 'number') {
    return { reason: `${name} is not a number of seconds since the epoch` };
  }
  if (!Number.isFinite(value)) return { reason: `${name} is a number beyond all dates` };
  if (!Number.isInteger(value)) return { reason: `${name} is a fraction, not whole seconds` };
  if (value < 0) return { reason: `${name} is before 1970` };
  if (value <= LATEST_SECOND) return undefined;
  return { reason: `${name} is after the year 9999`, hint: 'tokens count seconds, not milliseconds' };
}

function timeFaults(nbf: number, exp: number, { atSeconds, leewaySeconds = 0 }: Clock): Objection[] {
  if (exp <= nbf) return [{ reason: `exp (${utc(exp)}) is not after nbf (${utc(nbf)}): it is valid at no time` }];
  const now = `the time it is checked against is ${utc(Math.floor(atSeconds))}`;
  if (atSeconds < nbf - leewaySeconds) {
    return [
      {
        reason: `nbf is ${span(nbf - Math.floor(atSeconds))} in the future: is a clock wrong?`,
        hint: `${now}; nbf is ${utc(nbf)}`,
      },
    ];
  }
  if (atSeconds < exp + leewaySeconds) return [];
  const ago = Math.floor(atSeconds) - exp;
  return [
    {
      reason: ago === 0 ? 'expired this very second: exp is now' : `expired ${span(ago)} ago`,
      hint: `${now}; exp is ${utc(exp)}`,
    },
  ];
}
