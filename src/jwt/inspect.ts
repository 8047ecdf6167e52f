// Decodes a token for `token inspect`. A token is a JWT: header, payload (the claims) and signature, in base64url, with
// dots in between. Unlike the strict readers in token.ts and verify.ts, this one shows as much as possible of a broken
// or forged token, and reports the faults along with it.
import type { JsonObject } from '../json.ts';
import { roughDuration } from '../text.ts';
import { type CheckTime, findClaimFaults, LATEST_SECOND } from './claims.ts';
import { NOT_CANONICAL, type Refusal, readJsonObject, readToken, refuse, splitToken } from './token.ts';

/** The words for the claims that are dates, in the future or in the past. `#` stands for the time span. */
const RELATIVE: Readonly<Record<string, readonly [future: string, past: string]>> = {
  iat: ['issued # in the future', 'issued # ago'],
  nbf: ['not valid for another #', 'valid since # ago'],
  exp: ['expires in #', 'expired # ago'],
};

/** The contents of a token. Nothing in it is verified. `--json` prints these members under the same names. */
export interface Inspection {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** Each date in RFC 3339, and relative to now: `expired 3 h ago`. */
  readonly times: Readonly<Record<string, { readonly utc: string; readonly relative: string }>>;
  /** What is wrong with the token. Whether its signature matches is not checked, because that needs a key. */
  readonly objections: readonly string[];
}

/** Decodes a token. Refuses it with `format` if its header or its claims cannot be shown. */
export function inspectToken(token: string, time: CheckTime): Inspection | Refusal {
  // Only a `Refusal` has the member `failedCheck`.
  const parts = splitToken(token);
  if ('failedCheck' in parts) return parts;
  const [header, claims] = [decodeLeniently(parts[0]), decodeLeniently(parts[1])];
  if (typeof header === 'string') return refuse('format', `the header part ${header}`);
  if (typeof claims === 'string') return refuse('format', `the claims part ${claims}`);
  // Decoding again by the strict rules finds the faults that were tolerated above. `readToken` alone would miss some:
  // it does not parse the payload, and accepts an empty signature.
  const strict = readToken(token);
  const strictClaims = readJsonObject(Buffer.from(parts[1], 'base64url'));
  return {
    header,
    claims,
    // Whole seconds, because `roughDuration` rounds down: half a second ahead would be "0 s in the future".
    times: describeTimes(claims, Math.floor(time.atSeconds)),
    objections: [
      ...('failedCheck' in strict ? [strict.reason] : []),
      ...(typeof strictClaims === 'string' ? [`the payload ${strictClaims}`] : []),
      ...findClaimFaults(claims, time),
      ...(parts[2] === '' ? ['the signature is empty'] : []),
    ],
  };
}

/** Returns the JSON object of a part in base64 or base64url, or why there is none, as the end of a sentence. */
function decodeLeniently(part: string): JsonObject | string {
  if (!/^[\w+/-]*=*$/.test(part)) return NOT_CANONICAL;
  return readJsonObject(Buffer.from(part, 'base64url'), { lenient: true });
}

function describeTimes(claims: JsonObject, now: number): Inspection['times'] {
  const times: Record<string, Inspection['times'][string]> = {};
  for (const [name, [future, past]] of Object.entries(RELATIVE)) {
    const seconds = claims[name];
    // A date that is missing or cannot be formatted is left to `findClaimFaults`.
    if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= LATEST_SECOND)) continue;
    const utc = new Date(seconds * 1000).toISOString().replace(/\.000Z$/, 'Z');
    // `roughDuration` drops the sign.
    times[name] = { utc, relative: (seconds > now ? future : past).replace('#', roughDuration(seconds - now)) };
  }
  return times;
}
