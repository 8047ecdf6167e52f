import { isJsonObject, type JsonObject } from '../../json.ts';

/** What an answer says of itself beside its records. */
export interface Signs {
  /** What says that there is more, as the answer writes it. */
  readonly more?: string;
  /** How many records there are in all. */
  readonly total?: number;
  /** What says that it is an error under a success's status. */
  readonly failure?: string;
}

const MORE = /^(hasmore|hasnext|hasnextpage|moreavailable|more|truncated|istruncated|incomplete)$/;
const NEXT = /^(odata)?next(page|pagenumber|pagetoken|token|cursor|link|url|href|offset)?$/;
const TOTAL = /^(count|recordcount|recordstotal|total(count|records|results|items|elements|files|documents|hits)?)$/;
const PAGES = /^(totalpages|pagestotal|pagecount|numpages|lastpage)$/;
const PAGE = /^(page|pagenumber|pageno|currentpage)$/;
const ERRORS = /^(error|errors|fault|exception)$/;
const SUCCESS = /^(success|ok)$/;
/** Signs are at the top, or in an object such as `meta` or `links`. */
const DEEPEST = 4;

/** The signs in an answer's objects, not in its lists; `page`: which one was asked for. */
export function readSigns(json: unknown, link: string | readonly string[] = [], page = 1): Signs {
  const signs: { more?: string; total?: number; failure?: string } = {};
  const read = (object: JsonObject, depth: number) => {
    const members = Object.entries(object).map(([member, value]) => [plain(member), value, member] as const);
    const current = number(members.find(([name]) => PAGE.test(name))?.[1]) ?? page;
    for (const [name, value, member] of members) {
      const isNext = (MORE.test(name) && isTrue(value)) || (NEXT.test(name) && isSet(value));
      if (isNext || (PAGES.test(name) && (number(value) ?? 0) > current)) signs.more ??= member;
      if (TOTAL.test(name)) signs.total = Math.max(signs.total ?? 0, number(value) ?? 0);
      const isFailed = name === 'status' && /^(error|fail(ed|ure)?)$/i.test(String(value));
      if ((ERRORS.test(name) && isSet(value)) || (SUCCESS.test(name) && value === false) || isFailed) {
        signs.failure ??= member;
      }
      if (isJsonObject(value) && depth < DEEPEST) read(value, depth + 1);
    }
  };
  if (isJsonObject(json)) read(json, 0);
  if (/\brel\s*=\s*(?:"[^"]*\bnext\b[^"]*"|next\b)/i.test(String(link))) signs.more ??= 'Link: rel="next"';
  return signs;
}

function plain(member: string): string {
  return member.toLowerCase().replace(/[^a-z]/g, '');
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true' || (number(value) ?? 0) > 0;
}

/** Anything but what stands for nothing; an object counts by its members. */
function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(isSet);
  return typeof value === 'string' ? value.trim() !== '' : Boolean(value);
}

function number(value: unknown): number | undefined {
  const read = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof read === 'number' ? read : undefined;
}
