// Splits and decodes a token, without verifying it. `readToken` is stricter than most libraries, because an attacker
// can exploit a token that two programs understand differently. `readExpiry` is lenient. `readJsonObject` also
// reads JWKs.
import { exceedsDepth, findJsonFault, isJsonObject, type JsonObject, MAX_DEPTH, parseJson } from '../json.ts';
import { quoted } from '../text.ts';
import { ALGORITHM, type Algorithm } from './algorithms.ts';
import { findWrapping } from './bare-token.ts';

const TOO_DEEP = `is nested more than ${MAX_DEPTH} levels deep`;

/** The checks of a token, in the order in which they run. */
export type Check = 'format' | 'header' | 'key' | 'signature' | 'claims';

/** Why a token was refused. Returned and not thrown, because `token verify` and `serve` report it differently. */
export interface Refusal {
  readonly valid: false;
  readonly failedCheck: Check;
  readonly reason: string;
  readonly hint?: string | undefined;
}

/** In characters. A longer token is refused before it is decoded. */
export const MAX_TOKEN_LENGTH = 64 * 1024;

/** The end of a sentence about a part that {@link decodeBase64url} rejects. */
export const NOT_CANONICAL = 'is not canonical base64url';
/** In the order in which a token has these parts. */
const PART_NAMES = ['header', 'claims', 'signature'] as const;

export function refuse(failedCheck: Check, reason: string, hint?: string): Refusal {
  return { valid: false, failedCheck, reason, ...(hint !== undefined && { hint }) };
}

/**
 * Returns the bytes of base64url. Returns undefined if the text is not canonical, which means that it has padding or
 * other characters (RFC 7515, section 2), or that its unused bits are not zero (RFC 4648, section 3.5).
 */
export function decodeBase64url(text: string): Buffer | undefined {
  // Node's decoder ignores faults, but its encoder writes only canonical text.
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/**
 * Reads a JWS in compact serialization (RFC 7515, section 7.1). Refuses it with `format` or `header`. The payload is
 * not parsed, because the claims are checked last.
 */
export function readToken(token: string): { header: JsonObject; algorithm: Algorithm; payload: Buffer } | Refusal {
  const parts = splitToken(token);
  if ('failedCheck' in parts) return parts;
  const decoded = parts.map(decodeBase64url);
  const malformed = decoded.indexOf(undefined);
  if (malformed >= 0) return refuse('format', `the ${PART_NAMES[malformed]} part ${NOT_CANONICAL}`);
  const [head, payload] = decoded as [Buffer, Buffer];
  const header = readJsonObject(head);
  if (typeof header === 'string') return refuse('header', `the header ${header}`);
  const fault = findHeaderFault(header);
  if (fault !== undefined) return refuse('header', fault);
  // `findHeaderFault` has made sure that the algorithm is known.
  return { header, algorithm: ALGORITHM.parse(String(header.alg)) as Algorithm, payload };
}

/** Returns the three parts of a token without decoding them. Refuses it with `format`. */
export function splitToken(token: string): readonly [string, string, string] | Refusal {
  if (token === '') return refuse('format', 'the token is empty');
  if (token.length > MAX_TOKEN_LENGTH) return refuse('format', `the token is over ${MAX_TOKEN_LENGTH / 1024} KiB long`);
  // Text around the token, such as quotes or `Bearer`.
  const wrapping = findWrapping(token);
  if (wrapping)
    return refuse('format', `it ${wrapping.reason}`, `to keep only the token, pipe it through: ${wrapping.filter}`);
  const parts = token.split('.');
  if (parts.length !== 3) return refuse('format', `a token has three parts, this has ${parts.length}`);
  return parts as [string, string, string];
}

/**
 * Returns the claim `exp` in seconds since the epoch, or undefined if the token has none or cannot be decoded. It
 * serves to report an expired token before it is sent. A token that cannot be decoded is left to the service.
 */
export function readExpiry(token: string): number | undefined {
  const claims = readJsonObject(Buffer.from(token.split('.')[1] ?? '', 'base64url'), { lenient: true });
  return typeof claims === 'object' && typeof claims.exp === 'number' ? claims.exp : undefined;
}

/** Returns why a header is refused, or undefined. */
function findHeaderFault(header: JsonObject): string | undefined {
  const { alg, crit, b64 } = header;
  if (alg === undefined) return 'the header has no alg';
  if (typeof alg !== 'string') return 'alg is not a string';
  if (ALGORITHM.parse(alg) === undefined) return `alg is ${quoted(alg)}: the service does not accept that algorithm`;
  // A token must be refused if its `crit` lists an extension that the reader does not support (RFC 7515, section
  // 4.1.11). This program supports no extension.
  if (crit !== undefined) return 'crit asks for extensions that this program does not support';
  if (b64 !== undefined && b64 !== true) return 'b64 must be true in a JWT (RFC 7797, section 7)';
  return findNonString(header, ['kid', 'typ', 'cty']);
}

/** Returns a fault if one of these members is present and not a string. */
export function findNonString(object: JsonObject, names: readonly string[]): string | undefined {
  const name = names.find((each) => object[each] !== undefined && typeof object[each] !== 'string');
  return name === undefined ? undefined : `${name} is not a string`;
}

/**
 * Returns the JSON object of a header, of claims or of a JWK. If it is refused, returns the reason, as the end of a
 * sentence, which quotes names but no values, because a value may be secret. Duplicate members are refused (section 4
 * of RFC 7515, 7517 and 7519), because libraries differ in which of two they use. So is a byte-order mark, which JSON
 * must not begin with (RFC 8259, section 8.1). `lenient` accepts both, for a token that is only shown or sent.
 */
export function readJsonObject(bytes: Uint8Array, { lenient = false } = {}): JsonObject | string {
  const text = decodeUtf8(bytes);
  if (text === undefined) return 'is not UTF-8';
  if (!lenient && text.startsWith('\ufeff')) return 'begins with a byte-order mark';
  const fault = lenient ? undefined : findJsonFault(text);
  // `exceedsDepth` below is not enough. `findJsonFault` stops at its first fault, here a level that is too deep. If a
  // duplicate of the deep member follows, JSON.parse keeps only the duplicate, and neither fault would be found.
  if (fault?.kind === 'too deep') return TOO_DEEP;
  if (fault?.kind === 'duplicate') return `has the member ${quoted(fault.path.at(-1) ?? '')} twice`;
  const value = parseJson(text.replace(/^\ufeff/, ''));
  if (value === undefined) return 'is not JSON';
  if (!isJsonObject(value)) return 'is not a JSON object';
  return exceedsDepth(value) ? TOO_DEEP : value;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    // Despite its name, `ignoreBOM: true` keeps a byte-order mark in the text.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
