import type { JsonObject } from '../json.ts';
import { span } from '../text.ts';
import { type Clock, claimFaults, utc } from './claims.ts';
import {
  decodeBase64url,
  headerFault,
  NOT_CANONICAL,
  type Objection,
  type Refusal,
  readJsonObject,
  readJsonObjectLeniently,
  refuse,
  splitToken,
} from './strict-token.ts';

/** A date as RFC 3339, and from now: `expired 3 h ago`. */
export interface TokenTime {
  readonly claim: string;
  readonly utc: string;
  readonly relative: string;
}

/** What is said of a date to come, and of one that is over. */
const RELATIVE: Readonly<Record<string, readonly [string, string]>> = {
  iat: ['issued in #: in the future', 'issued # ago'],
  nbf: ['not valid for another #', 'valid since # ago'],
  exp: ['expires in #', 'expired # ago'],
};

/** What a token says of itself. Nothing of it is verified. */
export interface Inspection {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  readonly times: readonly TokenTime[];
  /** What the service would object to, short of the signature. */
  readonly objections: readonly Objection[];
}

/** Reads whatever has a readable header and claims, sloppily encoded or forged too; anything else is refused as `format`. */
export function inspectToken(token: string, clock: Clock): Inspection | Refusal {
  const parts = splitToken(token);
  if ('failedCheck' in parts) return parts;
  const [header, claims] = [readPart(parts[0], 'header'), readPart(parts[1], 'claims')];
  if (typeof header === 'string') return refuse('format', { reason: header });
  if (typeof claims === 'string') return refuse('format', { reason: claims });
  return {
    header: header.value,
    claims: claims.value,
    times: Object.keys(RELATIVE).flatMap((claim) => tokenTime(claim, claims.value[claim], clock.atSeconds) ?? []),
    objections: [
      ...header.objections,
      ...[headerFault(header.value) ?? []].flat(),
      ...claims.objections,
      ...claimFaults(claims.value, clock),
      ...(parts[2] === '' ? [{ reason: 'the signature is empty' }] : []),
      ...(decodeBase64url(parts[2]) === undefined ? [{ reason: `the signature part ${NOT_CANONICAL}` }] : []),
    ],
  };
}

interface ReadPart {
  readonly value: JsonObject;
  readonly objections: readonly Objection[];
}

function readPart(part: string, name: string): ReadPart | string {
  if (!/^[\w+/-]*=*$/.test(part)) return `the ${name} part ${NOT_CANONICAL}`;
  const bytes = Buffer.from(part, 'base64url');
  const value = readJsonObjectLeniently(bytes);
  if (typeof value === 'string') return `the ${name} part ${value}`;
  const strict = readJsonObject(bytes);
  const encoding = decodeBase64url(part) === undefined ? [NOT_CANONICAL] : [];
  const structure = typeof strict === 'string' ? [strict] : [];
  return { value, objections: [...encoding, ...structure].map((fault) => ({ reason: `the ${name} part ${fault}` })) };
}

function tokenTime(claim: string, seconds: unknown, atSeconds: number): TokenTime | undefined {
  const text = utc(seconds);
  if (text === undefined) return undefined;
  const ahead = Number(seconds) - Math.floor(atSeconds);
  const [before, after] = RELATIVE[claim] ?? ['', ''];
  return { claim, utc: text, relative: (ahead > 0 ? before : after).replace('#', span(ahead)) };
}
