import type { JsonObject } from '../json.ts';
import { span } from '../text.ts';
import { type Clock, claimFaults, utc } from './claims.ts';
import {
  decodeBase64url,
  headerFault,
  NOT_CANONICAL,
  type Refusal,
  readJsonObject,
  refuse,
  splitToken,
} from './token.ts';

/** What is said of a date to come, and of one that is over. */
const RELATIVE: Readonly<Record<string, readonly [string, string]>> = {
  iat: ['issued in #: in the future', 'issued # ago'],
  nbf: ['not valid for another #', 'valid since # ago'],
  exp: ['expires in #', 'expired # ago'],
};

/** A date as RFC 3339, and from now: `expired 3 h ago`. */
export interface TokenTime {
  readonly utc: string;
  readonly relative: string;
}

/** What a token says of itself. Nothing of it is verified. */
export interface Inspection {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** By the claim's name. */
  readonly times: Readonly<Record<string, TokenTime>>;
  /** What the service would object to, short of the signature. */
  readonly objections: readonly string[];
}

/** Reads whatever has a readable header and claims, sloppily encoded or forged too; anything else is refused as `format`. */
export function inspectToken(token: string, clock: Clock): Inspection | Refusal {
  const parts = splitToken(token);
  if ('failedCheck' in parts) return parts;
  const [header, claims] = [readPart(parts[0]), readPart(parts[1])];
  if (typeof header === 'string') return refuse('format', `the header part ${header}`);
  if (typeof claims === 'string') return refuse('format', `the claims part ${claims}`);
  return {
    header: header.value,
    claims: claims.value,
    times: timesOf(claims.value, Math.floor(clock.atSeconds)),
    objections: [
      ...header.faults.map((fault) => `the header part ${fault}`),
      ...[headerFault(header.value) ?? []].flat(),
      ...claims.faults.map((fault) => `the claims part ${fault}`),
      ...claimFaults(claims.value, clock),
      ...(parts[2] === '' ? ['the signature is empty'] : []),
      ...(decodeBase64url(parts[2]) === undefined ? [`the signature part ${NOT_CANONICAL}`] : []),
    ],
  };
}

/** A part that can be read somehow, with what a strict reader objects to; otherwise why not. */
function readPart(part: string): { readonly value: JsonObject; readonly faults: readonly string[] } | string {
  if (!/^[\w+/-]*=*$/.test(part)) return NOT_CANONICAL;
  const bytes = Buffer.from(part, 'base64url');
  const value = readJsonObject(bytes, { lenient: true });
  if (typeof value === 'string') return value;
  const strict = readJsonObject(bytes);
  const encoding = decodeBase64url(part) === undefined ? [NOT_CANONICAL] : [];
  return { value, faults: typeof strict === 'string' ? [...encoding, strict] : encoding };
}

function timesOf(claims: JsonObject, now: number): Inspection['times'] {
  const times: Record<string, TokenTime> = {};
  for (const [name, [before, after]] of Object.entries(RELATIVE)) {
    const [text, ahead] = [utc(claims[name]), Number(claims[name]) - now];
    if (text !== undefined)
      times[name] = { utc: text, relative: (ahead > 0 ? before : after).replace('#', span(ahead)) };
  }
  return times;
}
