import { takeTurn } from '../../abort.ts';
import { errorAbout } from '../../errors.ts';
import { type Reading, readJson, readLongJson } from '../../json/read.ts';
import type { JsonFault, JsonRules } from '../../json/reader.ts';
import { JsonNumber, membersOf, objectOf } from '../../json/value.ts';
import { grouped } from '../../text.ts';
import type { AccessionNumber } from '../accession.ts';
import { type Found, findFiles } from './search.ts';
import { describeAnswer } from './seen.ts';

/** A file of a filing: its number, its name, and whatever else the service said of it, numbers as it wrote them. */
export interface ListedFile {
  readonly accession_no: string;
  readonly file_name: string;
  readonly [member: string]: unknown;
}

/** Far more than a filing has, in a size that is read in a second and some hundred megabytes. */
const RULES: JsonRules = { deepest: 2000, most: 800_000, twice: 'last', numbers: 'exact' };

const FILES_A_TURN = 10_000;

/**
 * Reads an answer of `GET /v1/filings` tolerantly: the contract does not show its shape
 * (part 4, "Other endpoints"). Records of another accession number are dropped, documents
 * without a name too; a name comes once. An empty list is no match. Throws `integrity`
 * for what can't be read as a listing, saying what it saw.
 */
export function readListing(body: Buffer, accession: AccessionNumber): readonly ListedFile[] {
  const text = new TextDecoder().decode(body);
  const work = filesOf(readJson(text, RULES), text, accession);
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}

/** As {@link readListing}; signals and the deadline have their turn meanwhile. Throws the signal's reason. */
export async function readLongListing(
  body: Buffer,
  accession: AccessionNumber,
  signal: AbortSignal,
): Promise<readonly ListedFile[]> {
  const text = new TextDecoder().decode(body);
  const reading = await readLongJson(text, RULES, signal);
  const work = filesOf(reading, text, accession);
  for (;;) {
    await takeTurn(signal);
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Pauses now and then. */
function* filesOf(
  reading: Reading,
  text: string,
  accession: AccessionNumber,
): Generator<undefined, readonly ListedFile[], undefined> {
  const found = reading.fault === undefined ? findFiles(reading.value, accession) : undefined;
  if (found === undefined) {
    throw errorAbout({ accession }, 'integrity', `cannot be read: it is ${seen(reading, text)}`, {
      hint: 'is the base URL the right one? See: filings config list',
      ...(reading.fault?.kind === 'syntax' && { fault: 'foreign' as const }),
    });
  }
  const names = new Set<string>();
  const files: ListedFile[] = [];
  for (const file of found) {
    if (!names.has(file.name)) files.push(listedFile(accession, file));
    names.add(file.name);
    if (names.size % FILES_A_TURN === 0) yield;
  }
  return files;
}

/** The service's other members follow ours. */
function listedFile(accession: AccessionNumber, { name, record }: Found): ListedFile {
  const others = membersOf(record).filter(([member]) => member !== 'accession_no' && member !== 'file_name');
  if (others.length === 0) return { accession_no: accession, file_name: name };
  return objectOf([['accession_no', accession], ['file_name', name], ...others]) as ListedFile;
}

function seen({ value, fault }: Reading, text: string): string {
  if (fault === undefined) return describeAnswer(text, Array.isArray(value) ? value.map(plain) : plain(value));
  return beyond(fault) ?? describeAnswer(text, undefined);
}

function beyond({ kind }: JsonFault): string | undefined {
  if (kind === 'too deep') return `JSON that is nested more than ${RULES.deepest} levels deep, without file names`;
  if (kind === 'too many') return `JSON of more than ${grouped(RULES.most ?? 0)} values`;
  return undefined;
}

function plain(value: unknown): unknown {
  return value instanceof JsonNumber ? value.valueOf() : value;
}
