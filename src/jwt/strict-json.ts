import { DEEPEST, findJsonFault, isDeeper, isJsonObject, type JsonObject, parseJson } from '../json.ts';
import { quoted } from '../text.ts';

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
