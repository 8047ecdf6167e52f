import { basename } from 'node:path';
import { sha256OfFile } from '../../disk/hash/sha256.ts';
import { FilingsError } from '../../errors.ts';
import type { ChecksumFiles } from '../checksums/checksum-files.ts';
import { type Target, whereOf } from '../fetch-file.ts';
import type { Outcome } from '../outcome.ts';
import type { Places } from '../places.ts';

/**
 * Lists a file that stands in its directory's SHA256SUMS; one that was there already is hashed when it is not listed. A file
 * that can't be listed has failed.
 */
export async function keepChecksum(
  outcome: Outcome,
  target: Target,
  sums: ChecksumFiles,
  places: Places,
  signal: AbortSignal,
): Promise<Outcome> {
  if (outcome.error) return outcome;
  const name = basename(target.path);
  try {
    return await places.use(whereOf(target), async ({ directory }) => {
      if (outcome.result === 'skipped' && (await sums.isListed(directory, name))) return outcome;
      const sha256 = outcome.sha256 ?? (await sha256OfFile(directory.entry(name), target.shown, signal));
      await sums.add(directory, name, sha256);
      return { ...outcome, sha256 };
    });
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return { ...outcome, result: 'failed', bytes: 0, verifiedLength: false, error };
  }
}
