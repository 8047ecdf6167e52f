import { DEEPEST, findJsonFault, isDeeper, isJsonObject, type JsonObject, parseJson } from '../json.ts';
import { quoted } from '../text.ts';
import { type Algorithm, findAlgorithm, NOT_TAKEN } from './algorithms.ts';

/** The checks of a token in the order in which they run; the first that fails is named. */
export type Check = 'format' | 'header' | 'key' | 'signature' | 'claims';

/** What is wrong, and what to do about it. */
export interface Objection {
  readonly reason: string;
  readonly hint?: string;
}

export interface Refusal extends Objection {
  readonly valid: false;
  readonly failedCheck: Check;
}

/** A token whose form and header are sound. Nothing of it is verified. */
export interface StrictToken {
  readonly header: JsonObject;
  readonly algorithm: Algorithm;
  readonly payload: Buffer;
}

/** The longest token that is looked at, in characters. */
export const LONGEST_TOKEN = 64 * 1024;

/** Said of a part that is padded, cut, or has white space or other characters inside. */
export const NOT_CANONICAL = 'is not canonical base64url';
const PART_NAMES = ['header', 'claims', 'signature'] as const;

/** A refusal by one check. */
export function refuse(failedCheck: Check, { reason, hint }: Objection): Refusal {
  return { valid: false, failedCheck, reason, ...(hint === undefined ? {} : { hint }) };
}

/**
 * The bytes of canonical base64url (RFC 7515 section 2, RFC 4648 section 3.5): no padding, no other
 * character, no bits left over. Undefined for anything else; nothing is the encoding of no bytes.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  // The decoder skips and repairs; the encoder writes nothing but the canonical text.
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/**
 * Reads a token (JWS compact serialization, RFC 7515 section 7.1) strictly: the checks `format` and `header`.
 */
export function readToken(token: string): StrictToken | Refusal {
  const parts = splitToken(token);
  if ('failedCheck' in parts) return parts;
  for (const [index, part] of parts.entries()) {
    if (decodeBase64url(part) === undefined)
      return refuse('format', { reason: `the ${PART_NAMES[index]} part ${NOT_CANONICAL}` });
  }
  const header = readJsonObject(Buffer.from(parts[0], 'base64url'));
  if (typeof header === 'string') return refuse('header', { reason: `the header ${header}` });
  const fault = headerFault(header);
  if (fault !== undefined) return refuse('header', fault);
  const algorithm = findAlgorithm(String(header.alg)) as Algorithm;
  return { header, algorithm, payload: Buffer.from(parts[1], 'base64url') };
}

/** The three parts of a token, undecoded. */
export function splitToken(token: string): readonly [string, string, string] | Refusal {
  if (token === '') return refuse('format', { reason: 'the token is empty' });
  if (token.length > LONGEST_TOKEN)
    return refuse('format', { reason: `the token is over ${LONGEST_TOKEN / 1024} KiB long` });
  const [header, payload, signature, ...rest] = token.split('.');
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) {
    return refuse('format', { reason: `a token has three parts, this has ${token.split('.').length}` });
  }
  return [header, payload, signature];
}

/** What is wrong with a header: `alg`, then `crit` and `b64`, then the types of the members that are text. */
export function headerFault(header: JsonObject): Objection | undefined {
  const { alg, crit, b64 } = header;
  if (alg === undefined) return { reason: 'the header has no alg' };
  if (typeof alg !== 'string') return { reason: 'alg is not a string' };
  if (findAlgorithm(alg) === undefined) return { reason: `alg is ${quoted(alg)}: ${NOT_TAKEN}` };
  // Members named by `crit` must be understood (RFC 7515 section 4.1.11), and none is.
  if (crit !== undefined) return { reason: 'crit asks for what the tokens of the service do not have' };
  if (b64 !== undefined && b64 !== true)
    return { reason: 'b64 other than true is not for tokens (RFC 7797 section 7)' };
  const name = ['kid', 'typ', 'cty'].find((each) => header[each] !== undefined && typeof header[each] !== 'string');
  return name === undefined ? undefined : { reason: `${name} is not a string` };
}

/**
 * Reads a JSON object as strictly as a signed text deserves: UTF-8 without a byte-order mark, and no
 * member twice at any depth (RFC 7515 section 4, RFC 7519 section 4), because readers differ in which
 * one they take. A string is the reason why not, as the end of a sentence; it quotes nothing of the
 * text but names.
 */
export function readJsonObject(bytes: Uint8Array): JsonObject | string {
  const text = decodeUtf8(bytes);
  if (text === undefined) return 'is not UTF-8';
  if (text.startsWith('\ufeff')) return 'begins with a byte-order mark';
  return structureFault(text) ?? objectIn(text);
}

/** As {@link readJsonObject}, for a look at what can't be trusted anyway: the last of two members counts. */
export function readJsonObjectLeniently(bytes: Uint8Array): JsonObject | string {
  const text = decodeUtf8(bytes);
  return text === undefined ? 'is not UTF-8' : objectIn(text.replace(/^\ufeff/, ''));
}

/** Why a JSON text is refused: it is none, or has a member twice, or nests beyond reason. */
export function structureFault(json: string): string | undefined {
  const fault = findJsonFault(json);
  if (fault?.kind === 'twice') return `has the member ${quoted(fault.path.at(-1) ?? '')} twice`;
  return fault && (fault.kind === 'syntax' ? NOT_JSON : TOO_DEEP);
}

const NOT_JSON = 'is not JSON';
const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;

function objectIn(text: string): JsonObject | string {
  const value = parseJson(text);
  if (value === undefined) return NOT_JSON;
  if (!isJsonObject(value)) return 'is not a JSON object';
  return isDeeper(value) ? TOO_DEEP : value;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
