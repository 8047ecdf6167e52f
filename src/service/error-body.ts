import type { Problem } from '../errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../json.ts';
import type { Secrets } from '../secrets.ts';
import { shortened } from '../text.ts';
import { LOOKED_AT, sayingOf } from './text-body.ts';

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

/** What is kept of an error body: enough to tell what happened, too little to flood a log or a report. */
const MOST_CHARACTERS = 32_768;
const MOST_MEMBERS = 100;
const MOST_MESSAGES = 1000;
const LONGEST_SAYING = 300;
const LONGEST_STRING = 4096;
const LONGEST_NAME = 200;
const DEEPEST = 6;

const STRING_MEMBERS = ['type', 'title', 'detail', 'instance'];
/** A status alone is in the errors of many web servers. */
const TELLTALE = [...STRING_MEMBERS, 'errors'];
const SAYING = ['title', 'error', 'message', 'error_description', 'errorMessage', 'Message', 'fault', 'faultstring'];

/** Reads any error body seen in practice: by what it holds, never by its media type. What is told is clear of secrets. */
export function readErrorBody({ body, headers, truncated = false }: RawAnswer, secrets: Secrets): ErrorBody {
  const text = new TextDecoder().decode(body);
  const json = parseJson(text);
  const object = Array.isArray(json) ? json.find(isJsonObject) : isJsonObject(json) ? json : undefined;
  // Redacted before tags are taken out of it; the ellipsis tells where half a secret may stand.
  const start = secrets.redact(shortened(truncated ? `${text}…` : text, LOOKED_AT));
  const said = (object ? saidByJson(object) : saidByText(json, start)) ?? saidByChallenge(headers['www-authenticate']);
  return {
    ...(said !== undefined && { said: brief(said.trim().replace(/\s+/g, ' '), LONGEST_SAYING, secrets) }),
    problem: object ? readProblem(object, secrets) : {},
    foreign: !object || !TELLTALE.some((name) => Object.hasOwn(object, name)),
  };
}

/** A JSON string speaks for itself, so does the first one of an array; other scalars say nothing. */
function saidByText(json: unknown, text: string): string | undefined {
  if (json === undefined) return sayingOf(text);
  const string = Array.isArray(json) ? json.find((item) => typeof item === 'string') : json;
  return typeof string === 'string' ? sayingOf(string) : undefined;
}

/** The member that sums it up: a string, or an object (`{"error":{"message"}}`) that has one. */
function saidByJson(body: JsonObject, depth = 0): string | undefined {
  for (const name of SAYING) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value;
    const nested = isJsonObject(value) && depth < 3 ? saidByJson(value, depth + 1) : undefined;
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
  let left = MOST_MESSAGES;
  const add = (property: string, nested: unknown, depth: number): void => {
    if (nested === null || depth > DEEPEST || left <= 0) return;
    const said = isJsonObject(nested) && depth > 0 ? saidByEntry(nested) : undefined;
    if (Array.isArray(nested)) for (const item of nested) add(property, item, depth + 1);
    else if (isJsonObject(nested) && said === undefined) {
      // Cut before it is joined to each of its children.
      const prefix = property === '' ? '' : `${property}.`;
      for (const [name, member] of Object.entries(nested))
        add(prefix + shortened(name, LONGEST_NAME), member, depth + 1);
    } else {
      const named = isJsonObject(nested) ? property || propertyOf(nested) : property;
      errors.set(named, [...(errors.get(named) ?? []), said ?? String(nested)]);
      left -= 1;
    }
  };
  add('', value, 0);
  return errors;
}

/** An entry of an array of errors says one half in its title, perhaps, and the other in its detail. */
function saidByEntry(entry: JsonObject): string | undefined {
  const detail = typeof entry.detail === 'string' ? entry.detail.trim() : '';
  const said = new Set([saidByJson(entry) ?? '', detail].filter((text) => text !== ''));
  return said.size === 0 ? undefined : [...said].join(': ');
}

/** The property that an entry of an array of errors is about. */
function propertyOf(entry: JsonObject): string {
  const names = ['field', 'property', 'name', 'path', 'pointer'].map((member) => entry[member]);
  return names.find((name) => typeof name === 'string') ?? '';
}

/** A copy of a JSON object without secrets and nulls, cut to bounds: long strings end in an ellipsis. */
function bounded(object: JsonObject, secrets: Secrets): JsonObject {
  let left = MOST_CHARACTERS;
  const copyText = (text: string, length: number) => {
    const kept = brief(text, Math.max(1, Math.min(length, left)), secrets);
    left -= kept.length;
    return kept;
  };
  const copy = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return copyText(value, LONGEST_STRING);
    left -= 8;
    if (typeof value !== 'object' || value === null) return value;
    if (depth > DEEPEST) return '…';
    if (Array.isArray(value))
      return value.slice(0, MOST_MEMBERS).flatMap((item) => (left > 0 ? [copy(item, depth + 1)] : []));
    const members = Object.entries(value)
      .slice(0, MOST_MEMBERS)
      .filter(([, member]) => member !== null);
    // fromEntries makes own members: one called `__proto__` stays data.
    return Object.fromEntries(
      members.flatMap(([name, member]) => (left > 0 ? [[copyText(name, LONGEST_NAME), copy(member, depth + 1)]] : [])),
    );
  };
  return copy(object, 0) as JsonObject;
}

/**
 * Text from outside as it may be said, `length` UTF-16 units at most. First it is clear of secrets, then it is cut:
 * half a secret is one too. Where more came than is read, the ellipsis tells {@link Secrets.redact}.
 */
function brief(text: string, length: number, secrets: Secrets): string {
  return shortened(secrets.redact(shortened(text, LOOKED_AT)), length);
}
