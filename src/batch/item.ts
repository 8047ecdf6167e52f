import type { FilingsError } from '../errors.ts';
import type { AccessionNumber } from '../service/accession.ts';

export interface ChosenFiling {
  readonly accession: AccessionNumber;
  readonly files: number;
  /** How many are not known to exist. */
  missing: number;
}

export interface NamedFile {
  readonly accession: AccessionNumber;
  readonly fileName: string;
  /** Bytes, as listed. */
  readonly size: number | undefined;
  /** Undefined where a line names the file. */
  readonly filing: ChosenFiling | undefined;
}

/** Another filing of the run that has a file with the same path. */
export interface PathOwner {
  readonly accession: string;
  /** The paths are the same only on disks that ignore case or accents. */
  readonly isTwin: boolean;
}

export interface FileItem extends NamedFile {
  readonly kind: 'file';
  /** Below the directory, with slashes. */
  readonly path: string;
  readonly pathOwner?: PathOwner | undefined;
}

export type Item =
  | FileItem
  /** Not reported a second time. */
  | (NamedFile & { readonly kind: 'duplicate' })
  /** The name may not touch the disk, or is another one's twin. */
  | (NamedFile & { readonly kind: 'refused'; readonly error: FilingsError })
  | { readonly kind: 'unmatched'; readonly accession: AccessionNumber; readonly files: number }
  | { readonly kind: 'unlisted'; readonly accession: AccessionNumber; readonly error: FilingsError }
  | { readonly kind: 'bad'; readonly number: number | undefined; readonly error: FilingsError };
