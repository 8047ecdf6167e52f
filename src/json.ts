// Checks JSON more strictly than JSON.parse, which accepts duplicate members, and says where a fault is.

export type JsonObject = Readonly<Record<string, unknown>>;

interface JsonFault {
  readonly kind: 'syntax' | 'too deep' | 'twice';
  /** The index of the fault in the text, in UTF-16 units. */
  readonly at: number;
  /** The member names and array indexes that lead to the fault. */
  readonly path: readonly string[];
}

/** The most levels of nesting that are read. */
export const MAX_DEPTH = 100;

const TOKEN =
  /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*"|[{}[\],:]|[^ \t\n\r"{}[\],:]+|"|$/g;
const STRING = /^".*"$/s;
const SCALAR = /^(?:".*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/s;

/** Returns the value of a JSON text, or undefined if it is not JSON. The last of two members with one name counts. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns whether a value is a JSON object, which excludes arrays and null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns whether a value has more levels of nesting than this. Recursion over such a value could overflow the stack.
 */
export function isDeeper(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** The kind of token that may come next. After an opening bracket (`first`) it may also be the closing one. */
type Expected = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma';

interface Container {
  readonly close: ']' | '}';
  name: string | number;
  readonly names: Set<string>;
}

/**
 * Returns the first fault of a JSON text, or undefined: a syntax error (RFC 8259), more than {@link MAX_DEPTH} levels,
 * or a duplicate member, of which readers may choose either. Used for tokens, keys, listings and the config file.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: Container[] = [];
  let expected: Expected = 'value';
  for (const { 0: word, index } of text.matchAll(TOKEN)) {
    const within = open.at(-1);
    const fault = (kind: JsonFault['kind']) => ({ kind, at: index, path: open.map(({ name }) => String(name)) });
    if (within === undefined && expected === 'comma') return word === '' ? undefined : fault('syntax');
    if (word === within?.close && (expected === 'comma' || expected.startsWith('first '))) {
      open.pop();
      expected = 'comma';
    } else if (within !== undefined && expected === 'comma' && word === ',') {
      if (typeof within.name === 'number') within.name += 1;
      expected = within.close === '}' ? 'name' : 'value';
    } else if (expected === 'colon' && word === ':') expected = 'value';
    else if (within !== undefined && expected.endsWith('name') && STRING.test(word)) {
      within.name = String(JSON.parse(word));
      if (within.names.has(within.name)) return fault('twice');
      within.names.add(within.name);
      expected = 'colon';
    } else if (expected.endsWith('value')) {
      if (word === '{' || word === '[') {
        if (open.length === MAX_DEPTH) return fault('too deep');
        open.push({ close: word === '{' ? '}' : ']', name: word === '{' ? '' : 0, names: new Set() });
        expected = word === '{' ? 'first name' : 'first value';
      } else if (SCALAR.test(word)) expected = 'comma';
      else return fault('syntax');
    } else return fault('syntax');
  }
  return undefined;
}
