/**
 * A JSON number whose text JavaScript would change: `1.0`, `-0`, `1e400`, `9007199254740993`.
 * Any other number is a plain one.
 */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The nearest number, as JSON.parse would give it. */
  valueOf(): number {
    return Number(this.text);
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** The names of an object's members as they stand in the text, where JavaScript would put numbers first. */
const ORDER = Symbol('order of the members');

interface Ordered {
  [ORDER]?: string[];
}

/** An object of these members, in this order, whatever their names are; of two of one name the last counts. */
export function objectOf(members: Iterable<readonly [name: string, value: unknown]>): JsonObject {
  const object = {};
  for (const [name, value] of members) setMember(object, name, value);
  return object;
}

/**
 * Sets a member of an object that is being made. `__proto__` is data.
 * True when the object has thereby begun to keep its order, which takes much room.
 */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): boolean {
  const order = (object as Ordered)[ORDER];
  if (isIndex(name)) {
    if (order === undefined) Object.defineProperty(object, ORDER, { value: [...Object.keys(object), name] });
    else if (!Object.hasOwn(object, name)) order.push(name);
    // What can't be configured is kept in a table: else {"300":0} would take the room of 300 elements.
    Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: false });
    return order === undefined;
  }
  if (order !== undefined && !Object.hasOwn(object, name)) order.push(name);
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
  return false;
}

/** The members of an object in their order. */
export function membersOf(object: JsonObject): (readonly [name: string, value: unknown])[] {
  const names = (object as Ordered)[ORDER] ?? Object.keys(object);
  return names.map((name) => [name, object[name]]);
}

/** Whether a value is a JSON object: no list, and no number either. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** The number that a value is, as near as JavaScript has it; undefined for what is none. */
export function numberOf(value: unknown): number | undefined {
  if (value instanceof JsonNumber) return value.valueOf();
  return typeof value === 'number' ? value : undefined;
}

function isIndex(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 0x30 && first <= 0x39 && /^(?:0|[1-9]\d{0,9})$/.test(name);
}
