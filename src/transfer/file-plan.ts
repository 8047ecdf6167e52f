// Decides what to do about one file: fetch it, skip it, check the existing file, or fail. The decision depends only on
// the options and on what exists under the file's final name now (a file that is being fetched has a temporary name).
// It is made before the first request. If something has the final name when the fetched file is complete, the decision
// is made again, to choose which of the two stays.
import type { Stats } from 'node:fs';
import { FilingsError } from '../errors.ts';

/** The values of `--if-exists`. `compare` fetches the file, and fails if the existing one has other bytes. */
export type IfExists = 'skip' | 'compare' | 'overwrite' | 'error';

/** The path of a file to download, and the options that decide about an existing one. */
export interface PlanOptions {
  /** The path as the user would write it, for messages. */
  readonly displayPath: string;
  readonly ifExists: IfExists;
  /** `--sha256`, in lower case. */
  readonly sha256: string | undefined;
  /** `--checksums`, which adds the hash of each file to SHA256SUMS. */
  readonly writesChecksums: boolean;
  /** `--dry-run`. */
  readonly isDryRun: boolean;
}

/**
 * The existing file stays. `skip`: it is not even read. `check`: it must have the hash of `--sha256`. `list`: unless
 * SHA256SUMS lists it already, the batch hashes it to add it there. A checked file is added as well, if `--checksums`
 * is set.
 */
export interface SkipPlan {
  readonly kind: 'skip' | 'check' | 'list';
  /** The size of the existing file. */
  readonly bytes: number;
}

/**
 * The plan for one file. In a second plan, made when the file has been fetched and something has its final name,
 * `fetch` means: with `overwrite`, the fetched file replaces what is there, and with `compare`, the two are compared.
 * Any other second plan drops the fetched file.
 */
export type FilePlan = { readonly kind: 'fetch' } | SkipPlan | { readonly kind: 'fail'; readonly error: FilingsError };

/** `existing` is what `lstat` returns for the final name, or undefined if nothing is there. */
export function choosePlan(existing: Stats | undefined, options: PlanOptions): FilePlan {
  const { displayPath, ifExists } = options;
  if (!existing) return { kind: 'fetch' };
  if (ifExists === 'error')
    return toFailPlan(displayPath, 'it already exists', '--if-exists skip keeps it, --if-exists overwrite replaces it');
  // A symbolic link is never followed, neither to read the file nor to write it. But the link itself can be replaced.
  const isAcceptable = existing.isFile() || (existing.isSymbolicLink() && ifExists === 'overwrite');
  if (!isAcceptable) {
    const hint = 'move it away, or choose another path with --output or --directory';
    return toFailPlan(displayPath, `cannot write: ${describeKind(existing)} already exists there`, hint);
  }
  if (ifExists === 'overwrite') return { kind: 'fetch' };
  const bytes = existing.size;
  // With `--sha256`, the existing file can be checked without the service, even for `compare`.
  if (options.sha256 !== undefined) return { kind: 'check', bytes };
  if (ifExists === 'compare') return { kind: 'fetch' };
  // A dry run writes nothing, not even to SHA256SUMS.
  return { kind: options.writesChecksums && !options.isDryRun ? 'list' : 'skip', bytes };
}

/** Returns the error for an existing file that differs from the fetched one. The existing one stays. */
export function differentFileError(displayPath: string, oldSize: number, newSize: number): FilingsError {
  const sizes =
    oldSize === newSize ? `both have ${oldSize} bytes` : `it has ${oldSize} bytes, but the download has ${newSize}`;
  return new FilingsError('local_io', `a different file already exists: ${sizes}`, {
    subject: { path: displayPath },
    hint: 'choose another path with -o, --layout or -d, or replace it with --if-exists overwrite',
  });
}

function describeKind(stats: Stats): string {
  if (stats.isSymbolicLink()) return 'a symbolic link';
  return stats.isDirectory() ? 'a directory' : 'a special file';
}

function toFailPlan(path: string, reason: string, hint: string): FilePlan {
  return { kind: 'fail', error: new FilingsError('local_io', reason, { subject: { path }, hint }) };
}
