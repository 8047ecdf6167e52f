import { hash } from 'node:crypto';
import { errorAbout, FilingsError } from '../errors.ts';
import { DEEPEST, isDeeper, isJsonObject, type JsonObject, parseJson } from '../json.ts';
import { counted, shortened } from '../text.ts';
import type { AccessionNumber } from './accession.ts';
import { saidByJson, sayingOf } from './error-body.ts';
import { type Found, findRecords } from './listing-records.ts';

/** A file of a filing: its number, its name, and whatever else the service said of it. */
export interface ListedFile {
  readonly accession_no: string;
  readonly file_name: string;
  readonly [member: string]: unknown;
}

/** One answer, which may be a part of a listing. */
export interface Page {
  /** Each name once, without records of other filings and documents without a name. */
  readonly files: readonly ListedFile[];
  /** How many records it has, of whatever filing. */
  readonly records: number;
  /** The same for pages of the same records. */
  readonly key: string;
  /** What says that there is more, as the answer writes it. */
  readonly more: string | undefined;
  /** How many records there are in all, as far as it says. */
  readonly total: number;
}

/** What an answer says of itself beside its records. */
interface Signs {
  more?: string;
  total: number;
  isFailure: boolean;
}

// Names of members, in lower case and without anything but letters.
const MORE =
  /^((has|is)?(more|truncated|incomplete)(results|available)?|hasnext(page)?|(next)?continuationtoken|(odata)?next(page)?(number|token|cursor|link|url|href|offset|marker)?)$/;
const TOTAL =
  /^((odata)?count|recordcount|recordstotal|total(count|records|results|items|elements|files|documents|hits)?)$/;
const PAGES = /^(totalpages|pagestotal|pagecount|numpages|lastpage)$/;
const FAILURE = /^(error|errors|fault|exception)$/;
const SUCCESS = /^(success|ok)$/;

/** Members in which services say how large a file is. */
const SIZES = ['size', 'file_size', 'fileSize', 'size_bytes', 'bytes', 'length', 'content_length'];

/**
 * Reads an answer of `GET /v1/filings` tolerantly: the contract does not show its shape (part 4, "Other endpoints").
 * `link` is its `Link` field, `number` that of the page that was asked for. Throws `integrity` for what can't be read as
 * a listing, saying what it saw.
 */
export function readListing(
  text: string,
  accession: AccessionNumber,
  link?: string | readonly string[],
  number = 1,
): Page {
  const json = parseJson(text);
  const signs: Signs = { total: 0, isFailure: false };
  const tooDeep = isDeeper(json);
  if (isJsonObject(json) && !tooDeep) readSigns(json, number, signs);
  if (/\brel\s*=\s*(?:"[^"]*\bnext\b[^"]*"|next\b)/i.test(String(link))) signs.more ??= 'Link: rel="next"';
  const found = tooDeep || signs.isFailure ? undefined : findRecords(json, accession);
  if (found === undefined) {
    const seen = tooDeep ? `JSON nested more than ${DEEPEST} levels deep` : whatIsSeen(text, json, signs.isFailure);
    throw errorAbout({ accession }, 'integrity', `cannot be read: it is ${seen}`, {
      hint: 'check the base URL and the API key',
      fault: json === undefined ? 'foreign' : undefined,
    });
  }
  const files = new Map<string, ListedFile>();
  for (const { name, record, isOther } of found) {
    if (name === undefined || isOther || files.has(name)) continue;
    const { accession_no: _, file_name: __, ...others } = record;
    files.set(name, { accession_no: accession, file_name: name, ...others });
  }
  const { more, total } = signs;
  return { files: [...files.values()], records: found.length, key: keyOf(found), more, total };
}

/** Adds the signs of an object and the objects in it; of a list only a link's: others are of a file. */
function readSigns(object: JsonObject, number: number, signs: Signs): void {
  for (const [member, value] of Object.entries(object)) {
    const name = member.toLowerCase().replace(/[^a-z]/g, '');
    if ((MORE.test(name) && isSet(value)) || (PAGES.test(name) && Number(value) > number)) signs.more ??= member;
    if (TOTAL.test(name)) signs.total = Math.max(signs.total, Number(isJsonObject(value) ? value.value : value) || 0);
    const isFailed = name === 'status' && /^(error|fail(ed|ure)?)$/i.test(String(value));
    signs.isFailure ||= isFailed || (FAILURE.test(name) && isSet(value)) || (SUCCESS.test(name) && value === false);
    if (isJsonObject(value)) readSigns(value, number, signs);
    if (Array.isArray(value) && value.some((item) => item?.rel === 'next')) signs.more ??= member;
  }
}

/** Anything but what stands for nothing; an object counts by its members. */
function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(isSet);
  return typeof value === 'string' ? !/^(|false|0)$/i.test(value.trim()) : Boolean(value);
}

/** What an answer that is no listing looks like; `json` is undefined when it is not JSON. */
function whatIsSeen(text: string, json: unknown, isFailure: boolean): string {
  if (text.trim() === '') return 'an empty answer';
  if (json === undefined) {
    const isPage = /^\s*<(!doctype html|html|head|body)/i.test(text);
    return `${isPage ? 'an HTML page' : 'not JSON'}: ${shortened(sayingOf(text) ?? '', 200)}`;
  }
  const what = isFailure ? 'JSON that reports an error' : 'JSON without file names';
  const members =
    isJsonObject(json) && (saidByJson(json) ?? `with the members ${Object.keys(json).join(', ') || '(none)'}`);
  return `${what}: ${shortened(members || (Array.isArray(json) ? counted(json.length, 'item') : String(json)), 200)}`;
}

/** By names alone: a record may have a time or a signed address in it that is another one each time. */
function keyOf(found: readonly Found[]): string {
  const names = found.map(({ name = '', isOther }) => JSON.stringify([name, isOther]));
  return hash('sha256', names.sort().join());
}

/** Of so many files of a filing none is chosen. */
export function noMatch(accession: string, files: number): FilingsError {
  const none = files === 1 ? 'its one file does not match' : `none of its ${files} files matches`;
  return new FilingsError('not_found', `${accession}: ${none} --include and --exclude (matching is case-sensitive)`, {
    hint: 'see what there is with filings list',
  });
}

/** A file's size in bytes, where its record says one that can be one. */
export function listedSize(file: ListedFile): number | undefined {
  for (const member of SIZES) {
    const value = Object.hasOwn(file, member) ? file[member] : undefined;
    const size = typeof value === 'string' && /^[0-9]{1,16}$/.test(value) ? Number(value) : value;
    if (typeof size === 'number' && size >= 0 && Number.isSafeInteger(size)) return size;
  }
  return undefined;
}
