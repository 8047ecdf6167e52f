import { constants, readFile } from 'node:fs';
import { promisify } from 'node:util';
import { closeFile } from '../../disk/calls.ts';
import { openPlain } from '../../disk/plain-file.ts';
import type { RemoteVersion } from '../resume.ts';

/** Nothing larger is a record. Bytes. */
const MAX_BYTES = 1 << 16;
const readAll = promisify(readFile) as (fd: number) => Promise<Buffer>;

/** Enough for another run to resume the part beside it. */
export function recordText(request: string, { address, validator, total }: RemoteVersion): string {
  return `${JSON.stringify({ v: 1, request, address, validator, total })}\n`;
}

/** Strict: anything but what is written for this request is none. Throws what JSON does. */
export function parseRecord(text: string, request: string): RemoteVersion | undefined {
  const { address, validator, total } = JSON.parse(text);
  const isValidator = /^(etag|last-modified)$/.test(validator.kind) && typeof validator.value === 'string';
  const isTotal = total === undefined || (Number.isSafeInteger(total) && total >= 0);
  if (!isValidator || !isTotal || typeof address !== 'string') return undefined;
  const version = { address, validator, total };
  return recordText(request, version) === text ? version : undefined;
}

/** Undefined when there is none, or of another request. Never throws. */
export async function readRecord(path: string, request: string): Promise<RemoteVersion | undefined> {
  try {
    const { fd, stats } = await openPlain(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const reading = stats.size > MAX_BYTES ? Promise.resolve('') : readAll(fd);
    return parseRecord(String(await reading.finally(() => closeFile(fd))), request);
  } catch {
    return undefined;
  }
}
