// Makes the one decision about a final name. Takes the existing entry, the options and the facts that the run knows;
// gives the plan for the file. The decision is made again whenever the facts are collected again: when a file is
// chosen, when its directory is open, and before its part gets the final name.
import type { Stats } from 'node:fs';
import { FilingsError } from '../errors.ts';

/** The values of `--if-exists`. */
export type IfExists = 'skip' | 'compare' | 'overwrite' | 'error';

/** The entry with the final name. A symbolic link is not followed. */
export type Existing =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'file' | 'link' | 'directory' | 'special'; readonly stats: Stats }
  /** The disk takes the final name and the name of this entry for one. */
  | { readonly kind: 'other-spelling'; readonly name: string };

/** One file that was requested, with the options that decide about an existing entry. */
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

/** Facts that the run knows about a file beside its request. */
export interface FileFacts {
  /** True once a listed size was proved wrong. */
  readonly areSizesIgnored?: boolean;
  /** Set if the path is that of one of the run's own files, such as its report. */
  readonly runFileFault?: FilingsError | undefined;
  /**
   * Another filing of the run with a file at this path. A twin's path is the same on disks that ignore case or accents.
   */
  readonly pathOwner?: { readonly accession: string; readonly isTwin: boolean } | undefined;
  /** True if the existing file is flushed and no other run left a part of it. */
  readonly isSettled?: boolean | undefined;
  /** The size in bytes of the file that the service sends. */
  readonly fetchedBytes?: number | undefined;
}

/**
 * `download`: fails if an entry has the name by the end. `replace`: replaces any entry with the name. `compare`: keeps
 * the existing file, which must have the same bytes. `planned`: a dry run does none of these.
 */
interface FetchPlan<Kind = 'download' | 'replace' | 'compare' | 'planned'> {
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

/** The plan for one file. */
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

/** Returns whether a plan fetches the file, or would do so without `--dry-run`. */
export function isFetch(plan: FilePlan): plan is FetchPlan {
  return 'isRepeated' in plan;
}

/** Returns the plan for one file. Does not throw: a plan may be an error. */
export function planFile(existing: Existing, request: FileRequest, facts: FileFacts): FilePlan {
  const { displayPath, isDryRun } = request;
  const ifExists = request.ifExists ?? defaultIfExists(request);
  const fetch = (kind: 'download' | 'replace' | 'compare'): FilePlan => {
    const isRepeated = kind !== 'download' || ifExists === 'compare';
    return { kind: isDryRun ? 'planned' : kind, isRepeated };
  };
  if (facts.runFileFault !== undefined) return { kind: 'fail', error: facts.runFileFault };
  if (facts.pathOwner) {
    const disks = facts.pathOwner.isTwin ? ', on disks that ignore case or accents' : '';
    const reason = `${facts.pathOwner.accession} and ${request.accession} both have a file with this path${disks}`;
    return fail(displayPath, reason, 'layout-by-filing');
  }
  if (existing.kind === 'nothing') return fetch(ifExists === 'overwrite' ? 'replace' : 'download');
  if (existing.kind === 'other-spelling') {
    const reason = `'${existing.name}' exists, and this disk takes both names for one`;
    return fail(displayPath, reason, 'other-name');
  }
  if (ifExists === 'error') {
    return fail(displayPath, 'it already exists', 'keep-or-replace');
  }
  const isReplaceable = existing.kind === 'file' || (existing.kind === 'link' && ifExists === 'overwrite');
  if (!isReplaceable) {
    return fail(displayPath, `cannot write: ${KIND_NAMES[existing.kind]} already exists there`, 'other-place');
  }
  if (ifExists === 'overwrite') return fetch('replace');
  // The right hash proves the file as well as a comparison does.
  if (request.sha256 !== undefined) return { kind: 'check', sha256: request.sha256 };
  const bytes = existing.stats.size;
  if (ifExists === 'compare' || !isListedSize(bytes, request, facts)) {
    const { fetchedBytes = bytes } = facts;
    return fetchedBytes === bytes
      ? fetch('compare')
      : { kind: 'fail', error: differentFileError(displayPath, bytes, fetchedBytes) };
  }
  if (isDryRun) return { kind: 'keep', bytes };
  if (request.hasChecksums) return { kind: 'list' };
  return facts.isSettled ? { kind: 'keep', bytes } : { kind: 'settle' };
}

/** The default of `--if-exists`. */
function defaultIfExists({ isOutput, isInOwnDirectory }: FileRequest): IfExists {
  if (isOutput) return 'overwrite';
  // Elsewhere an existing file may belong to another filing, or to the user.
  return isInOwnDirectory ? 'skip' : 'compare';
}

/** Returns whether a file has its listed size. Returns true if there is none, or if listed sizes are ignored. */
export function isListedSize(
  bytes: number,
  { listedSize }: Pick<FileRequest, 'listedSize'>,
  { areSizesIgnored }: FileFacts,
): boolean {
  return listedSize === undefined || areSizesIgnored === true || listedSize === bytes;
}

/** Returns the error for an existing file that is kept although it differs from the fetched one. Sizes are in bytes. */
export function differentFileError(displayPath: string, existing: number, fetched: number): FilingsError {
  const sizes = existing === fetched ? `both have ${existing} bytes` : `it has ${existing} bytes, this one ${fetched}`;
  return new FilingsError('local_io', `a different file already exists: ${sizes}`, {
    subject: { path: displayPath },
    hint: { advice: 'other-place-or-replace' },
  });
}

const KIND_NAMES = {
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
