import { FilingsError } from '../errors.ts';
import type { AccessionNumber } from './accession.ts';
import { describeAnswer } from './listing-seen.ts';

/** A file of a filing: its number, its name, and whatever else the service said of it. */
export interface ListedFile {
  readonly accession_no: string;
  readonly file_name: string;
  readonly [member: string]: unknown;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Members that name a file and nothing else, in order of preference. */
const FILE_NAMES = ['file_name', 'fileName', 'filename'];
/** Members that name a file, but may stand beside a list of files, as in a filing's own record. */
const NAMES = [...FILE_NAMES, 'name', 'document', 'primary_document'];
const ACCESSIONS = ['accession_no', 'accession_number', 'accessionNo', 'accessionNumber', 'accession'];
/** Members that hold files, even when they stand in a record with a name of its own. */
const FILE_LISTS = ['files', 'file_names', 'fileNames', 'filenames', 'documents', 'attachments'];
const FILINGS = ['filings', 'filing', 'data', 'results', 'records'];
/** Looked into first. */
const CONTAINERS = [...FILE_LISTS, 'items', ...FILINGS, 'value'];
/** Never looked into: their texts are messages. */
const FAILURES = ['error', 'errors', 'warnings', 'messages'];
const EXTENSION = /\.[A-Za-z0-9]{1,5}$/;
const DEEPEST = 12;

/**
 * Reads an answer of `GET /v1/filings` tolerantly: the contract does not show its shape
 * (part 4, "Other endpoints"). Records of another accession number are dropped, documents
 * without a name too; a name comes once. An empty list is no match. Throws `integrity`
 * for what can't be read as a listing, saying what it saw.
 */
export function readListing(body: Buffer, accession: AccessionNumber): readonly ListedFile[] {
  const text = new TextDecoder().decode(body);
  const json = parsed(text);
  const records = json === undefined ? undefined : filesIn(json, accession, 0);
  if (records === undefined) {
    throw new FilingsError(
      'integrity',
      `the listing of ${accession}: cannot be read: it is ${describeAnswer(text, json)}`,
      {
        hint: 'is the base URL the right one? See: filings config list',
      },
    );
  }
  const files = new Map<string, ListedFile>();
  for (const { name, members } of records) {
    if (!files.has(name)) files.set(name, listedFile(accession, name, members));
  }
  return [...files.values()];
}

/** The service's other members follow ours; a spread makes own members: one called `__proto__` stays data. */
function listedFile(accession: AccessionNumber, name: string, members: JsonObject): ListedFile {
  const { accession_no: _, file_name: __, ...others } = members;
  return { accession_no: accession, file_name: name, ...others };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Found {
  readonly name: string;
  readonly members: JsonObject;
}

/** The files of a value; undefined when it is nothing like a listing. */
function filesIn(value: unknown, accession: AccessionNumber, depth: number): readonly Found[] | undefined {
  if (depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return filesInArray(value, accession, depth);
  return isObject(value) ? filesInObject(value, accession, depth) : undefined;
}

function filesInArray(
  items: readonly unknown[],
  accession: AccessionNumber,
  depth: number,
): readonly Found[] | undefined {
  const found: Found[] = [];
  let readable = items.length === 0;
  for (const item of items) {
    if (typeof item === 'string') {
      readable = true;
      if (item !== '') found.push({ name: item, members: {} });
    } else if (isObject(item)) {
      const files = filesInObject(item, accession, depth + 1);
      readable ||= files !== undefined;
      for (const file of files ?? []) found.push(file);
    }
  }
  return readable ? found : undefined;
}

function filesInObject(record: JsonObject, accession: AccessionNumber, depth: number): readonly Found[] | undefined {
  if (isOfAnother(record, accession)) return [];
  const own = ownName(record);
  for (const members of membersToSearch(record, own)) {
    const inner = nested(record, members, accession, depth);
    // A filing's record may have a name of its own, a company's or a primary document's, beside its files.
    if (inner !== undefined && (own === undefined || inner.length > 0)) return inner;
  }
  if (own !== undefined) return [{ name: own.name, members: record }];
  // A document without a name is passed over; it is a listing all the same.
  return NAMES.some((member) => Object.hasOwn(record, member)) ? [] : undefined;
}

interface OwnName {
  readonly member: string;
  readonly name: string;
}

function ownName(record: JsonObject): OwnName | undefined {
  for (const member of NAMES) {
    const name = Object.hasOwn(record, member) ? record[member] : undefined;
    if (typeof name === 'string' && name !== '') return { member, name };
  }
  return undefined;
}

/** The telling members and, where nothing tells, all others, the likelier ones first. */
function membersToSearch(record: JsonObject, own: OwnName | undefined): readonly (readonly string[])[] {
  if (own !== undefined && FILE_NAMES.includes(own.member)) return [];
  const present = Object.keys(record).filter((member) => !ACCESSIONS.includes(member) && !FAILURES.includes(member));
  const among = (members: readonly string[]) => members.filter((member) => present.includes(member));
  if (own?.member === 'document' || own?.member === 'primary_document') return [among(FILE_LISTS)];
  if (own !== undefined && EXTENSION.test(own.name)) return [among([...FILE_LISTS, ...FILINGS])];
  const likely = present.filter((member) => holdsFiles(record[member]));
  if (own !== undefined) return [among([...FILE_LISTS, ...FILINGS]), likely];
  const objects = present.filter((member) => isObject(record[member]));
  return [among(CONTAINERS), [...likely, ...objects, ...present]];
}

function holdsFiles(value: unknown): boolean {
  return (
    Array.isArray(value) && value.some((item) => isObject(item) || (typeof item === 'string' && EXTENSION.test(item)))
  );
}

/** The first member with files in it; else the first that is at least a listing. */
function nested(
  record: JsonObject,
  members: readonly string[],
  accession: AccessionNumber,
  depth: number,
): readonly Found[] | undefined {
  let empty: readonly Found[] | undefined;
  for (const member of members) {
    const value = record[member];
    // Some services write an empty list as null.
    const files = value === null && FILE_LISTS.includes(member) ? [] : filesIn(value, accession, depth + 1);
    if (files !== undefined && files.length > 0) return files;
    empty ??= files;
  }
  return empty;
}

/** Whether a record says that it belongs to another filing, with or without the dashes. */
function isOfAnother(record: JsonObject, accession: AccessionNumber): boolean {
  const { filing } = record;
  if (isObject(filing) && isOfAnother(filing, accession)) return true;
  return ACCESSIONS.some((member) => {
    const value = Object.hasOwn(record, member) ? record[member] : undefined;
    const text = typeof value === 'number' ? String(value).padStart(18, '0') : value;
    if (typeof text !== 'string' || text.trim() === '') return false;
    return text.trim().replaceAll('-', '') !== accession.replaceAll('-', '');
  });
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
