// The footer of a kept part says what the bytes before it are: JSON, the length of the JSON, and a mark at the very end
// of the file. Only a file with the name of a kept part is ever searched for a footer, so a body cannot pass for one.
import { readSync } from 'node:fs';
import { isJsonObject, parseJson } from '../json.ts';
import type { RemoteVersion } from './resume.ts';

const MARK = 'filings-kept-1';
/** The digits of the length, which stand between the JSON and the mark. */
const LENGTH_DIGITS = 8;
const MAX_FOOTER_BYTES = 1 << 16;

/** The request for a file. A part is resumed only for the same one. */
export interface FooterRequest {
  readonly baseUrl: string;
  readonly accession: string;
  readonly fileName: string;
}

/** What a later run must know about the bytes of a part. */
interface KeptBytes extends RemoteVersion {
  readonly bytes: number;
}

export function makeFooter({ baseUrl, accession, fileName }: FooterRequest, kept: KeptBytes): string {
  const { address, validator, total, bytes } = kept;
  const json = JSON.stringify({ version: 1, baseUrl, accession, fileName, address, validator, total, bytes });
  return `${json}${`${Buffer.byteLength(json)}`.padStart(LENGTH_DIGITS, '0')}${MARK}`;
}

/**
 * Returns what the footer says, or undefined unless the file ends in exactly the footer that this program writes for
 * the request and for the bytes before it. Throws the system error.
 */
export function readFooter(fd: number, size: number, request: FooterRequest): KeptBytes | undefined {
  const tail = Buffer.alloc(Math.min(size, MAX_FOOTER_BYTES));
  readSync(fd, tail, 0, tail.length, size - tail.length);
  const end = tail.length - MARK.length - LENGTH_DIGITS;
  const length = Number(tail.toString('latin1', end, end + LENGTH_DIGITS));
  const start = end - length;
  if (!(length > 0 && start >= 0)) return undefined;
  const { address, validator, total } = objectIn(tail.toString('utf8', start, end));
  const { kind, value } = isJsonObject(validator) ? validator : {};
  const bytes = size - tail.length + start;
  if (typeof address !== 'string' || typeof value !== 'string' || /[^\t\x20-\x7e\x80-\xff]/.test(value))
    return undefined;
  if (kind !== 'etag' && kind !== 'last-modified') return undefined;
  if (total !== undefined && !(typeof total === 'number' && total >= bytes)) return undefined;
  const footer: KeptBytes = { address, validator: { kind, value }, total, bytes };
  // Making it again compares all of it: version, request, number of bytes, length and mark.
  return tail.toString('utf8', start) === makeFooter(request, footer) ? footer : undefined;
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text);
  return isJsonObject(value) ? value : {};
}
