import { strongValidator, type Validator } from '../../resume.ts';

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
  /** Where the bytes came from in the end, without the query. */
  readonly address: string;
}

/** What a record says. */
export interface Known {
  readonly record: ResumeRecord;
  /** So many bytes are known to be on disk. */
  readonly flushed: number;
}

/** Nothing larger is a record. Bytes. */
export const MOST_RECORD_BYTES = 1 << 16;
/** So much of it may be the first line. Bytes. */
const MOST_HEADER_BYTES = 1 << 14;

/** A record's first line; undefined when it could not be read back, so that the part is better without one. */
export function recordLine(record: ResumeRecord): string | undefined {
  const { base_url, accession_no, file_name, validator, total, address } = record;
  const identity = { base_url, accession_no, file_name };
  const { kind, value } = validator;
  const line = JSON.stringify({ v: 1, ...identity, validator: { kind, value }, total, address });
  return Buffer.byteLength(line) < MOST_HEADER_BYTES && isRecord(JSON.parse(line)) ? `${line}\n` : undefined;
}

/** A further line: how many bytes are known to be on disk by now. */
export function flushedLine(bytes: number): string {
  return `{"flushed":${bytes}}\n`;
}

/**
 * Reads a record strictly: anything but what `recordLine` and `flushedLine` write makes it none, and one of another
 * file is none either. Only what stands behind the last line break is passed over, since a kill may tear it.
 */
export function parseRecord(text: string, identity: Identity): Known | undefined {
  const [first = '', ...rest] = text.split('\n').slice(0, -1);
  const record = parse(first);
  if (!isRecord(record) || recordLine(record) !== `${first}\n` || !isSame(record, identity)) return undefined;
  const flushed = rest.map((line) => Number(/^\{"flushed":(0|[1-9]\d{0,15})\}$/.exec(line)?.[1] ?? Number.NaN));
  const most = record.total ?? Number.MAX_SAFE_INTEGER;
  if (flushed.some((bytes) => !(bytes <= most))) return undefined;
  return { record, flushed: Math.max(0, ...flushed) };
}

function isRecord(value: unknown): value is ResumeRecord {
  const { v, base_url, accession_no, file_name, validator, total, address } = (value ?? {}) as Partial<ResumeRecord>;
  return (
    v === 1 &&
    [base_url, accession_no, file_name, address].every((text) => typeof text === 'string') &&
    isValidator(validator) &&
    (total === null || (Number.isSafeInteger(total) && Number(total) >= 0))
  );
}

/** Dated as late as can be: whether the date was strong enough was decided when it came. */
const LATE = 'Fri, 31 Dec 9999 23:59:59 GMT';

/** Such as an answer could have brought: it goes into a request's header. */
function isValidator(value: unknown): value is Validator {
  const { kind, value: text } = (value ?? {}) as Partial<Validator>;
  if (typeof text !== 'string') return false;
  if (kind === 'etag') return strongValidator({ etag: text }) !== undefined;
  const clean = /^[\x20-\x7e]+$/.test(text);
  return kind === 'last-modified' && clean && strongValidator({ 'last-modified': text, date: LATE }) !== undefined;
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
