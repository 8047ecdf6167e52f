import type { Stats } from 'node:fs';
import { FilingsError } from '../errors.ts';

// The one decision about a final name: from what exists there, what was asked for and what the run knows, to what is
// done. It is made again whenever the facts are collected again: when a file is chosen, when its directory is open, and
// when its part is to get the name.

export type IfExists = 'skip' | 'compare' | 'overwrite' | 'error';

/** What has the final name, without following a link. */
export type Existing =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'file' | 'link' | 'directory' | 'special'; readonly stats: Stats }
  /** The disk takes the final name and the name of this entry for one. */
  | { readonly kind: 'other-spelling'; readonly name: string };

/** What was asked for. */
export interface FileRequest {
  readonly accession: string;
  /** The path as the user would write it. */
  readonly displayPath: string;
  /** `--if-exists`, or undefined for the default. */
  readonly ifExists: IfExists | undefined;
  /** The path is that of `--output`. */
  readonly isOutput: boolean;
  /** Only files of this filing are ever placed in that directory. */
  readonly isInOwnDirectory: boolean;
  /** `--sha256`, in lower case. */
  readonly sha256: string | undefined;
  /** The size in bytes from a record of the listing that names exactly this file. */
  readonly listedSize: number | undefined;
  /** `--checksums`. */
  readonly hasChecksums: boolean;
  /** `--dry-run`. */
  readonly isDryRun: boolean;
}

/** What the run knows beside it. */
export interface FileFacts {
  /** Listed sizes were seen to be wrong. */
  readonly areSizesIgnored?: boolean;
  /** Why the path is that of one of the run's own files, such as its report. */
  readonly runFileFault?: FilingsError | undefined;
  /** Another filing of the run that has a file with this path; a twin has it on disks that ignore case or accents. */
  readonly pathOwner?: { readonly accession: string; readonly isTwin: boolean } | undefined;
  /** The existing file is known to be on disk, with no part of it left beside it. */
  readonly isSettled?: boolean | undefined;
  /** The size in bytes of what the service sends. */
  readonly fetchedBytes?: number | undefined;
}

/**
 * `download`: nothing may have the name in the end. `replace`: whatever has the name is replaced. `compare`: the
 * existing file stays, and must have the same bytes. `planned`: a dry run does none of these.
 */
export interface FetchPlan<Kind = 'download' | 'replace' | 'compare' | 'planned'> {
  readonly kind: Kind;
  /** The next run with the same options fetches the file again. */
  readonly isRepeated: boolean;
}

/** A plan that needs no work. */
export type DecidedPlan =
  | FetchPlan<'planned'>
  /** The existing file stays, and nothing is left to do. */
  | { readonly kind: 'keep'; readonly bytes: number }
  | { readonly kind: 'fail'; readonly error: FilingsError };

export type FilePlan =
  | DecidedPlan
  | FetchPlan<'download' | 'replace' | 'compare'>
  /** The existing file must have this hash. */
  | { readonly kind: 'check'; readonly sha256: string }
  /**
   * The existing file stays. `list`: SHA256SUMS must list it. `settle`: its directory must be flushed, and parts of
   * ended runs removed.
   */
  | { readonly kind: 'list' | 'settle' };

export function isFetch(plan: FilePlan): plan is FetchPlan {
  return 'isRepeated' in plan;
}

/** Returns the plan for one file. */
export function planFile(existing: Existing, asked: FileRequest, known: FileFacts): FilePlan {
  const { displayPath, isDryRun } = asked;
  const ifExists = asked.ifExists ?? defaultIfExists(asked);
  const fetch = (kind: 'download' | 'replace' | 'compare'): FilePlan => {
    const isRepeated = kind !== 'download' || ifExists === 'compare';
    return { kind: isDryRun ? 'planned' : kind, isRepeated };
  };
  if (known.runFileFault !== undefined) return { kind: 'fail', error: known.runFileFault };
  if (known.pathOwner) {
    const where = known.pathOwner.isTwin ? ', on disks that ignore case or accents' : '';
    const why = `${known.pathOwner.accession} and ${asked.accession} both have a file with this path${where}`;
    return fail(displayPath, why, 'layout-by-filing');
  }
  if (existing.kind === 'nothing') return fetch(ifExists === 'overwrite' ? 'replace' : 'download');
  if (existing.kind === 'other-spelling') {
    const why = `'${existing.name}' exists, and this disk takes both names for one`;
    return fail(displayPath, why, 'other-name');
  }
  if (ifExists === 'error') {
    return fail(displayPath, 'it already exists', 'keep-or-replace');
  }
  const isReplaceable = existing.kind === 'file' || (existing.kind === 'link' && ifExists === 'overwrite');
  if (!isReplaceable) {
    return fail(displayPath, `cannot write: ${NAMES[existing.kind]} already exists there`, 'other-place');
  }
  if (ifExists === 'overwrite') return fetch('replace');
  // The right hash proves the file as well as a comparison does.
  if (asked.sha256 !== undefined) return { kind: 'check', sha256: asked.sha256 };
  const bytes = existing.stats.size;
  if (ifExists === 'compare' || !isListedSize(bytes, asked, known)) {
    const { fetchedBytes = bytes } = known;
    return fetchedBytes === bytes
      ? fetch('compare')
      : { kind: 'fail', error: differs(displayPath, bytes, fetchedBytes) };
  }
  if (isDryRun) return { kind: 'keep', bytes };
  if (asked.hasChecksums) return { kind: 'list' };
  return known.isSettled ? { kind: 'keep', bytes } : { kind: 'settle' };
}

/** The default of `--if-exists`. */
function defaultIfExists({ isOutput, isInOwnDirectory }: FileRequest): IfExists {
  if (isOutput) return 'overwrite';
  // Elsewhere an existing file may belong to another filing, or to the user.
  return isInOwnDirectory ? 'skip' : 'compare';
}

/** Whether a file has its listed size, as far as listings are believed. */
export function isListedSize(
  bytes: number,
  { listedSize }: Pick<FileRequest, 'listedSize'>,
  { areSizesIgnored }: FileFacts,
): boolean {
  return listedSize === undefined || areSizesIgnored === true || listedSize === bytes;
}

/** Returns the error for a file that stays because its bytes are others than those of the service. Sizes in bytes. */
export function differs(displayPath: string, existing: number, fetched: number): FilingsError {
  const sizes = existing === fetched ? `both have ${existing} bytes` : `it has ${existing} bytes, this one ${fetched}`;
  return new FilingsError('local_io', `a different file already exists: ${sizes}`, {
    subject: { path: displayPath },
    hint: { advice: 'other-place-or-replace' },
  });
}

const NAMES = {
  file: 'a file',
  link: 'a symbolic link',
  directory: 'a directory',
  special: 'a special file',
} as const;

function fail(
  path: string,
  reason: string,
  advice: 'keep-or-replace' | 'layout-by-filing' | 'other-name' | 'other-place',
): FilePlan {
  return { kind: 'fail', error: new FilingsError('local_io', reason, { subject: { path }, hint: { advice } }) };
}
