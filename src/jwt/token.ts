// Splits and decodes a token. Takes a text and gives header, algorithm and payload, or the check that fails. Stricter
// than most readers, because a token that two readers understand differently is dangerous.
import { findJsonFault, isDeeper, isJsonObject, type JsonObject, MAX_DEPTH, parseJson } from '../json.ts';
import { quoted } from '../text.ts';
import { ALGORITHM, type Algorithm } from './algorithms.ts';
import { findWrapping } from './bare-token.ts';

/** The checks of a token, in the order in which they run. */
export type Check = 'format' | 'header' | 'key' | 'signature' | 'claims';

export interface Refusal {
  readonly valid: false;
  readonly failedCheck: Check;
  readonly reason: string;
  readonly hint?: string | undefined;
}

/** The length of the longest token, in characters. */
export const MAX_TOKEN = 64 * 1024;

/** The reason for padding, unused bits that are not zero, or other characters. */
export const NOT_CANONICAL = 'is not canonical base64url';
const PART_NAMES = ['header', 'claims', 'signature'] as const;

export function refuse(failedCheck: Check, reason: string, hint?: string): Refusal {
  return { valid: false, failedCheck, reason, ...(hint !== undefined && { hint }) };
}

/**
 * Returns the bytes of canonical base64url, otherwise undefined (RFC 7515, section 2; RFC 4648, section 3.5). Canonical
 * means without padding, without other characters, and with unused bits of zero.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  // The decoder of Node skips and repairs faults, but its encoder writes only canonical text.
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** Reads a JWS in compact serialization (RFC 7515, section 7.1) by the checks `format` and `header`. */
export function readToken(token: string): { header: JsonObject; algorithm: Algorithm; payload: Buffer } | Refusal {
  const parts = splitToken(token);
  if ('failedCheck' in parts) return parts;
  const decoded = parts.map(decodeBase64url);
  const unsound = decoded.indexOf(undefined);
  if (unsound >= 0) return refuse('format', `the ${PART_NAMES[unsound]} part ${NOT_CANONICAL}`);
  const [head, payload] = decoded as [Buffer, Buffer];
  const header = readJsonObject(head);
  if (typeof header === 'string') return refuse('header', `the header ${header}`);
  const fault = headerFault(header);
  if (fault !== undefined) return refuse('header', fault);
  return { header, algorithm: ALGORITHM.parse(String(header.alg)) as Algorithm, payload };
}

/** Returns the three parts of a token without decoding them. */
export function splitToken(token: string): readonly [string, string, string] | Refusal {
  if (token === '') return refuse('format', 'the token is empty');
  if (token.length > MAX_TOKEN) return refuse('format', `the token is over ${MAX_TOKEN / 1024} KiB long`);
  const wrapping = findWrapping(token);
  if (wrapping)
    return refuse('format', `it ${wrapping.reason}`, `to keep only the token, pipe it through: ${wrapping.filter}`);
  const parts = token.split('.');
  if (parts.length !== 3) return refuse('format', `a token has three parts, this has ${parts.length}`);
  return parts as [string, string, string];
}

/** Returns the claim `exp` of a token that may be of any kind, in seconds since the epoch, or undefined. */
export function expiryOf(token: string): number | undefined {
  const claims = readJsonObject(Buffer.from(token.split('.')[1] ?? '', 'base64url'), { lenient: true });
  return typeof claims === 'object' && typeof claims.exp === 'number' ? claims.exp : undefined;
}

/** Returns the first fault of a header, or undefined: `alg`, then `crit` and `b64`, then the types of other members. */
function headerFault(header: JsonObject): string | undefined {
  const { alg, crit, b64 } = header;
  if (alg === undefined) return 'the header has no alg';
  if (typeof alg !== 'string') return 'alg is not a string';
  if (ALGORITHM.parse(alg) === undefined) return `alg is ${quoted(alg)}: the service does not accept that algorithm`;
  // Members that `crit` names must be understood (RFC 7515, section 4.1.11). This program understands none.
  if (crit !== undefined) return 'crit asks for what the tokens of the service do not have';
  if (b64 !== undefined && b64 !== true) return 'b64 other than true is not for tokens (RFC 7797 section 7)';
  return textFault(header, ['kid', 'typ', 'cty']);
}

/** Returns which of these members is present and not a string, or undefined. */
export function textFault(object: JsonObject, names: readonly string[]): string | undefined {
  const name = names.find((each) => object[each] !== undefined && typeof object[each] !== 'string');
  return name === undefined ? undefined : `${name} is not a string`;
}

/**
 * Returns a JSON object, or a string that says why there is none, as the end of a sentence that quotes only names. The
 * text must be UTF-8 without a byte-order mark, and no object may have duplicate members (RFC 7515, section 4), because
 * readers differ in which one counts. `lenient` accepts these faults, for a text that is only shown.
 */
export function readJsonObject(bytes: Uint8Array, { lenient = false } = {}): JsonObject | string {
  const text = decodeUtf8(bytes);
  if (text === undefined) return 'is not UTF-8';
  if (!lenient && text.startsWith('\ufeff')) return 'begins with a byte-order mark';
  const fault = lenient ? undefined : findJsonFault(text);
  if (fault?.kind === 'twice') return `has the member ${quoted(fault.path.at(-1) ?? '')} twice`;
  const value = parseJson(text.replace(/^\ufeff/, ''));
  if (value === undefined) return 'is not JSON';
  if (!isJsonObject(value)) return 'is not a JSON object';
  return isDeeper(value) ? `is nested more than ${MAX_DEPTH} levels deep` : value;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
