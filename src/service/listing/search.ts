import { isJsonObject, type JsonObject } from '../../json.ts';
import type { AccessionNumber } from '../accession.ts';

/** A record of a listing. */
export interface Found {
  /** Undefined: a document without a name. */
  readonly name: string | undefined;
  readonly record: JsonObject;
  /** It says that it belongs to another filing. */
  readonly isOther: boolean;
}

/** Members that name a file and nothing else, in order of preference. */
const FILE_NAMES = ['file_name', 'fileName', 'filename'];
const DOCUMENTS = ['document', 'primary_document'];
/** Members that name a file, but may also name a filing or a company that has a list of files. */
const NAMES = [...FILE_NAMES, 'name', ...DOCUMENTS];
const ACCESSIONS = ['accession_no', 'accession_number', 'accessionNo', 'accessionNumber', 'accession'];
/** Members that hold files, also in a record with a name of its own. */
const FILE_LISTS = ['files', 'file_names', 'fileNames', 'filenames', 'documents', 'attachments'];
const FILINGS = ['filings', 'filing', 'data', 'results', 'records'];
/** Members that may hold anything; files, where no other member does. */
const CONTAINERS = [...FILINGS, 'value'];
/** Never looked into: their texts are messages. */
const MESSAGES = ['error', 'errors', 'warnings', 'messages'];
const EXTENSION = /\.[A-Za-z][A-Za-z0-9]{0,4}$/;
const DEEPEST = 12;
/** No file system has a name of half that length. Bytes. */
const LONGEST_NAME = 1000;
const NO_RECORD: JsonObject = {};

/** Where a value is. */
interface Place {
  /** The member that holds it, or its list; undefined for the whole answer. */
  readonly member: string | undefined;
  readonly isOther: boolean;
  readonly depth: number;
}

/**
 * The records of files in an answer, of all the lists that it has; undefined when it is nothing like a listing. The work
 * is proportional to the data, whatever its shape.
 */
export function findRecords(json: unknown, accession: AccessionNumber): readonly Found[] | undefined {
  // First what is sure to be a file, and what may be one only where that finds none.
  for (const isSure of [true, false]) {
    const search = new Search(isSure, accession);
    search.value(json, { member: undefined, isOther: false, depth: 0 });
    if (search.found.length > 0 || (!isSure && search.isListing)) return search.found;
  }
  return undefined;
}

class Search {
  readonly found: Found[] = [];
  /** It has come upon what a listing without files looks like. */
  isListing = false;
  readonly #isSure: boolean;
  readonly #accession: AccessionNumber;

  constructor(isSure: boolean, accession: AccessionNumber) {
    this.#isSure = isSure;
    this.#accession = accession;
  }

  value(value: unknown, place: Place): void {
    const { member, depth } = place;
    if (depth > DEEPEST) return;
    if (Array.isArray(value)) this.#list(value, place);
    else if (isJsonObject(value)) this.#object(value, place, isFiling(member) ? 'single' : 'other');
    // Some services write an empty list as null.
    else if (value === null && member !== undefined && FILE_LISTS.includes(member)) this.isListing = true;
  }

  #list(items: readonly unknown[], place: Place): void {
    const isOfFiles = this.#isOfFiles(items, place.member);
    const isKnown = isOfFiles || ['items', ...CONTAINERS].includes(place.member ?? '');
    if (items.length === 0 && isKnown) this.isListing = true;
    const inside = { ...place, depth: place.depth + 1 };
    for (const item of items) {
      if (isJsonObject(item)) this.#object(item, inside, isOfFiles ? 'item' : 'other');
      else if (typeof item === 'string' && isOfFiles) {
        this.found.push({ name: isName(item) ? item : undefined, record: NO_RECORD, isOther: place.isOther });
      }
    }
  }

  #isOfFiles(items: readonly unknown[], member: string | undefined): boolean {
    if (member === undefined || FILE_LISTS.includes(member)) return true;
    if (items.some((item) => isJsonObject(item) && nameOf(item, FILE_NAMES) !== undefined)) return true;
    if (this.#isSure) return false;
    return CONTAINERS.includes(member) || items.some((item) => isJsonObject(item) || EXTENSION.test(String(item)));
  }

  /** @param role an item of a list of files, or a single object in its place, may name a file by any of the names */
  #object(record: JsonObject, { isOther: isWithinOther, depth }: Place, role: 'item' | 'single' | 'other'): void {
    const isOther = isWithinOther || isOfAnother(record, this.#accession);
    if (isOther) this.isListing = true;
    const before = this.found.length;
    const ownName = nameOf(record, FILE_NAMES);
    if (ownName !== undefined) this.found.push({ name: ownName, record, isOther });
    for (const [member, value] of Object.entries(record)) {
      // What is in a file's record tells of that file, unless it is a list of files.
      const isSearched = ownName === undefined ? !MESSAGES.includes(member) : FILE_LISTS.includes(member);
      if (isSearched) this.value(value, { member, isOther, depth: depth + 1 });
    }
    // A record of several files does not say which of them its size is of.
    if (ownName !== undefined && this.found.length > before + 1) {
      this.found[before] = { name: ownName, record: NO_RECORD, isOther };
    }
    if (this.found.length > before || role === 'other') return;
    const name = role === 'item' ? nameOf(record, NAMES) : this.#singleName(record, depth === 0);
    // A document without a name is a record all the same, and so is a filing of somebody else's.
    const isRecord = role === 'item' && (isOther || NAMES.some((each) => Object.hasOwn(record, each)));
    if (name !== undefined || isRecord) this.found.push({ name, record, isOther });
  }

  /** A single object that has a name may be a filing or a company beside its files: it is a file where there are no others. */
  #singleName(record: JsonObject, isWhole: boolean): string | undefined {
    if (this.#isSure) return undefined;
    const name = nameOf(record, NAMES);
    return nameOf(record, DOCUMENTS) ?? (name !== undefined && (isWhole || EXTENSION.test(name)) ? name : undefined);
  }
}

/** Whether a single object there may be a filing's, or its only file's. */
function isFiling(member: string | undefined): boolean {
  return member === undefined || FILINGS.includes(member);
}

function nameOf(record: JsonObject, members: readonly string[]): string | undefined {
  for (const member of members) {
    const name = Object.hasOwn(record, member) ? record[member] : undefined;
    if (isName(name)) return name;
  }
  return undefined;
}

function isName(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_NAME) return false;
  // A UTF-16 unit takes at most three bytes.
  return value.length * 3 <= LONGEST_NAME || Buffer.byteLength(value) <= LONGEST_NAME;
}

/** Whether a record says that it belongs to another filing, with or without the hyphens. */
function isOfAnother(record: JsonObject, accession: AccessionNumber): boolean {
  const { filing } = record;
  if (isJsonObject(filing) && isOfAnother(filing, accession)) return true;
  return ACCESSIONS.some((member) => {
    const text = accessionText(Object.hasOwn(record, member) ? record[member] : undefined);
    return text !== '' && text.replaceAll('-', '') !== accession.replaceAll('-', '');
  });
}

/** What a member says of the accession number; a number has lost its leading zeros. */
function accessionText(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' ? String(value).padStart(18, '0') : '';
}
