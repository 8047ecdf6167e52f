import { hash } from 'node:crypto';
import { errorAbout } from '../../errors.ts';
import { DEEPEST, isDeeper, isJsonObject, parseJson } from '../../json.ts';
import { shortened } from '../../text.ts';
import type { AccessionNumber } from '../accession.ts';
import { sayingOf } from '../text-body.ts';
import { type Found, findRecords } from './search.ts';
import { readSigns, type Signs } from './signs.ts';

/** A file of a filing: its number, its name, and whatever else the service said of it. */
export interface ListedFile {
  readonly accession_no: string;
  readonly file_name: string;
  readonly [member: string]: unknown;
}

/** One answer, which may be a part of a listing. */
export interface Page extends Omit<Signs, 'failure'> {
  /** Each name once, without records of other filings and documents without a name. */
  readonly files: readonly ListedFile[];
  /** How many records it has, of whatever filing. */
  readonly records: number;
  /** The same for pages of the same records. */
  readonly key: string;
}

/** An answer as it came. */
export interface ListingAnswer {
  readonly body: Buffer;
  /** The `Link` field. */
  readonly link?: string | readonly string[] | undefined;
  /** The number of the page that was asked for. */
  readonly page?: number | undefined;
}

/**
 * Reads an answer of `GET /v1/filings` tolerantly: the contract does not show its shape (part 4, "Other endpoints").
 * Throws `integrity` for what can't be read as a listing, saying what it saw.
 */
export function readListing({ body, link, page }: ListingAnswer, accession: AccessionNumber): Page {
  const text = new TextDecoder().decode(body);
  const json = parseJson(text);
  const tooDeep = isDeeper(json);
  const { failure, ...signs } = tooDeep ? {} : readSigns(json, link, page);
  const found = tooDeep || failure !== undefined ? undefined : findRecords(json, accession);
  if (found === undefined) {
    const seen = tooDeep
      ? `JSON that is nested more than ${DEEPEST} levels deep`
      : describeAnswer(text, json, failure !== undefined);
    throw errorAbout({ accession }, 'integrity', `cannot be read: it is ${seen}`, {
      hint:
        failure === undefined
          ? 'is the base URL the right one? See: filings config list'
          : 'run it again later; is the key the right one? See: filings config check',
      ...(json === undefined && { fault: 'foreign' as const }),
    });
  }
  const files = new Map<string, ListedFile>();
  for (const one of found) {
    if (one.name !== undefined && !one.isOther && !files.has(one.name)) files.set(one.name, listedFile(accession, one));
  }
  return { ...signs, files: [...files.values()], records: found.length, key: keyOf(found) };
}

/** What an answer that is no listing looks like, as a noun phrase; `json` is undefined when it is not JSON. */
function describeAnswer(text: string, json: unknown, isError: boolean): string {
  if (text.trim() === '') return 'an empty answer';
  const isPage = /^\s*<(!doctype html|html|head|body)/i.test(text.slice(0, 1000));
  if (json === undefined) return `${isPage ? 'an HTML page' : 'not JSON'}${saying(text)}`;
  if (Array.isArray(json)) return `an array of ${json.length}, without file names`;
  if (!isJsonObject(json)) return `not a list${saying(String(json))}`;
  const { error, message, detail, title } = json;
  const said = [detail, message, error, title].find((each) => typeof each === 'string' && each.trim() !== '');
  const names = Object.keys(json).join(', ');
  const members = names === '' ? 'without members' : `with the members ${shortened(names, 120)}`;
  const what = isError ? 'which reports an error' : 'without file names';
  return `an object ${members}, ${what}${saying(typeof said === 'string' ? said : '')}`;
}

/** What a text says, in a line; its ellipsis tells `redact` where half a secret may be. */
function saying(text: string): string {
  const said = sayingOf(text);
  return said === undefined ? '' : `: ${shortened(said, 120)}`;
}

/** The service's other members follow ours. */
function listedFile(accession: AccessionNumber, { name = '', record }: Found): ListedFile {
  const { accession_no: _, file_name: __, ...others } = record;
  return { accession_no: accession, file_name: name, ...others };
}

/** By names alone: a record may have a time or a signed address in it that is another one each time. */
function keyOf(found: readonly Found[]): string {
  const names = found.map(({ name = '', isOther }) => JSON.stringify([name, isOther]));
  return hash('sha256', names.sort().join());
}

/** Why nothing of a filing is chosen, of whose listing so many files are known. */
export function whyNoMatch(files: number): string {
  if (files === 0) return 'the service lists no files';
  const none = files === 1 ? 'its one file does not match' : `none of its ${files} files matches`;
  return `${none} --include and --exclude (matching is case-sensitive)`;
}

/** Members in which services say how large a file is. */
const SIZES = ['size', 'file_size', 'fileSize', 'size_bytes', 'bytes', 'length', 'content_length'];

/** A file's size in bytes, where its record says one that can be one. */
export function listedSize(file: ListedFile): number | undefined {
  for (const member of SIZES) {
    const value = Object.hasOwn(file, member) ? file[member] : undefined;
    const size = typeof value === 'string' && /^[0-9]{1,16}$/.test(value) ? Number(value) : value;
    if (typeof size === 'number' && size >= 0 && Number.isSafeInteger(size)) return size;
  }
  return undefined;
}
