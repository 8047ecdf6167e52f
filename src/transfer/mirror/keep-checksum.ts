import { basename, dirname } from 'node:path';
import type { ChecksumFiles } from '../../checksums/append.ts';
import { sha256OfFile } from '../../disk/sha256.ts';
import { FilingsError } from '../../errors.ts';
import type { Target } from '../fetch-file.ts';
import type { Outcome } from '../outcome.ts';

/**
 * Lists a file that stands in its directory's SHA256SUMS; one that was there already is hashed when it is not listed. A file
 * that can't be listed has failed.
 */
export async function keepChecksum(
  outcome: Outcome,
  { path, shown }: Target,
  sums: ChecksumFiles,
  signal: AbortSignal,
): Promise<Outcome> {
  if (outcome.error) return outcome;
  const [directory, name] = [dirname(path), basename(path)];
  try {
    if (outcome.result === 'skipped' && (await sums.isListed(directory, name))) return outcome;
    const sha256 = outcome.sha256 ?? (await sha256OfFile(path, shown, signal));
    await sums.add(directory, name, sha256);
    return { ...outcome, sha256 };
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return { ...outcome, result: 'failed', bytes: 0, verifiedLength: false, error };
  }
}
