// JSON.parse reads JSON. What is here is for texts where it is too tolerant, or tells too little.

export type JsonObject = Readonly<Record<string, unknown>>;

interface JsonFault {
  readonly kind: 'syntax' | 'too deep' | 'twice';
  /** UTF-16 units before it. */
  readonly at: number;
  /** The names that lead there; of a list's item, its number. */
  readonly path: readonly string[];
}

/** Levels of nesting; deeper serves nobody. */
export const DEEPEST = 100;

const TOKEN =
  /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*"|[{}[\],:]|[^ \t\n\r"{}[\],:]+|"|$/g;
const STRING = /^".*"$/s;
const SCALAR = /^(?:".*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/s;

/** What a JSON text says, of two members of one name the last; undefined where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is a JSON object: neither a list nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value nests deeper than this: what goes through it by recursion would overflow the stack. */
export function isDeeper(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** What may come next: `first` stands for the place behind an opening bracket, where the closing one may be, too. */
type Expected = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma';

interface Container {
  readonly close: ']' | '}';
  name: string | number;
  readonly names: Set<string>;
}

/**
 * The first fault of a JSON text: not JSON (RFC 8259), nested deeper than {@link DEEPEST}, or a member that stands
 * twice, of which readers differ in the one they take. For a token, a key, the config file.
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
        if (open.length === DEEPEST) return fault('too deep');
        open.push({ close: word === '{' ? '}' : ']', name: word === '{' ? '' : 0, names: new Set() });
        expected = word === '{' ? 'first name' : 'first value';
      } else if (SCALAR.test(word)) expected = 'comma';
      else return fault('syntax');
    } else return fault('syntax');
  }
  return undefined;
}
