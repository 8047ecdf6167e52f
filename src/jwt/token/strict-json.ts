import { quoted } from '../../text.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Deeper nesting serves nobody, and overflows the stack of whoever walks it. */
const DEEPEST = 100;

/**
 * Reads a JSON object as strictly as a signed text deserves: UTF-8 without a byte-order mark, and no
 * member twice at any depth (RFC 7515 section 4, RFC 7519 section 4), because readers differ in which
 * one they take. A string is the reason why not, as the end of a sentence; it never quotes the text.
 */
export function readJsonObject(bytes: Uint8Array): JsonObject | string {
  const text = decodeUtf8(bytes);
  if (text === undefined) return 'is not UTF-8';
  if (text.startsWith('\ufeff')) return 'begins with a byte-order mark';
  const value = parseObject(text);
  return typeof value === 'string' ? value : (structureFault(text) ?? value);
}

/** As {@link readJsonObject}, for a look at what can't be trusted anyway: the last of two members counts. */
export function readJsonObjectLeniently(bytes: Uint8Array): JsonObject | string {
  const text = decodeUtf8(bytes);
  if (text === undefined) return 'is not UTF-8';
  const bare = text.replace(/^\ufeff/, '');
  const value = parseObject(bare);
  return typeof value === 'string' || depth(bare) <= DEEPEST ? value : TOO_DEEP;
}

/** Why valid JSON is refused still: a member twice, or nesting beyond reason. */
export function structureFault(json: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let nameIsNext = false;
  for (const token of tokens(json)) {
    const names = open.at(-1);
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined);
      if (open.length > DEEPEST) return TOO_DEEP;
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (nameIsNext && names !== undefined) {
      const name = JSON.parse(token) as string;
      if (names.has(name)) return `has the member ${quoted(name)} twice`;
      names.add(name);
    }
    nameIsNext = token === '{' || token === ',';
  }
  return undefined;
}

const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parseObject(text: string): JsonObject | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // V8's message quotes the text, which may be a key.
    return 'is not JSON';
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  return 'is not a JSON object';
}

/** The strings and structural characters of valid JSON, in order. */
function tokens(json: string): string[] {
  return json.match(/"(?:[^"\\]+|\\.)*"|[{}[\],]/g) ?? [];
}

function depth(json: string): number {
  let level = 0;
  let deepest = 0;
  for (const token of tokens(json)) {
    if (token === '{' || token === '[') deepest = Math.max(deepest, ++level);
    else if (token === '}' || token === ']') level--;
  }
  return deepest;
}
