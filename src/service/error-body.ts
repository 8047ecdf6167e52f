import type { Problem } from '../errors.ts';
import { isDeeper, isJsonObject, type JsonObject, parseJson } from '../json.ts';
import { redacted, type Secrets } from '../secrets.ts';
import { shortened } from '../text.ts';

/** At most one line, and the members of RFC 9457 with their extensions. */
interface ErrorBody {
  readonly said: string | undefined;
  readonly problem: Omit<Problem, 'status'>;
  /** True if the body has no member of a problem details object, not even as null (service.md, section 2). */
  readonly foreign: boolean;
}

// Too little to flood a log or a report; in UTF-16 units.
const LOOKED_AT = 16_384;
const MAX_MEMBER = 2000;
const MAX_SAYING = 300;
const MAX_NAME = 200;
/** Members, properties, messages of one. */
const MAX_ENTRIES = 25;

const STRING_MEMBERS = ['type', 'title', 'detail', 'instance'];
/** A status alone is in the errors of many web servers. */
const TELLTALE = [...STRING_MEMBERS, 'errors'];
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** By what it holds, never by its media type. Clear of secrets. */
export function readErrorBody(text: string, secrets: Secrets): ErrorBody {
  const json = parseJson(text);
  const object = isJsonObject(json) && !isDeeper(json) ? json : undefined;
  // Redacted before tags are taken out of it, too; the ellipsis tells where half a secret may stand.
  const said = object ? summaryFromJson(object) : summaryFromText(secrets.redact(shortened(text, LOOKED_AT)));
  return {
    said: said && brief(said.trim().replace(/\s+/g, ' '), MAX_SAYING, secrets),
    problem: object ? readProblem(object, secrets) : {},
    foreign: !object || !TELLTALE.some((name) => Object.hasOwn(object, name)),
  };
}

/** A string, or an object (`{"error":{"message"}}`) that has one. */
export function summaryFromJson(body: JsonObject): string | undefined {
  for (const name of ['title', 'error', 'message']) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value;
    const nested = isJsonObject(value) ? summaryFromJson(value) : undefined;
    if (nested !== undefined) return nested;
  }
  return undefined;
}

/** The line that tells most of HTML, XML or plain text. */
export function summaryFromText(text: string): string | undefined {
  const start = shortened(text.trim(), LOOKED_AT);
  if (!start.startsWith('<')) return start.split(/[\r\n]/, 1)[0] || undefined;
  const [, told, end] = /<(?:title|message|h1)\b[^<>]*>\s*([^<\s][^<]*)(<\/)?/i.exec(start) ?? [];
  // Perhaps cut in the middle of a secret.
  const bare = told
    ? told + (end ? '' : '…')
    : start.replace(/<(script|style)\b[\s\S]*?(<\/\1>|$)/gi, ' ').replace(/<[^<>]*>/g, ' ');
  const plain = bare.replace(
    /&(?:#(\d{1,6})|#x([\da-f]{1,5})|(amp|lt|gt|quot|apos|nbsp));/gi,
    (_, decimal, hex, name) =>
      ENTITIES[name?.toLowerCase()] ?? String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal)),
  );
  return plain.replace(/\s+/g, ' ').trim() || undefined;
}

/**
 * RFC 9457, section 3.1: a member of the wrong type is as absent; so is a null here. Extensions are kept, within
 * bounds. The body's `status` gives way to HTTP's.
 */
function readProblem(body: JsonObject, secrets: Secrets): ErrorBody['problem'] {
  const members = Object.entries(body)
    .slice(0, MAX_ENTRIES)
    .flatMap(([name, value]) => {
      const isMissing =
        value === null || (STRING_MEMBERS.includes(name) && (typeof value !== 'string' || value === ''));
      if (isMissing || name === 'status') return [];
      if (name === 'errors') return [[name, readErrors(value, secrets)]];
      const text = textOf(value);
      const isWhole = typeof value !== 'string' && text.length <= MAX_MEMBER;
      return [[brief(name, MAX_NAME, secrets), isWhole ? redacted(value, secrets) : brief(text, MAX_MEMBER, secrets)]];
    });
  // A member called `__proto__` stays data.
  return Object.fromEntries(members);
}

/** One message, or a list of them; what is no text is shown as JSON. */
function readErrors(errors: unknown, secrets: Secrets): NonNullable<Problem['errors']> {
  const byProperty = isJsonObject(errors) ? Object.entries(errors) : [['', errors] as const];
  const told = byProperty.slice(0, MAX_ENTRIES).map(([property, value]) => {
    const messages = (Array.isArray(value) ? value : [value]).filter((each) => each !== null).slice(0, MAX_ENTRIES);
    return [
      brief(property, MAX_NAME, secrets),
      messages.map((each) => brief(textOf(each), MAX_SAYING, secrets)),
    ] as const;
  });
  return Object.fromEntries(told.filter(([, messages]) => messages.length > 0));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * First it is clear of secrets, then it is cut: half a secret is one too. Where more came than is read, the ellipsis
 * tells {@link Secrets.redact}.
 */
function brief(text: string, length: number, secrets: Secrets): string {
  return shortened(secrets.redact(shortened(text, LOOKED_AT)), length);
}
