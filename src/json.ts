// Checks JSON more strictly than JSON.parse, which accepts duplicate members and any depth, and tells what is
// wrong where.

export type JsonObject = Readonly<Record<string, unknown>>;

interface JsonFault {
  readonly kind: 'syntax' | 'too deep' | 'duplicate';
  /** The index of the fault in the text, in UTF-16 units. */
  readonly at: number;
  /** The member names and array indexes from the outermost value to the fault. */
  readonly path: readonly string[];
}

/** A value with more levels of nesting is refused, because recursion over it could overflow the stack. */
export const MAX_DEPTH = 100;

/**
 * A valid string, a bracket, comma or colon, a run of other characters, the quote of an invalid string, or the end of
 * the text as an empty match. Only a token that {@link SCALAR} or {@link STRING} matches is valid where a value or a
 * name may stand.
 */
const TOKEN =
  /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*"|[{}[\],:]|[^ \t\n\r"{}[\],:]+|"|$/g;
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

export function exceedsDepth(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => exceedsDepth(member, levels - 1));
}

/** What must come next. `first` follows an opening bracket, where the closing one may come as well. */
type Expected = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma';

/** An array or object that is not closed yet. */
interface Container {
  readonly close: ']' | '}';
  /** The name or index of the current member. */
  position: string | number;
  /** The names of all members so far. */
  readonly names: Set<string>;
}

/**
 * Returns the first syntax error (RFC 8259), duplicate member, or level beyond {@link MAX_DEPTH}, or undefined.
 * Duplicate members are refused because other readers may take the first instead of the last (RFC 8259, section 4).
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: Container[] = [];
  let expected: Expected = 'value';
  for (const { 0: word, index } of text.matchAll(TOKEN)) {
    const innermost = open.at(-1);
    const fault = (kind: JsonFault['kind']) => ({ kind, at: index, path: open.map(({ position }) => `${position}`) });
    if (innermost === undefined && expected === 'comma') return word === '' ? undefined : fault('syntax');
    if (word === innermost?.close && (expected === 'comma' || expected.startsWith('first '))) {
      open.pop();
      expected = 'comma';
    } else if (innermost !== undefined && expected === 'comma' && word === ',') {
      if (typeof innermost.position === 'number') innermost.position += 1;
      expected = innermost.close === '}' ? 'name' : 'value';
    } else if (expected === 'colon' && word === ':') expected = 'value';
    else if (innermost !== undefined && expected.endsWith('name') && STRING.test(word)) {
      innermost.position = String(JSON.parse(word));
      if (innermost.names.has(innermost.position)) return fault('duplicate');
      innermost.names.add(innermost.position);
      expected = 'colon';
    } else if (expected.endsWith('value')) {
      if (word === '{' || word === '[') {
        if (open.length === MAX_DEPTH) return fault('too deep');
        open.push({ close: word === '{' ? '}' : ']', position: word === '{' ? '' : 0, names: new Set() });
        expected = word === '{' ? 'first name' : 'first value';
      } else if (SCALAR.test(word)) expected = 'comma';
      else return fault('syntax');
    } else return fault('syntax');
  }
  return undefined;
}
