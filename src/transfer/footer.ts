// The footer of a kept part consists of:
//
//   JSON                   the version of this format, the request, the version of the remote file, and the number of
//                          bytes before the JSON
//   8 digits               the length of the JSON in bytes
//   filings-kept-1         the mark
import { readSync } from 'node:fs';
import { isJsonObject, parseJson } from '../json.ts';
import type { PartialFile } from './resume.ts';

const MARK = 'filings-kept-1';
const LENGTH_DIGITS = 8;
/** Much more than any URL and validator need. A part with a longer footer would not be resumed. */
const MAX_FOOTER_BYTES = 1 << 16;

/** The request for a file. A part is resumed only by the same request. */
export interface FileRequest {
  readonly baseUrl: string;
  readonly accession: string;
  readonly fileName: string;
}

export function makeFooter({ baseUrl, accession, fileName }: FileRequest, kept: PartialFile): string {
  const { address, validator, total, bytes } = kept;
  const json = JSON.stringify({ version: 1, baseUrl, accession, fileName, address, validator, total, bytes });
  const length = String(Buffer.byteLength(json)).padStart(LENGTH_DIGITS, '0');
  return `${json}${length}${MARK}`;
}

/** Returns undefined unless the file ends with exactly the footer of the request and of the bytes before it. */
export function readFooter(fd: number, size: number, request: FileRequest): PartialFile | undefined {
  const tail = Buffer.alloc(Math.min(size, MAX_FOOTER_BYTES));
  readSync(fd, tail, 0, tail.length, size - tail.length);
  const end = tail.length - MARK.length - LENGTH_DIGITS;
  const length = Number(tail.toString('latin1', end, end + LENGTH_DIGITS));
  const start = end - length;
  // Refuses NaN, which `length` is without a footer, and a file that is too short for one.
  if (!(length > 0 && start >= 0)) return undefined;
  const json = parseJson(tail.toString('utf8', start, end));
  const { address, validator, total } = isJsonObject(json) ? json : {};
  const { kind, value } = isJsonObject(validator) ? validator : {};
  const bytes = size - tail.length + start;
  // The value becomes the If-Range field of the next request, so it must be a valid one (RFC 9110, section 5.5).
  if (typeof address !== 'string' || typeof value !== 'string' || /[^\t\x20-\x7e\x80-\xff]/.test(value))
    return undefined;
  if (kind !== 'etag' && kind !== 'last-modified') return undefined;
  if (total !== undefined && !(typeof total === 'number' && total >= bytes)) return undefined;
  const footer: PartialFile = { address, validator: { kind, value }, total, bytes };
  // Comparing the whole footer with a new one checks the rest: format, request, number of bytes, length and mark.
  return tail.toString('utf8', start) === makeFooter(request, footer) ? footer : undefined;
}
