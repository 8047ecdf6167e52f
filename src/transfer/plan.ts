// Decides what to do about one file, before the first request, from the options and from whatever exists under its
// final name. If something has that name when the file has arrived, a second plan says which of the two stays.
import { lstatSync, type Stats } from 'node:fs';
import { isNameRefusal, nameRefusalError } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';
import type { ByteWriter } from '../stdio/output.ts';
import { humanSizes } from '../text.ts';

/** The values of `--if-exists`. */
export type IfExists = 'skip' | 'compare' | 'overwrite' | 'error';

export interface DiskTarget {
  /** Absolute. */
  readonly path: string;
  /** The path as the user would write it, for messages and the report. */
  readonly displayPath: string;
  readonly ifExists: IfExists;
  /** `--sha256`, in lower case. */
  readonly sha256: string | undefined;
}

/** A pipe, a device or standard output. */
export interface StreamTarget {
  /** Opens the stream. It may wait until a FIFO has a reader. */
  readonly open: (signal: AbortSignal) => Promise<ByteWriter>;
  readonly displayPath: null;
  readonly sha256: string | undefined;
}

export type Target = DiskTarget | StreamTarget;

/**
 * What to do about an existing file, which stays. `skip`: nothing. `check`: it must have the hash of `--sha256`.
 * `compare`: the file is fetched, and the existing one must have the same bytes.
 */
export interface KeepPlan {
  readonly kind: 'skip' | 'check' | 'compare';
  /** The size of the existing file. */
  readonly bytes: number;
}

/** The plan if the final name must not be used, or if whatever has it stays, even though the file was fetched. */
export type NameTakenPlan = KeepPlan | { readonly kind: 'fail'; readonly error: FilingsError };

/** `fetch`: the fetched file gets the final name, and with `--if-exists overwrite` replaces whatever has it. */
export type Plan = { readonly kind: 'fetch' } | NameTakenPlan;

export function planFile(target: Target): Plan {
  if ('open' in target) return { kind: 'fetch' };
  try {
    return choosePlan(lstatSync(target.path, { throwIfNoEntry: false }), target);
  } catch (error) {
    if (isNameRefusal(error)) return { kind: 'fail', error: nameRefusalError(target.path, error) };
    // For example, this user may not enter the directory (EACCES). Writing the file will report the error.
    return { kind: 'fetch' };
  }
}

/** `existing` is what `lstat` returns for the final name, or undefined if nothing is there. */
export function choosePlan(
  existing: Stats | undefined,
  { displayPath, ifExists, sha256 }: Omit<DiskTarget, 'path'>,
): Plan {
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
  if (sha256 !== undefined) return { kind: 'check', bytes };
  return { kind: ifExists === 'compare' ? 'compare' : 'skip', bytes };
}

export function differentFileError(displayPath: string, oldSize: number, newSize: number): FilingsError {
  const both = humanSizes(oldSize, newSize);
  const sizes = oldSize === newSize ? `both have ${both[0]}` : `it has ${both.join(', but the download has ')}`;
  return new FilingsError('local_io', `a different file already exists: ${sizes}`, {
    subject: { path: displayPath },
    hint: 'choose another path with -o, --layout or -d, or replace it with --if-exists overwrite',
  });
}

function describeKind(stats: Stats): string {
  if (stats.isSymbolicLink()) return 'a symbolic link';
  return stats.isDirectory() ? 'a directory' : 'a special file';
}

function toFailPlan(path: string, reason: string, hint: string): Plan {
  return { kind: 'fail', error: new FilingsError('local_io', reason, { subject: { path }, hint }) };
}
