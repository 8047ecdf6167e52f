// Decides what to do about one file: fetch it, skip it, check the existing file, or fail. The decision depends only on
// the options and on what has the final name now. It is made before the first request, and again if something has the
// name when the fetched file is complete.
import type { Stats } from 'node:fs';
import { FilingsError } from '../errors.ts';

/** The values of `--if-exists`. */
export type IfExists = 'skip' | 'compare' | 'overwrite' | 'error';

/** The path of a file to download, and the options that decide about an existing one. */
export interface PlanOptions {
  /** The path as the user would write it, for messages. */
  readonly displayPath: string;
  readonly ifExists: IfExists;
  /** `--sha256`, in lower case. */
  readonly sha256: string | undefined;
  /** `--checksums`. */
  readonly writesChecksums: boolean;
  /** `--dry-run`. */
  readonly isDryRun: boolean;
}

/**
 * The existing file stays. `skip`: it is not even read. `check`: it must have the hash of `--sha256`. `list`: it is
 * added to SHA256SUMS if it is not listed yet.
 */
export interface SkipPlan {
  readonly kind: 'skip' | 'check' | 'list';
  /** The size of the existing file. */
  readonly bytes: number;
}

/** The plan for one file. After `fetch`, a new plan decides if something has the name when the file is complete. */
export type FilePlan = { readonly kind: 'fetch' } | SkipPlan | { readonly kind: 'fail'; readonly error: FilingsError };

/** `existing` is what `lstat` returns for the final name. */
export function choosePlan(existing: Stats | undefined, options: PlanOptions): FilePlan {
  const { displayPath, ifExists } = options;
  if (!existing) return { kind: 'fetch' };
  if (ifExists === 'error')
    return fail(displayPath, 'it already exists', '--if-exists skip keeps it, --if-exists overwrite replaces it');
  const isReplaceable = existing.isFile() || (existing.isSymbolicLink() && ifExists === 'overwrite');
  if (!isReplaceable) {
    const hint = 'move it away, or choose another path with --output or --directory';
    return fail(displayPath, `cannot write: ${kindOf(existing)} already exists there`, hint);
  }
  if (ifExists === 'overwrite') return { kind: 'fetch' };
  const bytes = existing.size;
  // With `--sha256`, the existing file can be checked without the service, even for `compare`.
  if (options.sha256 !== undefined) return { kind: 'check', bytes };
  if (ifExists === 'compare') return { kind: 'fetch' };
  return { kind: options.writesChecksums && !options.isDryRun ? 'list' : 'skip', bytes };
}

/** Returns the error for an existing file that differs from the fetched one, and stays. Sizes are in bytes. */
export function differentFileError(displayPath: string, existing: number, fetched: number): FilingsError {
  const sizes =
    existing === fetched ? `both have ${existing} bytes` : `it has ${existing} bytes, but the download has ${fetched}`;
  return new FilingsError('local_io', `a different file already exists: ${sizes}`, {
    subject: { path: displayPath },
    hint: 'choose another path with -o, --layout or -d, or replace it with --if-exists overwrite',
  });
}

function kindOf(stats: Stats): string {
  if (stats.isSymbolicLink()) return 'a symbolic link';
  return stats.isDirectory() ? 'a directory' : 'a special file';
}

function fail(path: string, reason: string, hint: string): FilePlan {
  return { kind: 'fail', error: new FilingsError('local_io', reason, { subject: { path }, hint }) };
}
