import type { JsonObject } from '../json.ts';
import { span } from '../text.ts';
import { type Clock, claimFaults, LATEST_SECOND } from './claims.ts';
import { NOT_CANONICAL, type Refusal, readJsonObject, readToken, refuse, splitToken } from './token.ts';

/** The words for a date in the future and for one in the past. `#` stands for the time span. */
const RELATIVE: Readonly<Record<string, readonly [string, string]>> = {
  iat: ['issued in #: in the future', 'issued # ago'],
  nbf: ['not valid for another #', 'valid since # ago'],
  exp: ['expires in #', 'expired # ago'],
};

/** The contents of a token, of which nothing is verified. */
export interface Inspection {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** Each date as RFC 3339 and relative to now: `expired 3 h ago`. */
  readonly times: Readonly<Record<string, { readonly utc: string; readonly relative: string }>>;
  /** The faults that the service would object to, except for the signature. */
  readonly objections: readonly string[];
}

/** Reads a token, also a forged one or one in a non-canonical encoding. Refuses unreadable ones with `format`. */
export function inspectToken(token: string, clock: Clock): Inspection | Refusal {
  const parts = splitToken(token);
  if ('failedCheck' in parts) return parts;
  const [header, claims] = [readPart(parts[0]), readPart(parts[1])];
  if (typeof header === 'string') return refuse('format', `the header part ${header}`);
  if (typeof claims === 'string') return refuse('format', `the claims part ${claims}`);
  const strict = readToken(token);
  const payload = readJsonObject(Buffer.from(parts[1], 'base64url'));
  return {
    header,
    claims,
    times: timesOf(claims, Math.floor(clock.atSeconds)),
    objections: [
      ...('failedCheck' in strict ? [strict.reason] : []),
      ...(typeof payload === 'string' ? [`the payload ${payload}`] : []),
      ...claimFaults(claims, clock),
      ...(parts[2] === '' ? ['the signature is empty'] : []),
    ],
  };
}

function readPart(part: string): JsonObject | string {
  if (!/^[\w+/-]*=*$/.test(part)) return NOT_CANONICAL;
  return readJsonObject(Buffer.from(part, 'base64url'), { lenient: true });
}

function timesOf(claims: JsonObject, now: number): Inspection['times'] {
  const times: Record<string, Inspection['times'][string]> = {};
  for (const [name, [before, after]] of Object.entries(RELATIVE)) {
    const seconds = claims[name];
    if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= LATEST_SECOND)) continue;
    const utc = new Date(seconds * 1000).toISOString().replace(/\.000Z$/, 'Z');
    times[name] = { utc, relative: (seconds > now ? before : after).replace('#', span(seconds - now)) };
  }
  return times;
}
