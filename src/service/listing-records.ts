// Finds the records of a listing whose shape nobody has described. A list is read only if it is certain that its items
// are files. Anything else that could be a file is a doubt, and one doubt refuses the whole response.
import { isJsonObject, type JsonObject } from '../json.ts';
import { counted } from '../text.ts';
import { type AccessionNumber, accessionIn } from './accession.ts';
import { plainName, type ResponseMarkers, readMarkers, totalOf } from './listing-markers.ts';

/** A record of a listing: a file of a filing, or a document without a name. */
export interface ListingRecord {
  readonly name: string | undefined;
  /** All members of the record; empty if the response has only a name. */
  readonly record: JsonObject;
  /** The accession number that the record, or the filing around it, names. */
  readonly accession: AccessionNumber | undefined;
  /** Whether the name is that of a filing's primary document, which need not be its only file. */
  readonly isPrimary?: boolean;
}

/** A total that the response states, and the number of records in the lists that it is about. */
export interface StatedTotal {
  /** The object that states it. Objects of several pages with one path belong together. */
  readonly path: string;
  readonly total: number;
  readonly records: number;
  /** Whether a smaller total is wrong, too, as for one that the user has described. */
  readonly isExact?: boolean | undefined;
}

export interface FoundRecords {
  readonly records: readonly ListingRecord[];
  /** The number of records in each list. */
  readonly listSizes: readonly number[];
  readonly totals: readonly StatedTotal[];
  readonly markers: ResponseMarkers;
  /** Why the records are not certain to be all files of the response. */
  readonly doubt: string | undefined;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
// Plain names of members, see `plainName`.
const FILE_NAME = 'filename';
const PRIMARY = 'primarydocument';
/** Members with the name of a file, the most certain first. */
const NAMES = [FILE_NAME, 'name', 'document', PRIMARY];
const FILE_LISTS = words('files filenames documents attachments exhibits graphics');
const CONTAINERS = words(
  'data results records items value content hits response docs directory item edges attributes filings filing',
);
/** Objects around a record: GraphQL's edges, JSON:API's resources, Elasticsearch's hits. */
const WRAPPERS = words('node attributes source');
const ACCESSIONS = words('accessionno accessionnumber accession');
const METADATA = words(
  'company companies filer filers entity entities tickers symbols exchanges links tags facets quota ratelimit',
);
/** Elasticsearch counts machines there; only their failures matter. */
const SHARDS = 'shards';
const EXTENSION = /\.[A-Za-z][A-Za-z0-9]{0,4}$/;

/** Where a value is in the response. */
interface Place {
  readonly path: string;
  /**
   * `files`: the member names files. `container`: its values are files if they have names; `embedded`: so are those of
   * all its members. `unknown`: nothing says what they are.
   */
  readonly role: 'files' | 'container' | 'embedded' | 'unknown';
  readonly accession: AccessionNumber | undefined;
}

/** What an object or a list holds: lists, their records, and the largest total that is about the lists around it. */
interface Content {
  readonly lists: number;
  readonly records: number;
  readonly total?: number;
}

const NOTHING: Content = { lists: 0, records: 0 };

/** A document that an object names, and not a list. */
interface NamedDocument extends ListingRecord {
  readonly path: string;
  /** Whether only its extension makes the name that of a file. */
  readonly isLikely: boolean;
}

interface Search {
  readonly asked: AccessionNumber;
  readonly listed: ListingRecord[];
  readonly documents: NamedDocument[];
  readonly listSizes: number[];
  readonly totals: StatedTotal[];
  readonly markers: ResponseMarkers;
  doubt: string | undefined;
}

/**
 * Returns the records of all lists of a response, or undefined if nothing in it is like a listing. Visits each value a
 * fixed number of times.
 */
export function findRecords(json: unknown, asked: AccessionNumber): FoundRecords | undefined {
  const markers: ResponseMarkers = { pageCount: 0 };
  const search: Search = { asked, listed: [], documents: [], listSizes: [], totals: [], markers, doubt: undefined };
  const { lists } = readValue(json, { path: '', role: 'container', accession: undefined }, search);
  const { listed, listSizes, totals } = search;
  const names = new Set(listed.map(({ name }) => name));
  const documents = search.documents.filter(({ name }) => !names.has(name));
  const likely = documents.find(({ isLikely }) => isLikely);
  if (lists > 0 && likely) doubt(search, `'${likely.path}' may be a file, too`);
  // A document beside lists is named there; one without lists is all that there is.
  for (const _ of lists === 0 ? documents : []) listSizes.push(1);
  const isListing = lists > 0 || documents.length > 0 || search.doubt !== undefined;
  if (!isListing && markers.error === undefined) return undefined;
  return { records: [...documents, ...listed], listSizes, totals, markers, doubt: search.doubt };
}

function readValue(value: unknown, place: Place, search: Search): Content {
  if (Array.isArray(value)) return readList(value, place, search);
  return isJsonObject(value) ? readObject(value, place, search) : NOTHING;
}

/** Reads an object that is not the record of a file: the whole response, a container, a filing's own record. */
function readObject(object: JsonObject, place: Place, search: Search): Content {
  const { markers } = search;
  const accession = accessionOf(object, search.asked) ?? place.accession;
  const { pageCount } = markers;
  readMarkers(object, markers);
  let [lists, records, total] = [0, 0, 0];
  for (const [member, value] of Object.entries(object)) {
    const inner = readMember(member, value, { ...place, accession }, search);
    lists += inner.lists;
    records += inner.records;
    total = Math.max(total, inner.total ?? 0);
  }
  const isAlone = lists === 0;
  const document = documentOf(plainMembers(object, search), isAlone);
  if (document !== undefined) {
    // A record around several files does not say which of them its size is of.
    search.documents.push({ ...document, path: place.path, record: isAlone ? object : {}, accession });
    if (isAlone && place.role === 'unknown') doubt(search, `'${place.path}' may be a file, too`);
    // The record of one file counts the pages of a document.
    if (isAlone) markers.pageCount = pageCount;
  }
  if (isAlone) return { lists, records, total };
  if (total > 0) search.totals.push({ path: place.path, total, records });
  return { lists, records };
}

function readMember(member: string, value: unknown, around: Place, search: Search): Content {
  const name = plainName(member);
  const path = around.path === '' ? member : `${around.path}.${member}`;
  const total = totalOf(member, value);
  if (total !== undefined) return { ...NOTHING, total };
  if (METADATA.has(name)) return NOTHING;
  if (name === SHARDS && isJsonObject(value)) readMarkers(value, search.markers);
  if (name === SHARDS) return NOTHING;
  if (FILE_LISTS.has(name)) {
    // Some services write an empty list as null.
    if (value === null) return { lists: 1, records: 0 };
    const content = readValue(value, { ...around, path, role: 'files' }, search);
    if (content.lists === 0) doubt(search, `'${path}' names files, but holds no list`);
    return content;
  }
  const isContainer = CONTAINERS.has(name) || around.role === 'embedded' || around.role === 'files';
  const role = name === 'embedded' ? name : isContainer ? 'container' : 'unknown';
  if (!Array.isArray(value) || isContainer || value.some(hasFileList)) {
    return readValue(value, { ...around, path, role }, search);
  }
  if (value.some(couldBeFile)) doubt(search, `'${path}' may be a list of files, too`);
  return NOTHING;
}

/** Reads a list whose items are files or filings. */
function readList(items: readonly unknown[], { path, role, accession }: Place, search: Search): Content {
  const values = items.filter((item) => item !== null);
  const isOfTexts = values.every((item) => typeof item === 'string');
  const where = path === '' ? 'the list' : `'${path}'`;
  // In a container these may be the kinds of something.
  if (isOfTexts && values.length > 0 && role !== 'files' && path !== '' && !values.some(looksLikeFile)) return NOTHING;
  if (!isOfTexts && !values.every(isJsonObject)) {
    doubt(search, `${where} holds other items than file names or records`);
  }
  search.listSizes.push(items.length);
  let isNamed = false;
  for (const [index, item] of items.entries()) {
    if (isJsonObject(item)) {
      isNamed = readItem(item, { path: `${path}[${index}]`, role: 'container', accession }, search) || isNamed;
    } else {
      const name = typeof item === 'string' && item !== '' ? item : undefined;
      search.listed.push({ name, record: {}, accession });
      isNamed ||= name !== undefined;
    }
  }
  if (items.length > 0 && !isNamed) doubt(search, `${where} has ${counted(items.length, 'record')} and no file name`);
  return { lists: 1, records: items.length };
}

/** Reads an object of a list. Returns whether it names a file, or holds a list. */
function readItem(item: JsonObject, place: Place, search: Search): boolean {
  const record = unwrapped(item);
  const members = plainMembers(record, search);
  const name = nameIn(members, place.path, search);
  const isPrimary = name !== undefined && name === members.get(PRIMARY) && !members.has(FILE_NAME);
  // These may be filings; whatever else the record of a file holds tells of that file.
  if (name === undefined || isPrimary || hasFileList(record)) {
    const { pageCount } = search.markers;
    if (readObject(item, place, search).lists > 0) return true;
    // The record of a document counts the pages of the document.
    search.markers.pageCount = pageCount;
  }
  const accession = accessionOf(record, search.asked) ?? accessionOf(item, search.asked) ?? place.accession;
  search.listed.push({ name, record, accession, isPrimary });
  const isOurs = accession === undefined || accession === search.asked;
  if (name === undefined && isOurs) readNameless(item, place.path, search);
  if (name !== undefined && record !== item) {
    // An edge has a cursor of its own.
    const { cursor: _, ...others } = item;
    readMarkers(others, search.markers);
  }
  return name !== undefined;
}

/** A record without a name may name its file where nobody looks. */
function readNameless(value: unknown, path: string, search: Search): void {
  const last = typeof value === 'string' ? value.replace(/^\w+:\/\/[^?#]*\/([^?#/]*).*$/s, '$1') : undefined;
  if (looksLikeFile(last)) doubt(search, `'${path}' has no file name, but holds '${value}'`);
  if (typeof value !== 'object' || value === null) return;
  for (const [member, inner] of Object.entries(value)) {
    if (!METADATA.has(plainName(member))) readNameless(inner, path, search);
  }
}

/** The record inside an item that only wraps it, otherwise the item. */
function unwrapped(item: JsonObject): JsonObject {
  const members = Object.entries(item);
  if (members.some(([member]) => NAMES.includes(plainName(member)))) return item;
  const inner = members.find(([member, value]) => WRAPPERS.has(plainName(member)) && isJsonObject(value));
  return (inner?.[1] as JsonObject | undefined) ?? item;
}

/** The members by their plain names, without null. Two file names that differ are a doubt. */
function plainMembers(record: JsonObject, search: Search): ReadonlyMap<string, unknown> {
  const members = new Map<string, unknown>();
  for (const [member, value] of Object.entries(record)) {
    const name = plainName(member);
    const before = members.get(name);
    if (name === FILE_NAME && before !== undefined && value !== null && before !== value) {
      doubt(search, `a record has two file names, '${before}' and '${value}'`);
    }
    if (before === undefined && value !== null && value !== '') members.set(name, value);
  }
  return members;
}

/** The file name of a record: `file_name`, otherwise the first that looks like one, otherwise the first. */
function nameIn(members: ReadonlyMap<string, unknown>, path: string, search: Search): string | undefined {
  const names = members.has(FILE_NAME) ? [FILE_NAME] : NAMES;
  const values = names.flatMap((name) => (members.has(name) ? [members.get(name)] : []));
  const texts = values.filter((value) => typeof value === 'string');
  if (texts.length === 0 && values.length > 0) doubt(search, `the file name of '${path}' is not a text`);
  return texts.find(looksLikeFile) ?? texts[0];
}

/** The document that an object names. Beside lists, its `name` is that of a filing or a company. */
function documentOf(members: ReadonlyMap<string, unknown>, isAlone: boolean) {
  for (const member of [FILE_NAME, PRIMARY, 'document', 'name']) {
    const name = members.get(member);
    const isLikely = member === 'document' || member === 'name';
    if (typeof name !== 'string' || (isLikely && !looksLikeFile(name)) || (member === 'name' && !isAlone)) continue;
    return { name, isPrimary: member === PRIMARY, isLikely: isLikely && isAlone };
  }
  return undefined;
}

function hasFileList(item: unknown): boolean {
  return (
    isJsonObject(item) &&
    Object.entries(item).some(([name, value]) => FILE_LISTS.has(plainName(name)) && value !== null)
  );
}

/** Whether an item of an unknown list may be a file: it has a name, or there is one of a file inside it. */
function couldBeFile(item: unknown): boolean {
  return looksLikeFile(item) || hasName(unwrapped(isJsonObject(item) ? item : {})) || holdsFiles(item);
}

function hasName(record: JsonObject): boolean {
  return Object.entries(record).some(
    ([member, value]) => NAMES.includes(plainName(member)) && typeof value === 'string' && value !== '',
  );
}

function holdsFiles(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => looksLikeFile(item) || holdsFiles(item));
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([member, inner]) => {
    const name = plainName(member);
    if (METADATA.has(name) || inner === null) return false;
    return FILE_LISTS.has(name) || (NAMES.includes(name) && looksLikeFile(inner)) || holdsFiles(inner);
  });
}

function looksLikeFile(value: unknown): boolean {
  return typeof value === 'string' && EXTENSION.test(value) && !value.includes('://');
}

function doubt(search: Search, why: string): void {
  search.doubt ??= why;
}

/**
 * The accession number that a record names: the asked one if it names several. As numbers, they have lost leading
 * zeros, and perhaps their last digits.
 */
export function accessionOf(record: JsonObject, asked: AccessionNumber): AccessionNumber | undefined {
  const named = Object.entries(record).flatMap(([member, value]) => {
    const name = plainName(member);
    if (name === 'filing' && isJsonObject(value)) return accessionOf(value, asked) ?? [];
    return ACCESSIONS.has(name) ? (accessionFrom(value, asked) ?? []) : [];
  });
  return named.find((each) => each === asked) ?? named[0];
}

function accessionFrom(value: unknown, asked: AccessionNumber): AccessionNumber | undefined {
  if (typeof value === 'string') return accessionIn(value.trim());
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1e9) return undefined;
  return value === Number(asked.replaceAll('-', '')) ? asked : accessionIn(String(value).padStart(18, '0'));
}

/** Gathers what a response says about itself beside some known records, and the largest total that it states. */
export function readAllMarkers(json: unknown, records: ReadonlySet<unknown>): ResponseMarkers & { total: number } {
  const markers = { pageCount: 0, total: 0 };
  const visit = (value: unknown, isItem: boolean): void => {
    if (Array.isArray(value)) {
      for (const item of value) visit(item, true);
    } else if (isJsonObject(value) && !records.has(value)) {
      const members = Object.entries(value);
      // An edge around a record has a cursor of its own.
      const isWrapper = isItem && members.some(([, inner]) => isJsonObject(inner) && records.has(inner));
      if (!isWrapper) readMarkers(value, markers);
      for (const [member, inner] of members) {
        if (METADATA.has(plainName(member)) || plainName(member) === SHARDS) continue;
        markers.total = Math.max(markers.total, totalOf(member, inner) ?? 0);
        visit(inner, false);
      }
    }
  };
  visit(json, false);
  return markers;
}
