import type { Problem } from '../../errors.ts';
import type { Secrets } from '../../secrets.ts';
import { shortened } from '../../text.ts';
import { bounded, brief, LOOKED_AT } from './bounds.ts';
import { sayingOf } from './text.ts';

/** What an error body tells: one line, if any, and the members of RFC 9457 with their extensions. */
export interface ErrorBody {
  readonly said?: string;
  readonly problem: Omit<Problem, 'status'>;
  /** It has none of the members that the contract names (part 2), not even as null. */
  readonly foreign: boolean;
}

interface RawAnswer {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly truncated?: boolean;
}

type JsonObject = Readonly<Record<string, unknown>>;

const LONGEST_SAYING = 300;
const DEEPEST = 6;
/** Of a property's name, and of messages: more serve nobody. */
const LONGEST_NAME = 200;
const MOST_MESSAGES = 1000;

/** Reads any error body seen in practice: by what it holds, never by its media type. What is told is clear of secrets. */
export function readErrorBody({ body, headers, truncated }: RawAnswer, secrets: Secrets): ErrorBody {
  const text = decoded(body);
  const whole = parsed(text);
  const json = whole === undefined && truncated ? salvaged(text) : whole;
  const object = firstObject(json);
  const problem = object === undefined ? {} : readProblem(object, secrets);
  const said =
    (object === undefined ? saidByText(json, secrets.redact(brokenOff(text, truncated))) : saidByJson(object)) ??
    saidByChallenge(headers['www-authenticate']);
  const foreign = object === undefined || !TELLTALE.some((name) => Object.hasOwn(object, name));
  return { ...(said !== undefined && { said: brief(oneLine(said), LONGEST_SAYING, secrets) }), problem, foreign };
}

/** What is looked at of a text, with the mark of a cut. It is redacted before its tags are taken out of it. */
function brokenOff(text: string, truncated = false): string {
  return shortened(truncated ? `${text}…` : text, LOOKED_AT);
}

/** UTF-8, whatever it takes; UTF-16 when its byte-order mark says so. A mark is dropped. */
function decoded(body: Buffer): string {
  const utf16 = body.length >= 2 && body[0] === 0xff && body[1] === 0xfe;
  return new TextDecoder(utf16 ? 'utf-16le' : 'utf-8').decode(body);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The telling members at the beginning of an object that was cut. */
function salvaged(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined;
  const members = text
    .slice(0, 65_536)
    .matchAll(/"(type|title|detail|instance|error|message)"\s*:\s*("(?:[^"\\]|\\.)*")/g);
  return Object.fromEntries([...members].map(([, name, value]) => [name, parsed(value ?? '')]));
}

/** The object itself, or the first one of an array of errors. */
function firstObject(json: unknown): JsonObject | undefined {
  if (Array.isArray(json)) return json.find(isObject);
  return isObject(json) ? json : undefined;
}

/** A JSON string speaks for itself, so does the first one of an array; other scalars say nothing. */
function saidByText(json: unknown, text: string): string | undefined {
  if (json === undefined) return sayingOf(text);
  const string = Array.isArray(json) ? json.find((item) => typeof item === 'string') : json;
  return typeof string === 'string' ? sayingOf(string) : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const STRING_MEMBERS = ['type', 'title', 'detail', 'instance'];
/** A status alone is in the errors of many web servers. */
const TELLTALE = [...STRING_MEMBERS, 'errors'];

/**
 * RFC 9457, section 3.1: a member of the wrong type is as absent; so is a null here.
 * Extensions are kept, within bounds. The body's `status` gives way to HTTP's.
 */
function readProblem(body: JsonObject, secrets: Secrets): ErrorBody['problem'] {
  const members: [string, unknown][] = [];
  const extensions: [string, unknown][] = [];
  for (const [name, value] of Object.entries(body)) {
    if (name === 'status' || value === null) continue;
    if (STRING_MEMBERS.includes(name)) {
      if (typeof value === 'string' && value !== '') members.push([name, value]);
    } else if (name === 'errors') {
      const errors = validationErrors(value);
      if (errors.size > 0) members.push([name, Object.fromEntries(errors)]);
    } else extensions.push([name, value]);
  }
  // What RFC 9457 names comes first, so that a huge extension can't use up its room.
  return bounded(Object.fromEntries([...members, ...extensions]), secrets);
}

/** Property -> messages; values may be strings, lists, or nest further; the property's own name is kept, `''` too. */
function validationErrors(value: unknown): Map<string, string[]> {
  const errors = new Map<string, string[]>();
  let count = 0;
  for (const [property, message] of messagesIn('', value, 0)) {
    const known = errors.get(property);
    if (known === undefined) errors.set(property, [message]);
    else known.push(message);
    count += 1;
    if (count === MOST_MESSAGES) break;
  }
  return errors;
}

function* messagesIn(property: string, value: unknown, depth: number): Generator<readonly [string, string]> {
  if (value === null || depth > DEEPEST) return;
  if (Array.isArray(value)) {
    for (const item of value) yield* messagesIn(property, item, depth + 1);
  } else if (isObject(value)) {
    const said = depth === 0 ? undefined : saidByEntry(value);
    if (said !== undefined) yield [property || named(value), said];
    else {
      for (const [name, nested] of Object.entries(value)) {
        // Cut before it is joined to each of its children.
        const short = shortened(name, LONGEST_NAME);
        yield* messagesIn(property === '' ? short : `${property}.${short}`, nested, depth + 1);
      }
    }
  } else yield [property, String(value)];
}

/** An entry of an array of errors has what it says in its title and its detail, of which each may say half. */
function saidByEntry(entry: JsonObject): string | undefined {
  const said = saidByJson(entry);
  const detail = typeof entry.detail === 'string' && entry.detail.trim() !== '' ? entry.detail : undefined;
  return said === undefined || detail === undefined || detail === said ? (said ?? detail) : `${said}: ${detail}`;
}

/** The property that an entry of an array of errors is about. */
function named(entry: JsonObject): string {
  const names = ['field', 'property', 'name', 'path', 'pointer'].map((member) => entry[member]);
  return names.find((name) => typeof name === 'string') ?? '';
}

const TELLING = ['title', 'error', 'message', 'error_description', 'errorMessage', 'Message', 'fault', 'faultstring'];

/** The member that sums it up: a string, or an object (`{"error":{"message"}}`) that has one. */
function saidByJson(body: JsonObject, depth = 0): string | undefined {
  for (const name of TELLING) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value;
    const nested = isObject(value) && depth < 3 ? saidByJson(value, depth + 1) : undefined;
    if (nested !== undefined) return nested;
  }
  return undefined;
}

/** RFC 6750, section 3: what a challenge says of a refused token, else the challenge itself. */
function saidByChallenge(header: string | readonly string[] | undefined): string | undefined {
  const challenge = typeof header === 'string' ? header : header?.join(', ');
  if (challenge === undefined || challenge.trim() === '') return undefined;
  return /error_description="([^"]+)"/.exec(challenge)?.[1] ?? `it asks for ${challenge.trim()}`;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}
