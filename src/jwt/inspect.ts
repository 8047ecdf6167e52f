// Unlike the strict readers in token.ts and verify.ts, this one shows as much as possible of a broken or forged token,
// and reports the faults along with it.
import { FilingsError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { roughDuration } from '../text.ts';
import { type CheckTime, findClaimFaults, LATEST_SECOND } from './claims.ts';
import { NOT_CANONICAL, readJsonObject, readPayload, readToken, splitToken, tokenError } from './token.ts';

/** The words for a date in the future and in the past. `#` stands for the time span. */
const RELATIVE: Readonly<Record<string, readonly [future: string, past: string]>> = {
  iat: ['issued # in the future', 'issued # ago'],
  nbf: ['not valid for another #', 'valid since # ago'],
  exp: ['expires in #', 'expired # ago'],
};

/** Nothing in it is verified. `--json` prints these members under the same names. */
export interface Inspection {
  /** Relative to now: `expired 3 h ago`. */
  readonly times: Readonly<Record<string, { readonly utc: string; readonly relative: string }>>;
  /** The signature is not checked, because that needs a key. */
  readonly objections: readonly string[];
}

/** Throws `auth`, with the check `format`, if the header or the claims cannot be read. */
export function inspectToken(token: string, time: CheckTime): Inspection {
  const parts = splitToken(token);
  decodeLeniently(parts[0], 'header');
  const claims = decodeLeniently(parts[1], 'claims');
  return {
    // Whole seconds, because less than half a second ahead would be "0 s in the future".
    times: describeTimes(claims, Math.floor(time.atSeconds)),
    objections: [
      // The strict readers find the faults that were tolerated above. `readToken` accepts an empty signature.
      ...findObjection(() => readToken(token)),
      ...findObjection(() => readPayload(Buffer.from(parts[1], 'base64url'))),
      ...findClaimFaults(claims, time),
      ...(parts[2] === '' ? ['the signature is empty'] : []),
    ],
  };
}

/** Accepts base64 as well as base64url. */
function decodeLeniently(part: string, name: string): JsonObject {
  const toError = (fault: string) => tokenError('format', `the ${name} part ${fault}`);
  if (!/^[\w+/-]*=*$/.test(part)) throw toError(NOT_CANONICAL);
  return readJsonObject(Buffer.from(part, 'base64url'), toError, true);
}

function findObjection(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return [error.reason];
  }
}

function describeTimes(claims: JsonObject, now: number): Inspection['times'] {
  const times: Record<string, Inspection['times'][string]> = {};
  for (const [name, [future, past]] of Object.entries(RELATIVE)) {
    const seconds = claims[name];
    // `findClaimFaults` reports all other dates.
    if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= LATEST_SECOND)) continue;
    const utc = new Date(seconds * 1000).toISOString().replace(/\.000Z$/, 'Z');
    times[name] = { utc, relative: (seconds > now ? future : past).replace('#', roughDuration(seconds - now)) };
  }
  return times;
}
