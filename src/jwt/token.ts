// `readToken` is stricter than most libraries, because an attacker can exploit a token that two programs understand
// differently. `readExpiry` is lenient.
import { isUtf8 } from 'node:buffer';
import { FilingsError, type TokenCheck } from '../errors.ts';
import { isJsonObject, type JsonObject, parseStrictly, TOO_DEEP } from '../json.ts';
import { quoted } from '../text.ts';
import { ALGORITHM, type Algorithm } from './algorithms.ts';
import { findWrapping } from './bare-token.ts';

/** In characters. A longer token is refused before it is decoded. */
const MAX_TOKEN_LENGTH = 64 * 1024;

const FILE_HINT = 'if you passed the name of a file, pass its contents instead: - < FILE';
export const NOT_CANONICAL = 'is not canonical base64url';
const PART_NAMES = ['header', 'claims', 'signature'] as const;

export function tokenError(check: TokenCheck, reason: string, ownHint?: string): FilingsError {
  const subject = { name: `the token is not valid (${check})` };
  const hint = ownHint ?? (check === 'format' ? FILE_HINT : undefined);
  return new FilingsError('auth', reason, { subject, subcode: check, hint });
}

/**
 * Returns undefined if the text has padding or other characters (RFC 7515, section 2), or if its unused bits are not
 * zero (RFC 4648, section 3.5).
 */
export function decodeBase64url(text: string): Buffer | undefined {
  // Node's decoder ignores faults, but its encoder writes only canonical text.
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/**
 * A JWS in compact serialization (RFC 7515, section 7.1). The payload is not parsed, because the claims are checked
 * last.
 */
export function readToken(token: string): { algorithm: Algorithm; payload: Buffer } {
  const decoded = splitToken(token).map(decodeBase64url);
  const malformed = decoded.indexOf(undefined);
  if (malformed >= 0) throw tokenError('format', `the ${PART_NAMES[malformed]} part ${NOT_CANONICAL}`);
  const [head, payload] = decoded as [Buffer, Buffer];
  const header = readJsonObject(head, (fault) => tokenError('header', `the header ${fault}`));
  const fault = findHeaderFault(header);
  if (fault !== undefined) throw tokenError('header', fault);
  return { algorithm: ALGORITHM.parse(String(header.alg)) as Algorithm, payload };
}

export function readPayload(payload: Buffer): JsonObject {
  return readJsonObject(payload, (fault) => tokenError('claims', `the payload ${fault}`));
}

/** Does not decode the parts. */
export function splitToken(token: string): readonly [string, string, string] {
  if (token === '') throw tokenError('format', 'the token is empty');
  if (token.length > MAX_TOKEN_LENGTH)
    throw tokenError('format', `the token is over ${MAX_TOKEN_LENGTH / 1024} KiB long`);
  const wrapping = findWrapping(token);
  if (wrapping)
    throw tokenError('format', `it ${wrapping.reason}`, `to keep only the token, pipe it through: ${wrapping.filter}`);
  const parts = token.split('.');
  if (parts.length !== 3) throw tokenError('format', `a token has three parts, this has ${parts.length}`);
  return parts as [string, string, string];
}

/**
 * In seconds since the epoch, to report an expired token before it is sent. A token that cannot be decoded is left to
 * the service.
 */
export function readExpiry(token: string): number | undefined {
  const claims = parseObject(Buffer.from(token.split('.')[1] ?? '', 'base64url'), true);
  return typeof claims === 'object' && typeof claims.exp === 'number' ? claims.exp : undefined;
}

function findHeaderFault(header: JsonObject): string | undefined {
  const { alg, crit, b64 } = header;
  if (alg === undefined) return 'the header has no alg';
  if (typeof alg !== 'string') return 'alg is not a string';
  if (ALGORITHM.parse(alg) === undefined) return `alg is ${quoted(alg)}: the service does not accept that algorithm`;
  // An unsupported extension must be refused (RFC 7515, section 4.1.11), and this program supports none.
  if (crit !== undefined) return 'crit asks for extensions that this program does not support';
  if (b64 !== undefined && b64 !== true) return 'b64 must be true in a JWT (RFC 7797, section 7)';
  return findNonString(header, ['kid', 'typ', 'cty']);
}

export function findNonString(object: JsonObject, names: readonly string[]): string | undefined {
  const name = names.find((each) => object[each] !== undefined && typeof object[each] !== 'string');
  return name === undefined ? undefined : `${name} is not a string`;
}

/**
 * `fault` quotes names but no values, because a value may be secret. Duplicate members are refused (section 4 of RFC
 * 7515, 7517 and 7519), because libraries differ in which of two they use. So is a byte-order mark, which JSON must not
 * begin with (RFC 8259, section 8.1). `lenient` accepts both, for a token that is only shown or sent.
 */
export function readJsonObject(bytes: Buffer, toError: (fault: string) => FilingsError, lenient = false) {
  const value = parseObject(bytes, lenient);
  if (typeof value === 'string') throw toError(value);
  return value;
}

function parseObject(bytes: Buffer, lenient: boolean): JsonObject | string {
  if (!isUtf8(bytes)) return 'is not UTF-8';
  const text = bytes.toString();
  if (!lenient && text.startsWith('\ufeff')) return 'begins with a byte-order mark';
  const { value, fault } = parseStrictly(text.replace(/^\ufeff/, ''));
  if (fault?.kind === 'too deep') return TOO_DEEP;
  if (fault?.kind === 'syntax') return 'is not JSON';
  if (fault && !lenient) return `has the member ${quoted(fault.path?.at(-1) ?? '')} twice`;
  return isJsonObject(value) ? value : 'is not a JSON object';
}
