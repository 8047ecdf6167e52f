// Reads what a response says about itself from the names of its members: that it is an error, that it is only a part of
// the listing, how many records there are. Services use hundreds of names for these, so the patterns are broad: a wrong
// guess rejects a listing with a clear error, and never accepts a part as the whole.
import { isJsonObject, type JsonObject } from '../json.ts';

/** The statements of a response about itself, gathered from all its objects that are not the record of a file. */
export interface ResponseMarkers {
  /** The member that reports an error. */
  error?: string;
  /** The member that says that more records follow. */
  more?: string;
  /** The largest page count. */
  pageCount: number;
  /** The member that may explain why a listing is empty. */
  explanation?: string;
}

/** Returns a member's name without the details that services write differently: case, `_`, `-`, `@` and dots. */
export function plainName(member: string): string {
  return member.toLowerCase().replace(/[^a-z0-9]/g, '');
}

// The patterns below match plain names of members.
const METADATA = new Set(
  'company companies filer filers entity entities tickers symbols exchanges links tags facets quota ratelimit'.split(
    ' ',
  ),
);
const ERROR =
  /^(?:errors?|fault|exception)|(?:errors?|(?<!de)faults?|exceptions?)$|^(?:failed|failures?|(?:is)?timedout)$/;
const MORE = [
  /^(?:has|is|there(?:is|are))?(?:any)?more(?:results|records|items|pages|files|documents|data|available)*$/,
  /^(?:odata|has)?next(?!.*(?:date|time|filing)$)/,
  /(?:continuation|continue|next|page|pagination|scroll|end|after)(?:cursor|token|marker|key)$|^(?:cursor|continuation|lastevaluatedkey)$/,
  /^(?:is|was)?(?:truncated|partial|incomplete)(?:results?|list|listing|response|content)?$/,
  /^remaining(?:results|records|items|pages|files|documents|count)?$|^(?:results|records|items|pages|files|documents)remaining$/,
];
/** Cursors are often present on the last page, too, and then another member says that nothing follows. */
const CURSOR = /cursor$|token$|key$|marker$|^continuation$/;
const HAS_MORE = /^(?:has|is)(?:more|next)/;
const MORE_IF_FALSE = /^(?:is)?(?:done|last|lastpage|complete|completed|finished)$/;
const ERROR_IF_FALSE = /^(?:is)?(?:success|successful|succeeded|ok)$/;
const PAGE_COUNT = /^(?:total|num|nb|numberof|max|last)?pages?(?:count|total|s)?$/;
const CURRENT_PAGE = /^page$/;
const TOTAL =
  /^(?=.*(?:total|count|numberof|num(?!ber)|nb|found))(?:odata|estimated|exact|overall|available|all|total|counts?|numberof|num(?!ber)|nb|of|found|(?:file|document|doc|record|result|item|element|hit|row|attachment|exhibit|graphic|filing|object|match|matche|value)s?|entry|entries)+$/;
const EXPLANATION = /^(?:messages?|msg|details?|reason)$/;
const SUCCESS_STATUS = /^(?:2\d\d.*|0|ok|true|success|successful|succeeded|completed?|done|found)$/i;
const FAILURE_STATUS = /^(?:[45]\d\d|errors?|fail(?:ed|ure)?)$/i;

/** Returns whether a member holds metadata, in which neither files nor markers are searched. */
export function isMetadata(member: string): boolean {
  return METADATA.has(plainName(member));
}

/** Returns whether a value is not null, false, zero or empty. An object is set if one of its members is. */
export function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(isSet);
  return typeof value === 'string' ? !/^(?:|false|0|null)$/i.test(value.trim()) : Boolean(value);
}

/** Adds the statements of one object about the response to the markers. The caller visits nested objects. */
export function readMarkers(object: JsonObject, markers: ResponseMarkers): void {
  if (isProblemDetails(object)) markers.error ??= 'title';
  const members = Object.entries(object).map(([member, value]) => [member, plainName(member), value] as const);
  const isLastPage = members.some(([, name, value]) => HAS_MORE.test(name) && isFalse(value));
  for (const [member, name, value] of members) {
    const isStatus = name === 'status' || name === 'code' || name === 'statuscode';
    if (ERROR.test(name) && isSet(value)) markers.error ??= member;
    if (ERROR_IF_FALSE.test(name) && isFalse(value)) markers.error ??= member;
    if (isStatus && isScalar(value) && FAILURE_STATUS.test(String(value).trim())) markers.error ??= member;
    if (isSignOfMore(name, value) && !(isLastPage && CURSOR.test(name))) markers.more ??= member;
    if (PAGE_COUNT.test(name) && !CURRENT_PAGE.test(name)) {
      markers.pageCount = Math.max(markers.pageCount, countOf(value) ?? 0);
    }
    if (EXPLANATION.test(name) && isSet(value)) markers.explanation ??= member;
    if (isStatus && isScalar(value) && !SUCCESS_STATUS.test(String(value).trim())) markers.explanation ??= member;
  }
}

function isSignOfMore(name: string, value: unknown): boolean {
  if (MORE_IF_FALSE.test(name)) return isFalse(value);
  if (Array.isArray(value)) return value.some(isNextLink);
  if (name === 'links') return isJsonObject(value) && isSet(value.next);
  return MORE.some((pattern) => pattern.test(name)) && isSet(value);
}

/** Returns whether an item of a list of links, as in Atom, HAL and FHIR, leads to the next page. */
function isNextLink(item: unknown): boolean {
  return isJsonObject(item) && (item.rel === 'next' || item.relation === 'next');
}

/**
 * Returns whether an object is problem details (RFC 9457). A filing may also have a title and a type, but no detail.
 */
function isProblemDetails({ type, title, status, detail, instance }: JsonObject): boolean {
  return isSet(title) && isSet(detail) && (isSet(type) || isSet(status) || isSet(instance));
}

/** Returns the total number of records that a member states, or undefined. For Elasticsearch's `gte` it is one more. */
export function totalOf(member: string, value: unknown): number | undefined {
  if (!TOTAL.test(plainName(member))) return undefined;
  if (!isJsonObject(value)) return countOf(value);
  const count = countOf(value.value);
  // Elasticsearch stops counting at this value, so there is at least one more.
  return count !== undefined && value.relation === 'gte' ? count + 1 : count;
}

/** Returns a count that is a number or a text, which may have separators between thousands, or undefined. */
export function countOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const digits = /^\d{1,3}(?:[.,' _\u00a0\u202f]\d{3})+$/.test(text) ? text.replace(/\D/g, '') : text;
  return /^\d{1,15}(?:\.0+)?$/.test(digits) ? Number(digits) : undefined;
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function isFalse(value: unknown): boolean {
  return value === false || (typeof value === 'string' && value.trim().toLowerCase() === 'false');
}

/** Returns whether a response's `Link` field names a next page (RFC 8288, section 3). */
export function hasNextLink(link: string | readonly string[] | undefined): boolean {
  return /\brel\s*=\s*(?:"[^"]*\bnext\b[^"]*"|next\b)/i.test(String(link));
}
