// Compares the SHA-256 of a file with the expected one, the value of --sha256. Without --sha256, the expected hash is
// undefined, and nothing is compared.
import { hashFile } from '../disk/sha256.ts';
import { FilingsError } from '../errors.ts';

/**
 * Returns the SHA-256 of an existing file. Throws `local_io` or the signal's reason, and `integrity` if the hash is not
 * the expected one.
 */
export async function checkExisting(
  path: string,
  displayPath: string,
  expected: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const sha256 = await hashFile(path, displayPath, signal);
  requireHash(sha256, expected, displayPath);
  return sha256;
}

/**
 * Throws `integrity` if a hash is not the expected one. `actual` may be undefined only if `expected` is. `path` is
 * passed only for an existing file. A fetched file does not have its final path yet when its hash is checked, so
 * `fetchInto` (transfer.ts) adds its accession number and name to the error instead.
 */
export function requireHash(actual: string | undefined, expected: string | undefined, path?: string): void {
  if (expected === undefined || actual === expected) return;
  const replaceHint = path === undefined ? '' : '; to download the file again: --if-exists overwrite';
  throw new FilingsError('integrity', `wrong hash: expected ${expected}, but its SHA-256 is ${actual}`, {
    subject: { path },
    hint: `check that --sha256 is the hash of this file${replaceHint}`,
  });
}
