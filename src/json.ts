// `findJsonFault` checks JSON, and says what is wrong, and where. It is stricter than JSON.parse, which accepts
// duplicate members and any depth. It does not return the value, so callers that need it parse the text as well. Where
// leniency does no harm, `parseJson` is used alone.

export type JsonObject = Readonly<Record<string, unknown>>;

interface JsonFault {
  readonly kind: 'syntax' | 'too deep' | 'duplicate';
  /** The index of the fault in the text, in UTF-16 units. */
  readonly at: number;
  /**
   * The member names and array indexes from the outermost value to the fault. Use it for a duplicate only: elsewhere it
   * may end in the member before the fault, or in an empty name.
   */
  readonly path: readonly string[];
}

/** A value with more levels of nesting is refused, because recursion over it could overflow the stack. */
export const MAX_DEPTH = 100;

/**
 * In this order: a bracket, comma or colon; a run of other characters, such as a number or `true`; the quote that begins a
 * string; the end of the text, as an empty match. White space matches none of these, so `exec` skips it. A run may be
 * anything, so it is a valid value only if {@link SCALAR} matches it.
 */
const TOKEN = /[{}[\],:]|[^ \t\n\r"{}[\],:]+|"|$/g;
const PIECE_OF_STRING = /[ !#-[\]-\uffff]+|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
// These may use `.*` between the quotes, because only a valid string can be a token with two quotes.
const STRING = /^".*"$/s;
const SCALAR = /^(?:".*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/s;

/** Returns undefined if the text is not JSON. If two members have the same name, the last one wins. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For a value that was parsed without `findJsonFault`. This function itself recurses no deeper than MAX_DEPTH. */
export function exceedsDepth(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => exceedsDepth(member, levels - 1));
}

/** What must come next. A `first` one follows an opening bracket, so the closing bracket may come instead. */
type Expected = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma';

interface Container {
  readonly close: ']' | '}';
  /** The name or index of the current member. */
  position: string | number;
  readonly names: Set<string>;
}

/** Returns the members of an object, duplicates included. The values stay JSON, with numbers as they are written. */
export function splitMembers(objectJson: string): readonly (readonly [name: string, json: string])[] {
  const members: [name: string, json: string][] = [];
  let [depth, name, start] = [0, '', 0];
  for (const { token, index } of tokensOf(objectJson)) {
    if (token === '') break;
    if (depth === 1 && start === 0 && STRING.test(token)) name = JSON.parse(token);
    if (depth === 1 && token === ':') start = index + 1;
    if (depth === 1 && start > 0 && (token === ',' || token === '}')) {
      members.push([name, objectJson.slice(start, index).trim()]);
      start = 0;
    }
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
  }
  return members;
}

/**
 * Returns the first syntax error (RFC 8259), duplicate member, or level beyond {@link MAX_DEPTH}, or undefined.
 * Duplicate members are refused because other readers may take the first instead of the last (RFC 8259, section 4).
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: Container[] = [];
  let expected: Expected = 'value';
  for (const { token, index } of tokensOf(text)) {
    const innermost = open.at(-1);
    const fault = (kind: JsonFault['kind']) => ({ kind, at: index, path: open.map(({ position }) => `${position}`) });
    // After the outermost value, nothing but the end may come.
    if (innermost === undefined && expected === 'comma') return token === '' ? undefined : fault('syntax');
    if (token === innermost?.close && (expected === 'comma' || expected.startsWith('first '))) {
      open.pop();
      expected = 'comma';
    } else if (innermost !== undefined && expected === 'comma' && token === ',') {
      if (typeof innermost.position === 'number') innermost.position += 1;
      expected = innermost.close === '}' ? 'name' : 'value';
    } else if (expected === 'colon' && token === ':') expected = 'value';
    else if (innermost !== undefined && expected.endsWith('name') && STRING.test(token)) {
      // Parsed, because "a" and "\u0061" are the same name.
      innermost.position = String(JSON.parse(token));
      if (innermost.names.has(innermost.position)) return fault('duplicate');
      innermost.names.add(innermost.position);
      expected = 'colon';
    } else if (expected.endsWith('value')) {
      if (token === '{' || token === '[') {
        if (open.length === MAX_DEPTH) return fault('too deep');
        open.push({ close: token === '{' ? '}' : ']', position: token === '{' ? '' : 0, names: new Set() });
        expected = token === '{' ? 'first name' : 'first value';
      } else if (SCALAR.test(token)) expected = 'comma';
      else return fault('syntax');
    } else return fault('syntax');
  }
  return undefined;
}

/**
 * Never ends: the last token, which is empty, comes again and again. A string with a fault is only its first quote. A
 * string is matched in pieces, because V8 keeps a place on a stack for each repetition of a group, and overflows it after
 * some millions.
 */
function* tokensOf(text: string) {
  const [tokens, pieces] = [new RegExp(TOKEN), new RegExp(PIECE_OF_STRING)];
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    const { 0: token, index } = match;
    let end = tokens.lastIndex;
    if (token === '"') {
      for (pieces.lastIndex = end; pieces.test(text); ) end = pieces.lastIndex;
      if (text[end] === '"') tokens.lastIndex = end + 1;
    }
    yield { token: text.slice(index, tokens.lastIndex), index };
  }
}
