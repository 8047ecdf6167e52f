import type { JsonObject } from '../../json.ts';
import { quoted } from '../../text.ts';
import { type Algorithm, algorithmFault, findAlgorithm } from '../algorithms.ts';
import { base64urlFault, decodeBase64url } from '../base64url.ts';
import { readJsonObject } from './strict-json.ts';

/** The checks of a token in the order in which they run; the first that fails is named. */
export type Check = 'format' | 'header' | 'key' | 'signature' | 'claims';

/** What is wrong, and what to do about it. */
export interface Fault {
  readonly reason: string;
  readonly hint?: string;
}

export interface Refusal extends Fault {
  readonly valid: false;
  readonly failedCheck: Check;
}

/** A token whose form and header are sound. Nothing of it is verified. */
export interface StrictToken {
  readonly header: JsonObject;
  readonly algorithm: Algorithm;
  /** What the signature is over. */
  readonly signingInput: string;
  readonly payload: Buffer;
  readonly signature: Buffer;
}

/** The longest token that is looked at, in characters. */
export const LONGEST_TOKEN = 64 * 1024;

const PART_NAMES = ['header', 'claims', 'signature'] as const;

/** A refusal by one check. */
export function refuse(failedCheck: Check, reason: string, hint?: string): Refusal {
  return { valid: false, failedCheck, reason, ...(hint === undefined ? {} : { hint }) };
}

/**
 * Reads a token (JWS compact serialization, RFC 7515 section 7.1) strictly: the checks `format` and `header`.
 */
export function readToken(token: string): StrictToken | Refusal {
  const parts = splitToken(token);
  if ('failedCheck' in parts) return parts;
  for (const [index, part] of parts.entries()) {
    if (decodeBase64url(part) === undefined)
      return refuse('format', `the ${PART_NAMES[index]} part ${base64urlFault(part)}`);
  }
  const [headerPart, payloadPart, signaturePart] = parts;
  const header = readJsonObject(Buffer.from(headerPart, 'base64url'));
  if (typeof header === 'string') return refuse('header', `the header ${header}`);
  const fault = headerFault(header);
  if (fault !== undefined) return refuse('header', fault.reason, fault.hint);
  return {
    header,
    algorithm: findAlgorithm(header.alg as string) as Algorithm,
    signingInput: `${headerPart}.${payloadPart}`,
    payload: Buffer.from(payloadPart, 'base64url'),
    signature: Buffer.from(signaturePart, 'base64url'),
  };
}

/** The three parts of a token, undecoded. */
export function splitToken(token: string): readonly [string, string, string] | Refusal {
  if (token === '') return refuse('format', 'the token is empty');
  if (token.length > LONGEST_TOKEN) return refuse('format', `the token is over ${LONGEST_TOKEN / 1024} KiB long`);
  if (/^(authorization:\s*)?bearer\s/i.test(token)) {
    return refuse('format', 'it is a header, not a token alone', 'leave out everything up to and with "Bearer "');
  }
  if (token.trimStart().startsWith('{')) {
    return refuse('format', 'it is JSON, not the three parts of a token', 'the service takes the compact form only');
  }
  const [header, payload, signature, ...rest] = token.split('.');
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) {
    const count = token.split('.').length;
    const encrypted = count === 5 ? ': five are an encrypted token, which the service does not take' : '';
    return refuse('format', `a token has three parts, this has ${count}${encrypted}`);
  }
  return [header, payload, signature];
}

/** What is wrong with a header: `alg`, then `crit` and `b64`, then the types of the members that are text. */
export function headerFault(header: JsonObject): Fault | undefined {
  const { alg, crit, b64 } = header;
  if (alg === undefined) return { reason: 'the header has no alg' };
  if (typeof alg !== 'string') return { reason: 'alg is not a string' };
  if (findAlgorithm(alg) === undefined) {
    const { reason, hint } = algorithmFault(alg);
    return { reason: `alg is ${quoted(alg)}: ${reason}`, hint };
  }
  if (crit !== undefined) return critFault(crit, header);
  if (b64 !== undefined && b64 !== true)
    return { reason: 'b64 other than true is not for tokens (RFC 7797 section 7)' };
  for (const name of ['kid', 'typ', 'cty']) {
    if (header[name] !== undefined && typeof header[name] !== 'string') return { reason: `${name} is not a string` };
  }
  return undefined;
}

/** Members named by `crit` must be understood (RFC 7515 section 4.1.11), and none is. */
function critFault(crit: unknown, header: JsonObject): Fault {
  if (!Array.isArray(crit) || crit.length === 0 || !crit.every((name) => typeof name === 'string')) {
    return { reason: 'crit is not a list of names' };
  }
  const names = crit.map((name: string) => quoted(name)).slice(0, 5);
  const absent = crit.some((name: string) => !Object.hasOwn(header, name)) ? ', and names what is not there' : '';
  return { reason: `crit asks for ${names.join(', ')}, which the service's tokens do not have${absent}` };
}
