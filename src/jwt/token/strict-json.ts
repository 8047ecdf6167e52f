import { readJson } from '../../json/read.ts';
import type { JsonFault, JsonRules } from '../../json/reader.ts';
import { isJsonObject, type JsonObject } from '../../json/value.ts';
import { quoted } from '../../text.ts';

/** Deeper nesting serves nobody. */
const DEEPEST = 100;
const STRICT: JsonRules = { deepest: DEEPEST, twice: 'refused', numbers: 'exact' };

/**
 * Reads a JSON object as strictly as a signed text deserves: UTF-8 without a byte-order mark, and no
 * member twice at any depth (RFC 7515 section 4, RFC 7519 section 4), because readers differ in which
 * one they take. Numbers stay as they are written. A string is the reason why not, as the end of a
 * sentence; it quotes nothing of the text but names.
 */
export function readJsonObject(bytes: Uint8Array): JsonObject | string {
  const text = decodeUtf8(bytes);
  if (text === undefined) return 'is not UTF-8';
  if (text.startsWith('\ufeff')) return 'begins with a byte-order mark';
  return objectIn(text, STRICT);
}

/** As {@link readJsonObject}, for a look at what can't be trusted anyway: the last of two members counts. */
export function readJsonObjectLeniently(bytes: Uint8Array): JsonObject | string {
  const text = decodeUtf8(bytes);
  return text === undefined ? 'is not UTF-8' : objectIn(text.replace(/^\ufeff/, ''), { ...STRICT, twice: 'last' });
}

/** Why a JSON text is refused: it is none, or has a member twice, or nests beyond reason. */
export function structureFault(json: string): string | undefined {
  const { fault } = readJson(json, STRICT);
  return fault === undefined ? undefined : wordsOf(fault);
}

function objectIn(text: string, rules: JsonRules): JsonObject | string {
  const { value, fault } = readJson(text, rules);
  if (fault !== undefined) return wordsOf(fault);
  return isJsonObject(value) ? value : 'is not a JSON object';
}

function wordsOf({ kind, path }: JsonFault): string {
  if (kind === 'twice') return `has the member ${quoted(path.at(-1) ?? '')} twice`;
  return kind === 'syntax' ? 'is not JSON' : `is nested more than ${DEEPEST} levels deep`;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
