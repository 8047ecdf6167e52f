import { isJsonObject, type JsonObject } from '../json.ts';
import { type AccessionNumber, accessionIn } from './accession.ts';

/** A record of a listing. */
export interface Found {
  /** Undefined: a document without a name. */
  readonly name: string | undefined;
  /** What else is said of it. */
  readonly record: JsonObject;
  /** It says that it belongs to another filing. */
  readonly isOther: boolean;
  /** It is an item of a list; a filing's document may be named beside a list that has it, too. */
  readonly isListed: boolean;
}

/** Members that name a file and nothing else, in order of preference. */
const FILE_NAMES = ['file_name', 'fileName', 'filename'];
/** A filing has its document in these. */
const DOCUMENTS = ['document', 'primary_document'];
/** A name may be a filing's or a company's. */
const NAMES = ['name', ...DOCUMENTS];
const ACCESSIONS = ['accession_no', 'accession_number', 'accessionNo', 'accessionNumber', 'accession'];
/** Members that hold files, also in a record with a name of its own. */
const FILE_LISTS = ['files', 'file_names', 'fileNames', 'filenames', 'documents', 'attachments'];
/** Members that may hold anything; files, where no other member does. */
const CONTAINERS = ['filings', 'filing', 'data', 'results', 'records', 'value'];
/** Never looked into: their texts are messages. */
const MESSAGES = ['error', 'errors', 'warnings', 'messages'];
const EXTENSION = /\.[A-Za-z][A-Za-z0-9]{0,4}$/;

/** Where a value is. */
interface Place {
  /** The member that holds it; undefined for the whole answer. */
  readonly member: string | undefined;
  readonly isOther: boolean;
}

/** Of all the lists that an answer has; undefined when it is nothing like a listing. Each value is visited once. */
export function findRecords(json: unknown, accession: AccessionNumber): readonly Found[] | undefined {
  const search = new Search(accession);
  search.value(json, { member: undefined, isOther: false });
  const found = search.sure.length > 0 ? search.sure : search.likely;
  if (found.length === 0 && !search.isListing) return undefined;
  const listed = new Set(found.filter(({ isListed }) => isListed).map(({ name }) => name));
  return found.filter(({ name, isListed }) => isListed || !listed.has(name));
}

class Search {
  /** What is sure to be a file; only where there is none, what is likely to be one. */
  readonly sure: Found[] = [];
  readonly likely: Found[] = [];
  /** It has come upon what a listing without files looks like. */
  isListing = false;
  readonly #accession: AccessionNumber;

  constructor(accession: AccessionNumber) {
    this.#accession = accession;
  }

  value(value: unknown, place: Place): void {
    if (Array.isArray(value)) this.#list(value, place);
    else if (isJsonObject(value)) this.#object(value, place, undefined);
    // Some services write an empty list as null.
    else if (value === null && FILE_LISTS.includes(place.member ?? '')) this.isListing = true;
  }

  #list(items: readonly unknown[], place: Place): void {
    const { member = 'files', isOther } = place;
    const isSure = FILE_LISTS.includes(member) || items.some(isLikeFile);
    const isKnown = isSure || CONTAINERS.includes(member);
    if (items.length === 0 && (isKnown || member === 'items')) this.isListing = true;
    const list = isSure ? this.sure : this.likely;
    for (const item of items) {
      if (isJsonObject(item)) this.#object(item, place, list);
      else if (typeof item === 'string' && isKnown)
        list.push({ name: item || undefined, record: {}, isOther, isListed: true });
    }
  }

  /** @param list where the items go of the list that it is in; undefined for an object that is in none */
  #object(record: JsonObject, place: Place, list: Found[] | undefined): void {
    const isOther = place.isOther || isOfAnother(record, this.#accession);
    const fileName = nameOf(record, FILE_NAMES);
    const isFile = fileName !== undefined;
    const [sure, likely] = [this.sure.length, this.likely.length];
    for (const [member, value] of Object.entries(record)) {
      // What is in a file's record tells of that file, unless it is a list of files.
      if (isFile ? FILE_LISTS.includes(member) : !MESSAGES.includes(member)) this.value(value, { member, isOther });
    }
    const document = fileName ?? nameOf(record, DOCUMENTS);
    const name = list || place.member === undefined ? (fileName ?? nameOf(record, NAMES)) : document;
    const isSure = isFile || this.sure.length > sure || list === this.sure || (!list && isLikeFile(document));
    const into = isSure ? this.sure : this.likely;
    const before = isSure ? sure : likely;
    const isAlone = into.length === before;
    // A document without a name is a record all the same, and so is a filing of somebody else's.
    const isRecord = name !== undefined || (list && (isOther || hasAny(record, [...FILE_NAMES, ...NAMES])));
    // A record of several files does not say which of them its size is of.
    if (isAlone && isRecord) into.push({ name, record, isOther, isListed: list !== undefined });
    else if (!isAlone && document) into.splice(before, 0, { name: document, record: {}, isOther, isListed: false });
  }
}

/** Sure to be a file, wherever it is: by what names it, or by an extension. */
function isLikeFile(value: unknown): boolean {
  if (isJsonObject(value)) return hasAny(value, FILE_NAMES) || isLikeFile(nameOf(value, NAMES));
  return typeof value === 'string' && EXTENSION.test(value) && !value.includes('://');
}

function hasAny(record: JsonObject, members: readonly string[]): boolean {
  return members.some((member) => Object.hasOwn(record, member));
}

/** The first that looks like a file's, else the first. */
function nameOf(record: JsonObject, members: readonly string[]): string | undefined {
  const values = members.map((member) => (Object.hasOwn(record, member) ? record[member] : undefined));
  const names = values.filter((value) => typeof value === 'string' && value !== '') as string[];
  return names.find(isLikeFile) ?? names[0];
}

/** Whether a record says that it belongs to another filing, with or without the hyphens. */
function isOfAnother(record: JsonObject, accession: AccessionNumber): boolean {
  const { filing } = record;
  if (isJsonObject(filing) && isOfAnother(filing, accession)) return true;
  return ACCESSIONS.some((member) => {
    const text = Object.hasOwn(record, member) ? record[member] : undefined;
    return typeof text === 'string' && text.trim() !== '' && accessionIn(text.trim()) !== accession;
  });
}
