// Makes the one decision about a final name. Takes the entry that has the name and the options; gives the plan for the
// file. The decision is made again only if the name exists when the fetched file is complete.
import type { Stats } from 'node:fs';
import { FilingsError } from '../errors.ts';

/** The values of `--if-exists`. */
export type IfExists = 'skip' | 'compare' | 'overwrite' | 'error';

/** One file that was requested, with the options that decide about an existing entry. */
export interface FileRequest {
  /** The path as the user would write it. */
  readonly displayPath: string;
  readonly ifExists: IfExists;
  /** `--sha256`, in lower case. */
  readonly sha256: string | undefined;
  /** `--checksums`. */
  readonly hasChecksums: boolean;
  /** `--dry-run`. */
  readonly isDryRun: boolean;
}

/** The plan for one file. */
export type FilePlan =
  /** The file is fetched. An entry that has the name by then is treated as `ifExists` says. */
  | { readonly kind: 'fetch' }
  /** The existing file stays. `check`: it must have the hash of `--sha256`. `list`: SHA256SUMS must list it. */
  | { readonly kind: 'keep' | 'check' | 'list'; readonly bytes: number }
  | { readonly kind: 'fail'; readonly error: FilingsError };

/** Returns the plan for one file. `existing` describes the entry itself, also if it is a link. */
export function planFile(existing: Stats | undefined, request: FileRequest): FilePlan {
  const { displayPath, ifExists } = request;
  if (!existing) return { kind: 'fetch' };
  if (ifExists === 'error')
    return fail(displayPath, 'it already exists', '--if-exists skip keeps it, --if-exists overwrite replaces it');
  const isReplaceable = existing.isFile() || (existing.isSymbolicLink() && ifExists === 'overwrite');
  if (!isReplaceable) {
    const hint = 'move it away, or choose another place with --output or --directory';
    return fail(displayPath, `cannot write: ${kindOf(existing)} already exists there`, hint);
  }
  if (ifExists === 'overwrite') return { kind: 'fetch' };
  const bytes = existing.size;
  // The right hash proves the file as well as a comparison does.
  if (request.sha256 !== undefined) return { kind: 'check', bytes };
  if (ifExists === 'compare') return { kind: 'fetch' };
  return { kind: request.hasChecksums && !request.isDryRun ? 'list' : 'keep', bytes };
}

/** Returns the error for an existing file that is kept although it differs from the fetched one. Sizes are in bytes. */
export function differentFileError(displayPath: string, existing: number, fetched: number): FilingsError {
  const sizes = existing === fetched ? `both have ${existing} bytes` : `it has ${existing} bytes, this one ${fetched}`;
  return new FilingsError('local_io', `a different file already exists: ${sizes}`, {
    subject: { path: displayPath },
    hint: 'choose another place with -o, --layout or -d, or replace it with --if-exists overwrite',
  });
}

function kindOf(stats: Stats): string {
  if (stats.isSymbolicLink()) return 'a symbolic link';
  return stats.isDirectory() ? 'a directory' : 'a special file';
}

function fail(path: string, reason: string, hint: string): FilePlan {
  return { kind: 'fail', error: new FilingsError('local_io', reason, { subject: { path }, hint }) };
}
