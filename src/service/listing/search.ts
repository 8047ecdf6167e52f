import { isJsonObject, type JsonObject } from '../../json.ts';
import type { AccessionNumber } from '../accession.ts';

/** A file that was found: its name, and the record that names it. */
export interface Found {
  readonly name: string;
  readonly record: JsonObject;
}

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
/** No file system has a name of half that length. Bytes. */
const LONGEST_NAME = 1000;
const NO_RECORD: JsonObject = {};

/**
 * The files that JSON data tells of, wherever in it they stand; undefined when it is nothing like a listing.
 * Each value is looked into once, so that the work is proportional to the data, whatever its shape.
 */
export function findFiles(json: unknown, accession: AccessionNumber): readonly Found[] | undefined {
  return filesIn(json, accession, 0);
}

function filesIn(value: unknown, accession: AccessionNumber, depth: number): readonly Found[] | undefined {
  if (depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return filesInArray(value, accession, depth);
  return isJsonObject(value) ? filesInObject(value, accession, depth) : undefined;
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
      if (isName(item)) found.push({ name: item, record: NO_RECORD });
    } else if (isJsonObject(item)) {
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
  const searched = new Set<string>();
  for (const members of membersToSearch(record, own)) {
    const inner = nested(record, members, searched, (value) => filesIn(value, accession, depth + 1));
    // A filing's record may have a name of its own, a company's or a primary document's, beside its files.
    if (inner !== undefined && (own === undefined || inner.length > 0)) return inner;
  }
  if (own !== undefined) return [{ name: own.name, record }];
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
    if (isName(name)) return { member, name };
  }
  return undefined;
}

function isName(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_NAME) return false;
  // A UTF-16 unit takes at most three bytes.
  return value.length * 3 <= LONGEST_NAME || Buffer.byteLength(value) <= LONGEST_NAME;
}

/** The telling members and, where nothing tells, all others, the likelier ones first; a member may stand in several. */
function* membersToSearch(record: JsonObject, own: OwnName | undefined): Generator<readonly string[]> {
  if (own !== undefined && FILE_NAMES.includes(own.member)) return;
  const among = (members: readonly string[]) => members.filter((member) => Object.hasOwn(record, member));
  if (own?.member === 'document' || own?.member === 'primary_document') {
    yield among(FILE_LISTS);
    return;
  }
  yield among(own === undefined ? CONTAINERS : [...FILE_LISTS, ...FILINGS]);
  if (own !== undefined && EXTENSION.test(own.name)) return;
  const present = Object.keys(record).filter((member) => !ACCESSIONS.includes(member) && !FAILURES.includes(member));
  const likely = present.filter((member) => holdsFiles(record[member]));
  if (own !== undefined) yield likely;
  else yield [...likely, ...present.filter((member) => isJsonObject(record[member])), ...present];
}

function holdsFiles(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.some((item) => isJsonObject(item) || (typeof item === 'string' && EXTENSION.test(item)))
  );
}

/** The first member with files in it; else the first that is at least a listing. What was searched before is not again. */
function nested(
  record: JsonObject,
  members: readonly string[],
  searched: Set<string>,
  search: (value: unknown) => readonly Found[] | undefined,
): readonly Found[] | undefined {
  let empty: readonly Found[] | undefined;
  for (const member of members) {
    if (searched.has(member)) continue;
    searched.add(member);
    const value = record[member];
    // Some services write an empty list as null.
    const files = value === null && FILE_LISTS.includes(member) ? [] : search(value);
    if (files !== undefined && files.length > 0) return files;
    empty ??= files;
  }
  return empty;
}

/** Whether a record says that it belongs to another filing, with or without the dashes. */
function isOfAnother(record: JsonObject, accession: AccessionNumber): boolean {
  const { filing } = record;
  if (isJsonObject(filing) && isOfAnother(filing, accession)) return true;
  const digits = accession.replaceAll('-', '');
  return ACCESSIONS.some((member) => {
    const value = Object.hasOwn(record, member) ? record[member] : undefined;
    // A number has lost the noughts before it.
    if (typeof value === 'number') return value !== Number(digits);
    return typeof value === 'string' && value.trim() !== '' && value.trim().replaceAll('-', '') !== digits;
  });
}
