// The format of a record, the file beside a part that says which bytes of which version the part has. A later run
// resumes a part only if its record is exactly as this program writes it, for the same request.
import { constants, readFile } from 'node:fs';
import { promisify } from 'node:util';
import { closeFile } from '../../disk/calls.ts';
import { openPlain } from '../../disk/plain-file.ts';
import type { RemoteVersion } from '../resume.ts';

/** The largest size of a record, in bytes. */
const MAX_BYTES = 1 << 16;
const readAll = promisify(readFile) as (fd: number) => Promise<Buffer>;

/** Returns the text of the record that lets another run resume a part. */
export function recordText(request: string, { address, validator, total }: RemoteVersion): string {
  return `${JSON.stringify({ v: 1, request, address, validator, total })}\n`;
}

/**
 * Returns the version in a record. Returns undefined unless the text is exactly the record of such a version for this
 * request. Throws an error if the text is not JSON.
 */
export function parseRecord(text: string, request: string): RemoteVersion | undefined {
  const { address, validator, total } = JSON.parse(text);
  const isValidator = /^(etag|last-modified)$/.test(validator.kind) && typeof validator.value === 'string';
  const isTotal = total === undefined || (Number.isSafeInteger(total) && total >= 0);
  if (!isValidator || !isTotal || typeof address !== 'string') return undefined;
  const version = { address, validator, total };
  return recordText(request, version) === text ? version : undefined;
}

/**
 * Returns the version in a record, or undefined if the record is missing, invalid or of another request. Never throws.
 */
export async function readRecord(path: string, request: string): Promise<RemoteVersion | undefined> {
  try {
    const { fd, stats } = await openPlain(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const reading = stats.size > MAX_BYTES ? Promise.resolve('') : readAll(fd);
    return parseRecord(String(await reading.finally(() => closeFile(fd))), request);
  } catch {
    return undefined;
  }
}
