import { constants, read } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { closeFile, openOwn } from '../../disk/plain-file.ts';
import type { Validator, Version } from '../resume.ts';

/** What a part is a part of. */
export interface Identity {
  readonly base_url: string;
  readonly accession_no: string;
  readonly file_name: string;
}

/** The record beside a part: enough for another run to resume it. */
export interface ResumeRecord extends Identity {
  readonly v: 1;
  /** Where the bytes came from in the end, without its query. */
  readonly address: string;
  readonly validator: Validator;
  /** The whole length; null when the service did not tell it. */
  readonly total: number | null;
}

/** Nothing larger is a record. Bytes. */
const MOST_BYTES = 1 << 14;
const readAt = promisify(read);

/** A record's text; undefined when it could not be read back, so that the part is better without one. */
export function recordText(record: ResumeRecord): string | undefined {
  const { base_url, accession_no, file_name, address, validator, total } = record;
  const { kind, value } = validator;
  const text = `${JSON.stringify({ v: 1, base_url, accession_no, file_name, address, validator: { kind, value }, total })}\n`;
  return Buffer.byteLength(text) <= MOST_BYTES && isRecord(record) ? text : undefined;
}

/** Reads a record strictly: anything but what `recordText` writes is none, and one of another file is none either. */
export function parseRecord(text: string, identity: Identity): ResumeRecord | undefined {
  const record = parse(text);
  if (!isRecord(record) || recordText(record) !== text) return undefined;
  const isSame = (['base_url', 'accession_no', 'file_name'] as const).every((key) => record[key] === identity[key]);
  return isSame ? record : undefined;
}

function isRecord(value: unknown): value is ResumeRecord {
  const { v, address, validator, total } = (value ?? {}) as Partial<ResumeRecord>;
  const isValidator = validator?.kind === 'etag' || validator?.kind === 'last-modified';
  const isTotal = total === null || (Number.isSafeInteger(total) && Number(total) >= 0);
  return v === 1 && typeof address === 'string' && isValidator && typeof validator.value === 'string' && isTotal;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Writes a new record; false where there is none to be had. It need not be flushed: after a power cut no part is resumed.
 * Throws what the system says.
 */
export async function writeRecord(path: string, identity: Identity, version: Version): Promise<boolean> {
  const { validator, total = null, address } = version;
  if (!validator || address === undefined) return false;
  const text = recordText({ v: 1, ...identity, address, validator, total });
  if (text === undefined) return false;
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
  return true;
}

/** The record of a file; undefined when there is none, or not this user's, or it is of another file. Never throws. */
export async function readRecord(
  path: string,
  identity: Identity,
  uid: number | undefined,
): Promise<ResumeRecord | undefined> {
  const opened = await openOwn(path, constants.O_RDONLY, uid);
  if (!opened) return undefined;
  try {
    const { bytesRead, buffer } = await readAt(opened.fd, Buffer.alloc(MOST_BYTES + 1), 0, MOST_BYTES + 1, 0);
    return bytesRead > MOST_BYTES ? undefined : parseRecord(buffer.toString('utf8', 0, bytesRead), identity);
  } catch {
    return undefined;
  } finally {
    await closeFile(opened.fd);
  }
}
