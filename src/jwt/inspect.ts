import type { JsonObject } from '../json.ts';
import { span } from '../text.ts';
import { type Clock, claimFaults, utc } from './claims.ts';
import {
  decodeBase64url,
  type Fault,
  headerFault,
  NOT_CANONICAL,
  type Refusal,
  readJsonObject,
  readJsonObjectLeniently,
  refuse,
  splitToken,
} from './strict-token.ts';

export interface TokenTime {
  readonly claim: string;
  /** RFC 3339. */
  readonly utc: string;
  /** `expired 3 h ago`. */
  readonly relative: string;
}

/** What a token says of itself. Nothing of it is verified. */
export interface Inspection {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  readonly times: readonly TokenTime[];
  /** What the service would object to, short of the signature. */
  readonly objections: readonly Fault[];
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
    times: ['iat', 'nbf', 'exp'].flatMap((claim) => tokenTime(claim, claims.value[claim], clock.atSeconds) ?? []),
    objections: [
      ...header.objections,
      ...[headerFault(header.value) ?? []].flat(),
      ...claims.objections,
      ...claimFaults(claims.value, clock),
      ...signatureObjections(parts[2]),
    ],
  };
}

interface ReadPart {
  readonly value: JsonObject;
  readonly objections: readonly Fault[];
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

function signatureObjections(part: string): readonly Fault[] {
  if (part === '') return [{ reason: 'the signature is empty' }];
  return decodeBase64url(part) === undefined ? [{ reason: `the signature part ${NOT_CANONICAL}` }] : [];
}

function tokenTime(claim: string, seconds: unknown, atSeconds: number): TokenTime | undefined {
  if (typeof seconds !== 'number') return undefined;
  const text = utc(seconds);
  if (text === undefined) return undefined;
  return { claim, utc: text, relative: relative(claim, seconds - Math.floor(atSeconds)) };
}

/** @param ahead seconds from now until then */
function relative(claim: string, ahead: number): string {
  const distance = span(ahead);
  if (claim === 'exp') return ahead > 0 ? `expires in ${distance}` : `expired ${distance} ago`;
  if (claim === 'nbf') return ahead > 0 ? `not valid for another ${distance}` : `valid since ${distance} ago`;
  return ahead > 0 ? `issued in ${distance}: in the future` : `issued ${distance} ago`;
}
