// Finds the records of a response whose shape is not described, from the names of its members. A list is read only if
// its items are certainly files. Anything else that could be a file is a doubt, and one doubt rejects the whole
// response, because a file that is missed once would be missed in every later run.
import { isJsonObject, type JsonObject } from '../json.ts';
import { counted } from '../text.ts';
import { type AccessionNumber, accessionIn } from './accession.ts';
import { isMetadata, plainName, type ResponseMarkers, readMarkers, totalOf } from './listing-markers.ts';

/** A record of a listing: a file of a filing, or a document without a name. */
export interface ListingRecord {
  readonly name: string | undefined;
  /** All members of the record; empty if the response has only a name. */
  readonly record: JsonObject;
  /** The accession number that the record, or the filing around it, names. */
  readonly accession: AccessionNumber | undefined;
  /** Whether the name is that of a filing's primary document. The filing may have more files. */
  readonly isPrimary?: boolean;
}

/** A total that the response states, and the number of records in the lists that the total is about. */
export interface StatedTotal {
  /** The path of the object that states the total. Objects of several pages with one path belong together. */
  readonly path: string;
  readonly total: number;
  readonly records: number;
  /** Whether a smaller total is also wrong, as for one that the user has described. */
  readonly isExact?: boolean | undefined;
}

/** All records of one response, and the markers beside them. */
interface RecordSearchResult {
  readonly records: readonly ListingRecord[];
  /** The number of records in each list. */
  readonly listSizes: readonly number[];
  readonly totals: readonly StatedTotal[];
  readonly markers: ResponseMarkers;
  /** The reason why the records may not be all files of the response. */
  readonly doubt: string | undefined;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
// The names below are plain names of members.
const FILE_NAME = 'filename';
const PRIMARY = 'primarydocument';
/** The members with the name of a file, the most certain one first. */
const NAMES = [FILE_NAME, 'name', 'document', PRIMARY];
const FILE_LISTS = words('files filenames documents attachments exhibits graphics');
const CONTAINERS = words(
  'data results records items value content hits response docs directory item edges attributes filings filing',
);
/** Objects around a record: GraphQL's edges, JSON:API's resources, Elasticsearch's hits. */
const WRAPPERS = words('node attributes source');
const ACCESSIONS = words('accessionno accessionnumber accession');
/** Elasticsearch counts its machines in this member. Only their failures matter. */
export const SHARDS = 'shards';
const EXTENSION = /\.[A-Za-z][A-Za-z0-9]{0,4}$/;

/** A value's path in the response, its role, and the accession number around it. */
interface ValueContext {
  readonly path: string;
  /**
   * `files`: the member names files. `container`: values with names are files. `embedded`: values with names are files
   * in all members. `unknown`: nothing says whether values are files.
   */
  readonly role: 'files' | 'container' | 'embedded' | 'unknown';
  /** The accession number of the nearest object around the value that names one. */
  readonly accession: AccessionNumber | undefined;
}

/**
 * The number of lists in a value and of their records, and the largest total that is about the lists around the value.
 */
interface Content {
  readonly lists: number;
  readonly records: number;
  readonly total?: number;
}

const NOTHING: Content = { lists: 0, records: 0 };

/** A document that an object names itself, and not in a list. */
interface NamedDocument extends ListingRecord {
  readonly path: string;
  /** Whether only the extension shows that the name is that of a file. */
  readonly isLikely: boolean;
}

interface Search {
  readonly requested: AccessionNumber;
  /** The records of all lists. */
  readonly records: ListingRecord[];
  /** The documents outside all lists. */
  readonly documents: NamedDocument[];
  readonly listSizes: number[];
  readonly totals: StatedTotal[];
  readonly markers: ResponseMarkers;
  /** The first doubt. */
  doubt?: string;
}

/**
 * Returns the records of all lists of a response, or undefined if nothing in the response is like a listing. Visits
 * each value a fixed number of times.
 */
export function findRecords(json: unknown, requested: AccessionNumber): RecordSearchResult | undefined {
  const markers: ResponseMarkers = { pageCount: 0 };
  const search: Search = { requested, records: [], documents: [], listSizes: [], totals: [], markers };
  const { lists } = readValue(json, { path: '', role: 'container', accession: undefined }, search);
  const names = new Set(search.records.map(({ name }) => name));
  const documents = search.documents.filter(({ name }) => !names.has(name));
  const likely = documents.find(({ isLikely }) => isLikely);
  if (lists > 0 && likely) addDoubt(search, `'${likely.path}' may be a file, too`);
  // Documents beside lists do not count, because a list may name them, too. Without lists, the documents are the
  // records.
  const listSizes = lists === 0 ? documents.map(() => 1) : search.listSizes;
  const isListing = lists > 0 || documents.length > 0 || search.doubt !== undefined;
  if (!isListing && markers.error === undefined) return undefined;
  return { records: [...documents, ...search.records], listSizes, totals: search.totals, markers, doubt: search.doubt };
}

function readValue(value: unknown, context: ValueContext, search: Search): Content {
  if (Array.isArray(value)) return readList(value, context, search);
  return isJsonObject(value) ? readObject(value, context, search) : NOTHING;
}

/** Reads an object that is not the record of a file: the whole response, a container, a filing's own record. */
function readObject(object: JsonObject, context: ValueContext, search: Search): Content {
  const { markers } = search;
  const { pageCount } = markers;
  readMarkers(object, markers);
  const accession = accessionOf(object, search.requested) ?? context.accession;
  let lists = 0;
  let records = 0;
  let total = 0;
  for (const [member, value] of Object.entries(object)) {
    const inner = readMember(member, value, { ...context, accession }, search);
    lists += inner.lists;
    records += inner.records;
    total = Math.max(total, inner.total ?? 0);
  }
  const isAlone = lists === 0;
  const document = documentOf(plainMembers(object, search), isAlone);
  if (document !== undefined) {
    // The size in a record around several files may be that of any of them.
    search.documents.push({ ...document, path: context.path, record: isAlone ? object : {}, accession });
    if (isAlone && context.role === 'unknown') addDoubt(search, `'${context.path}' may be a file, too`);
    // A page count in the record of one file is that of a document.
    if (isAlone) markers.pageCount = pageCount;
  }
  if (isAlone) return { lists, records, total };
  if (total > 0) search.totals.push({ path: context.path, total, records });
  return { lists, records };
}

function readMember(member: string, value: unknown, context: ValueContext, search: Search): Content {
  const name = plainName(member);
  const path = context.path === '' ? member : `${context.path}.${member}`;
  const total = totalOf(member, value);
  if (total !== undefined) return { ...NOTHING, total };
  if (isMetadata(member)) return NOTHING;
  if (name === SHARDS && isJsonObject(value)) readMarkers(value, search.markers);
  if (name === SHARDS) return NOTHING;
  if (FILE_LISTS.has(name)) {
    // Some services write an empty list as null.
    if (value === null) return { lists: 1, records: 0 };
    const content = readValue(value, { ...context, path, role: 'files' }, search);
    if (content.lists === 0) addDoubt(search, `'${path}' names files, but holds no list`);
    return content;
  }
  const isContainer = CONTAINERS.has(name) || context.role === 'embedded' || context.role === 'files';
  const role = name === 'embedded' ? name : isContainer ? 'container' : 'unknown';
  if (!Array.isArray(value) || isContainer || value.some(hasFileList)) {
    return readValue(value, { ...context, path, role }, search);
  }
  if (value.some(isNamed) || holdsFiles(value)) addDoubt(search, `'${path}' may be a list of files, too`);
  return NOTHING;
}

/** Reads a list of files or filings. */
function readList(items: readonly unknown[], { path, role, accession }: ValueContext, search: Search): Content {
  const values = items.filter((item) => item !== null);
  const isOfTexts = values.every((item) => typeof item === 'string');
  const displayPath = path === '' ? 'the list' : `'${path}'`;
  // In a container, texts without an extension may be the kinds of something.
  if (isOfTexts && values.length > 0 && role !== 'files' && path !== '' && !values.some(looksLikeFile)) return NOTHING;
  if (!isOfTexts && !values.every(isJsonObject)) {
    addDoubt(search, `${displayPath} holds other items than file names or records`);
  }
  search.listSizes.push(items.length);
  let hasNames = false;
  for (const [index, item] of items.entries()) {
    if (isJsonObject(item)) {
      hasNames = readItem(item, { path: `${path}[${index}]`, role: 'container', accession }, search) || hasNames;
    } else {
      const name = typeof item === 'string' && item !== '' ? item : undefined;
      search.records.push({ name, record: {}, accession });
      hasNames ||= name !== undefined;
    }
  }
  if (items.length > 0 && !hasNames)
    addDoubt(search, `${displayPath} has ${counted(items.length, 'record')} and no file name`);
  return { lists: 1, records: items.length };
}

/** Reads an object of a list. Returns whether the object names a file or holds a list. */
function readItem(item: JsonObject, context: ValueContext, search: Search): boolean {
  const record = unwrap(item);
  const members = plainMembers(record, search);
  const name = nameIn(members, context.path, search);
  const isPrimary = name !== undefined && name === members.get(PRIMARY) && !members.has(FILE_NAME);
  // The item may be a filing. Otherwise its members describe one file, and no list in them is read.
  if (name === undefined || isPrimary || hasFileList(record)) {
    const { pageCount } = search.markers;
    if (readObject(item, context, search).lists > 0) return true;
    // A page count in the record of a document is that of the document.
    search.markers.pageCount = pageCount;
  }
  const accession = accessionOf(record, search.requested) ?? accessionOf(item, search.requested) ?? context.accession;
  search.records.push({ name, record, accession, isPrimary });
  const isOurs = accession === undefined || accession === search.requested;
  if (name === undefined && isOurs) readNameless(item, context.path, search);
  if (name !== undefined && record !== item) {
    // The cursor of an edge is not a sign of more.
    const { cursor: _, ...others } = item;
    readMarkers(others, search.markers);
  }
  return name !== undefined;
}

/** Adds a doubt if a record without a name holds a text that looks like a file name, in any member. */
function readNameless(value: unknown, path: string, search: Search): void {
  const last = typeof value === 'string' ? value.replace(/^\w+:\/\/[^?#]*\/([^?#/]*).*$/s, '$1') : undefined;
  if (looksLikeFile(last)) addDoubt(search, `'${path}' has no file name, but holds '${value}'`);
  if (typeof value !== 'object' || value === null) return;
  for (const [member, inner] of Object.entries(value)) {
    if (!isMetadata(member)) readNameless(inner, path, search);
  }
}

/** Returns the record inside an item that only wraps a record, otherwise the item. */
function unwrap(item: JsonObject): JsonObject {
  const members = Object.entries(item);
  if (members.some(([member]) => NAMES.includes(plainName(member)))) return item;
  const inner = members.find(([member, value]) => WRAPPERS.has(plainName(member)) && isJsonObject(value));
  return (inner?.[1] as JsonObject | undefined) ?? item;
}

/** Returns the members by their plain names, without null and empty texts. Two file names that differ are a doubt. */
function plainMembers(record: JsonObject, search: Search): ReadonlyMap<string, unknown> {
  const members = new Map<string, unknown>();
  for (const [member, value] of Object.entries(record)) {
    const name = plainName(member);
    const earlier = members.get(name);
    if (name === FILE_NAME && earlier !== undefined && value !== null && earlier !== value) {
      addDoubt(search, `a record has two file names, '${earlier}' and '${value}'`);
    }
    if (earlier === undefined && value !== null && value !== '') members.set(name, value);
  }
  return members;
}

/**
 * Returns the file name of a record: `file_name`, otherwise the first name that looks like a file, otherwise the first.
 */
function nameIn(members: ReadonlyMap<string, unknown>, path: string, search: Search): string | undefined {
  const names = members.has(FILE_NAME) ? [FILE_NAME] : NAMES;
  const values = names.filter((name) => members.has(name)).map((name) => members.get(name));
  const texts = values.filter((value) => typeof value === 'string');
  if (texts.length === 0 && values.length > 0) addDoubt(search, `the file name of '${path}' is not a text`);
  return texts.find(looksLikeFile) ?? texts[0];
}

/** Returns the document that an object names, or undefined. Beside lists, `name` is that of a filing or a company. */
function documentOf(members: ReadonlyMap<string, unknown>, isAlone: boolean) {
  const certain = [FILE_NAME, PRIMARY].find((member) => typeof members.get(member) === 'string');
  const likely = isAlone ? ['document', 'name'] : ['document'];
  const member = certain ?? likely.find((each) => looksLikeFile(members.get(each)));
  if (member === undefined) return undefined;
  const isLikely = member !== certain && isAlone;
  return { name: String(members.get(member)), isPrimary: member === PRIMARY, isLikely };
}

/** Returns whether an item has a member that names files. */
function hasFileList(item: unknown): boolean {
  if (!isJsonObject(item)) return false;
  return Object.entries(item).some(([member, value]) => FILE_LISTS.has(plainName(member)) && value !== null);
}

/** Returns whether an item, or the record inside it, has a name of any kind. */
function isNamed(item: unknown): boolean {
  if (!isJsonObject(item)) return false;
  return Object.entries(unwrap(item)).some(
    ([member, value]) => NAMES.includes(plainName(member)) && typeof value === 'string' && value !== '',
  );
}

/** Returns whether a value holds, at any depth, a member that names files or the name of a file. */
function holdsFiles(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => looksLikeFile(item) || holdsFiles(item));
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(([member, inner]) => {
    const name = plainName(member);
    if (isMetadata(member) || inner === null) return false;
    return FILE_LISTS.has(name) || (NAMES.includes(name) && looksLikeFile(inner)) || holdsFiles(inner);
  });
}

function looksLikeFile(value: unknown): boolean {
  return typeof value === 'string' && EXTENSION.test(value) && !value.includes('://');
}

function addDoubt(search: Search, reason: string): void {
  search.doubt ??= reason;
}

/**
 * Returns the accession number that a record names, or undefined. If the record names several, the requested one wins.
 * As numbers, accession numbers have lost leading zeros, and perhaps their last digits.
 */
export function accessionOf(record: JsonObject, requested: AccessionNumber): AccessionNumber | undefined {
  const numbers = Object.entries(record).flatMap(([member, value]) => {
    const name = plainName(member);
    if (name === 'filing' && isJsonObject(value)) return accessionOf(value, requested) ?? [];
    return ACCESSIONS.has(name) ? (accessionFrom(value, requested) ?? []) : [];
  });
  return numbers.find((each) => each === requested) ?? numbers[0];
}

function accessionFrom(value: unknown, requested: AccessionNumber): AccessionNumber | undefined {
  if (typeof value === 'string') return accessionIn(value.trim());
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1e9) return undefined;
  return value === Number(requested.replaceAll('-', '')) ? requested : accessionIn(String(value).padStart(18, '0'));
}
