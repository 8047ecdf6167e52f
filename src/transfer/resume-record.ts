import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import type { Validator } from './resume.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;

/** What a part is a part of. */
export interface Identity {
  readonly base_url: string;
  readonly accession_no: string;
  readonly file_name: string;
}

/** The record beside a part: enough to go on with it in another run. */
export interface ResumeRecord extends Identity {
  readonly v: 1;
  readonly validator: Validator;
  /** The whole length; null when the service did not tell it. */
  readonly total: number | null;
}

/** Writes the record: before the part's first byte, and anew when the file has changed. */
export async function writeRecord(path: string, record: ResumeRecord): Promise<void> {
  const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o666);
  try {
    await file.writeFile(`${JSON.stringify(record)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Adds how many bytes are known to be on disk: after a reboot no more than these are trusted. */
export function noteFlushed(path: string, bytes: number): void {
  const fd = openSync(path, O_APPEND | O_WRONLY | O_NOFOLLOW);
  try {
    writeSync(fd, `{"flushed":${bytes}}\n`);
  } finally {
    closeSync(fd);
  }
}

/** Reads a record; undefined when it is not one, or not of this file. A torn last line is passed over. */
export async function readRecord(
  path: string,
  identity: Identity,
): Promise<{ record: ResumeRecord; flushed: number } | undefined> {
  const text = await readFile(path, { encoding: 'utf8', flag: constants.O_RDONLY | O_NOFOLLOW }).catch(() => '');
  const [first = '', ...rest] = text.split('\n');
  const record = parse(first) as ResumeRecord | undefined;
  if (record?.v !== 1 || !isSame(record, identity) || typeof record.validator?.value !== 'string') return undefined;
  const flushed = rest.map((line) => (parse(line) as { flushed?: unknown } | undefined)?.flushed);
  return { record, flushed: Math.max(0, ...flushed.filter((bytes) => Number.isSafeInteger(bytes)).map(Number)) };
}

function isSame(record: Identity, identity: Identity): boolean {
  return (
    record.base_url === identity.base_url &&
    record.accession_no === identity.accession_no &&
    record.file_name === identity.file_name
  );
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
