import type { FilingsError } from '../errors.ts';
import type { AccessionNumber } from '../service/accession.ts';

/** A filing whose files are chosen from its listing. */
export interface ChosenFiling {
  readonly accession: AccessionNumber;
  readonly files: number;
  /** How many of them are not known to exist. */
  missing: number;
}

/** A file by its name, from a line or from its filing's listing. */
export interface NamedFile {
  readonly accession: AccessionNumber;
  readonly fileName: string;
  /** Bytes, where the listing says so. */
  readonly size: number | undefined;
  /** Undefined for a file that a line names. */
  readonly filing: ChosenFiling | undefined;
}

/** A file that is to be downloaded. */
export interface FileItem extends NamedFile {
  readonly kind: 'file';
  /** Below the directory, with slashes. */
  readonly path: string;
}

/** What the lines of a run become, one thing after the other. */
export type Item =
  | FileItem
  /** Named or chosen before: not reported a second time. */
  | (NamedFile & { readonly kind: 'again' })
  /** A name that may not touch the disk, or the twin of another one: the fault of this file alone. */
  | (NamedFile & { readonly kind: 'refused'; readonly error: FilingsError })
  /** None of the listing's files is chosen. */
  | { readonly kind: 'unmatched'; readonly accession: AccessionNumber; readonly files: number }
  | { readonly kind: 'unlisted'; readonly accession: AccessionNumber; readonly error: FilingsError }
  /** A line of the input that can't be used. */
  | { readonly kind: 'bad'; readonly number: number | undefined; readonly error: FilingsError };
