// `parseStrictly` also finds what JSON.parse silently accepts: duplicate members and any depth. Where leniency does no
// harm, `parseJson` is used.

export type JsonObject = Readonly<Record<string, unknown>>;

export interface JsonFault {
  readonly kind: 'syntax' | 'too deep' | 'duplicate';
  /** The index of a syntax error in the text, in UTF-16 units. Undefined if V8 does not say. */
  readonly at?: number | undefined;
  /** The member names and array indexes from the outermost value to a duplicate. */
  readonly path?: readonly string[];
}

/** A value with more levels of nesting is refused, because recursion over it could overflow the stack. */
export const MAX_DEPTH = 100;
/** Follows what a fault `too deep` is about. */
export const TOO_DEEP = `has more than ${MAX_DEPTH} levels of JSON`;

/** Undefined if the text is not JSON. If two members have the same name, the last one wins. */
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

/**
 * There is no value if there is a fault other than a duplicate. Duplicate members are faults because other readers may
 * take the first instead of the last (RFC 8259, section 4).
 */
export function parseStrictly(text: string): { readonly value?: unknown; readonly fault?: JsonFault | undefined } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The rest of the message quotes the text, which may be a secret.
    const [, at] = / JSON at position (\d+)/.exec((error as Error).message) ?? [];
    return { fault: { kind: 'syntax', at: at === undefined ? undefined : Number(at) } };
  }
  const fault = findFault(text);
  return fault?.kind === 'too deep' ? { fault } : { value, fault };
}

function findFault(json: string): JsonFault | undefined {
  /** The outermost first. `position` is the name or index of the current member. */
  const open: { position: string | number; readonly names: Set<string> }[] = [];
  let duplicate: JsonFault | undefined;
  let previous = '';
  for (const { token } of tokensOf(json)) {
    const innermost = open.at(-1);
    if (token === '{' || token === '[') {
      if (open.length === MAX_DEPTH) return { kind: 'too deep' };
      open.push({ position: token === '[' ? 0 : '', names: new Set() });
    } else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof innermost?.position === 'number') innermost.position += 1;
    else if (token === ':' && innermost) {
      // Parsed, because "a" and "\u0061" are the same name.
      const name: string = JSON.parse(previous);
      innermost.position = name;
      if (innermost.names.has(name))
        duplicate ??= { kind: 'duplicate', path: open.map(({ position }) => `${position}`) };
      innermost.names.add(name);
    }
    previous = token;
  }
  return duplicate;
}

/** Includes duplicates. The values stay JSON, with numbers as they are written. */
export function splitMembers(objectJson: string): readonly (readonly [name: string, json: string])[] {
  const members: [name: string, json: string][] = [];
  let [depth, previous, name, start] = [0, '', '', 0];
  for (const { token, index } of tokensOf(objectJson)) {
    if (depth === 1 && token === ':') [name, start] = [JSON.parse(previous), index + 1];
    if (depth === 1 && start > 0 && (token === ',' || token === '}'))
      members.push([name, objectJson.slice(start, index).trim()]);
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    previous = token;
  }
  return members;
}

/** The brackets, commas, colons and strings of valid JSON. */
function* tokensOf(json: string) {
  const tokens = /[{}[\],:"]/g;
  const inString = /["\\]/g;
  for (let match = tokens.exec(json); match !== null; match = tokens.exec(json)) {
    const { 0: token, index } = match;
    if (token === '"') {
      inString.lastIndex = tokens.lastIndex;
      // Skips the character after a backslash, which may be a quote.
      while (inString.exec(json)?.[0] === '\\') inString.lastIndex += 1;
      tokens.lastIndex = inString.lastIndex;
    }
    yield { token: json.slice(index, tokens.lastIndex), index };
  }
}
