// Reads the body of an error response, whose shape depends on the server: RFC 9457's problem details, other JSON, HTML,
// XML or text. Gives one line for the message and the problem details, both without secrets and bounded in size.
import type { Problem } from '../errors.ts';
import { isDeeper, isJsonObject, type JsonObject, parseJson } from '../json.ts';
import { redacted, type Secrets } from '../secrets.ts';
import { shortened } from '../text.ts';

interface ErrorBody {
  /** One line for the message. */
  readonly summary: string | undefined;
  /** The members of RFC 9457 and their extensions. */
  readonly problem: Omit<Problem, 'status'>;
  /** Whether the body has no member of problem details, not even as null (service.md, section 2). */
  readonly isForeign: boolean;
}

// The bounds keep logs and reports small. They are in UTF-16 units.
/** The most that is read of a text. */
const MAX_READ = 16_384;
const MAX_MEMBER = 2000;
const MAX_SUMMARY = 300;
const MAX_NAME = 200;
/** The most members of a body, properties in `errors`, and messages for one property. */
const MAX_ENTRIES = 25;

const STRING_MEMBERS = ['type', 'title', 'detail', 'instance'];
/** Problem details have one of these members. Many web servers send other errors with a `status`. */
const PROBLEM_MEMBERS = [...STRING_MEMBERS, 'errors'];
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/**
 * Returns the content of a body, redacted. The content alone decides on the shape, because media types are often wrong.
 */
export function readErrorBody(text: string, secrets: Secrets): ErrorBody {
  const json = parseJson(text);
  const object = isJsonObject(json) && !isDeeper(json) ? json : undefined;
  // Markup is redacted before the tags are removed, too, because a secret may contain `<`.
  const summary = object ? summaryFromJson(object) : summaryFromText(secrets.redact(shortened(text, MAX_READ)));
  return {
    summary: summary && redactAndShorten(summary.trim().replace(/\s+/g, ' '), MAX_SUMMARY, secrets),
    problem: object ? readProblem(object, secrets) : {},
    isForeign: !object || !PROBLEM_MEMBERS.some((name) => Object.hasOwn(object, name)),
  };
}

/**
 * Returns the first text in `title`, `error` or `message`, or in an object there (`{"error":{"message"}}`), or
 * undefined.
 */
export function summaryFromJson(body: JsonObject): string | undefined {
  for (const name of ['title', 'error', 'message']) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value;
    const nested = isJsonObject(value) ? summaryFromJson(value) : undefined;
    if (nested !== undefined) return nested;
  }
  return undefined;
}

/** Returns the title or message of HTML or XML, otherwise the text of the page, or the first line of plain text. */
export function summaryFromText(text: string): string | undefined {
  const start = shortened(text.trim(), MAX_READ);
  if (!start.startsWith('<')) return start.split(/[\r\n]/, 1)[0] || undefined;
  const [, title, end] = /<(?:title|message|h1)\b[^<>]*>\s*([^<\s][^<]*)(<\/)?/i.exec(start) ?? [];
  // A title without an end tag may end within a secret, which `redact` finds before an ellipsis.
  const content = title
    ? title + (end ? '' : '…')
    : start.replace(/<(script|style)\b[\s\S]*?(<\/\1>|$)/gi, ' ').replace(/<[^<>]*>/g, ' ');
  const plain = content.replace(
    /&(?:#(\d{1,6})|#x([\da-f]{1,5})|(amp|lt|gt|quot|apos|nbsp));/gi,
    (_, decimal, hex, name) =>
      ENTITIES[name?.toLowerCase()] ?? String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal)),
  );
  return plain.replace(/\s+/g, ' ').trim() || undefined;
}

/**
 * Returns the members of problem details and their extensions. A member of the wrong type is ignored (RFC 9457, section
 * 3.1), and so is null. The body's `status` is ignored because the HTTP status counts.
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
      const member = isWhole ? redacted(value, secrets) : redactAndShorten(text, MAX_MEMBER, secrets);
      return [[redactAndShorten(name, MAX_NAME, secrets), member]];
    });
  // fromEntries makes own members, so that a member called `__proto__` stays data.
  return Object.fromEntries(members);
}

/** Returns the messages for each property. A value that is not a text becomes its JSON. */
function readErrors(errors: unknown, secrets: Secrets): NonNullable<Problem['errors']> {
  const byProperty = isJsonObject(errors) ? Object.entries(errors) : [['', errors] as const];
  const entries = byProperty.slice(0, MAX_ENTRIES).map(([property, value]) => {
    const values = (Array.isArray(value) ? value : [value]).filter((each) => each !== null).slice(0, MAX_ENTRIES);
    const messages = values.map((each) => redactAndShorten(textOf(each), MAX_SUMMARY, secrets));
    return [redactAndShorten(property, MAX_NAME, secrets), messages] as const;
  });
  return Object.fromEntries(entries.filter(([, messages]) => messages.length > 0));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns the text redacted, then shortened, because a part of a secret must not remain. If the text is longer than is
 * read, {@link Secrets.redact} finds a cut secret before the ellipsis.
 */
function redactAndShorten(text: string, length: number, secrets: Secrets): string {
  return shortened(secrets.redact(shortened(text, MAX_READ)), length);
}
