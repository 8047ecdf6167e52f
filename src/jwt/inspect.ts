import type { JsonObject } from '../json.ts';
import { span } from '../text.ts';
import { type Clock, claimFaults, LATEST_SECOND } from './claims.ts';
import { NOT_CANONICAL, type Refusal, readJsonObject, readToken, refuse, splitToken } from './token.ts';

/** Of a date to come, and of one that is over. */
const RELATIVE: Readonly<Record<string, readonly [string, string]>> = {
  iat: ['issued in #: in the future', 'issued # ago'],
  nbf: ['not valid for another #', 'valid since # ago'],
  exp: ['expires in #', 'expired # ago'],
};

/** Nothing of it is verified. */
export interface Inspection {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** As RFC 3339, and from now: `expired 3 h ago`. */
  readonly times: Readonly<Record<string, { readonly utc: string; readonly relative: string }>>;
  /** Short of the signature. */
  readonly objections: readonly string[];
}

/** Sloppily encoded or forged, too; what is not readable is refused as `format`. */
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
