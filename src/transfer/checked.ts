import { createHash } from 'node:crypto';
import { FilingsError } from '../errors.ts';

/** Throws `integrity` when a file's hash is not the one it must have. */
export function requireHash(what: string, found: string, expected: string | undefined): void {
  if (expected === undefined || found === expected) return;
  throw new FilingsError('integrity', `${what}: wrong hash: its SHA-256 is ${found}, not ${expected}`, {
    hint: 'it is not the file that --sha256 means: check both',
  });
}

/** Whether bytes hash to what their file must hash to; never where that is not known. */
export async function hashesTo(expected: string | undefined, bytes: AsyncIterable<Buffer>): Promise<boolean> {
  if (expected === undefined) return false;
  const hash = createHash('sha256');
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest('hex') === expected;
}
