// Checks files against the SHA-256 that they must have.
import { sha256OfFile } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';

/**
 * Returns the SHA-256 of an existing file. Throws `integrity` if the hash is not the expected one, `local_io` or the
 * signal's reason.
 */
export async function checkExisting(
  path: string,
  displayPath: string,
  expected: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const sha256 = await sha256OfFile(path, displayPath, signal);
  requireHash(sha256, expected, displayPath);
  return sha256;
}

/**
 * Throws `integrity` if a hash is not the expected one. `path` is the path of a file that this run did not download.
 */
export function requireHash(actual: string | undefined, expected: string | undefined, path?: string): void {
  if (expected === undefined || actual === expected) return;
  throw new FilingsError('integrity', `wrong hash: its SHA-256 is ${actual}, not ${expected}`, {
    subject: { path },
    hint: 'the file does not match --sha256; check which of the two is wrong',
  });
}
