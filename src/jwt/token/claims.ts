import type { JsonObject } from '../../json.ts';
import { span } from '../../text.ts';
import { LATEST_SECOND, utc } from '../time-words.ts';
import type { Fault } from './strict-token.ts';

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
export function claimFaults(claims: JsonObject, clock: Clock): readonly Fault[] {
  const faults = ['nbf', 'exp', 'iat'].flatMap((name) => dateFault(name, claims[name]) ?? []);
  if (faults.length > 0) return faults;
  return timeFaults(Number(claims.nbf), Number(claims.exp), clock);
}

function dateFault(name: string, value: unknown): Fault | undefined {
  if (value === undefined) {
    return name === 'iat' ? undefined : { reason: `${name} is missing, and the service requires it` };
  }
  if (typeof value !== 'number') {
    const digits = typeof value === 'string' && /^\d+$/.test(value) ? ': it is a string of digits' : '';
    return { reason: `${name} is not a number of seconds since the epoch${digits}` };
  }
  if (!Number.isFinite(value)) return { reason: `${name} is a number beyond all dates` };
  if (!Number.isInteger(value)) return { reason: `${name} is a fraction, not whole seconds` };
  if (value < 0) return { reason: `${name} is before 1970` };
  if (value <= LATEST_SECOND) return undefined;
  const year = new Date(value).getUTCFullYear();
  const hint = year >= 1990 && year <= 2200 ? { hint: 'it looks like milliseconds; tokens count seconds' } : {};
  return { reason: `${name} is after the year 9999`, ...hint };
}

function timeFaults(nbf: number, exp: number, { atSeconds, leewaySeconds = 0 }: Clock): Fault[] {
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
