import type { FilingsError } from '../errors.ts';
import type { AccessionNumber } from '../service/accession.ts';

// The items that a selection yields and a batch handles, as data.

/** A filing whose files are selected from its listing. */
export interface ChosenFiling {
  readonly accession: AccessionNumber;
  /** Number of selected files. */
  files: number;
  /** Number of files that are not known to exist on disk yet. */
  missing: number;
}

/** A file that is named or selected, before its name is checked. */
export interface NamedFile {
  readonly accession: AccessionNumber;
  readonly fileName: string;
  /** Bytes according to the listing. */
  readonly size: number | undefined;
  /** Undefined if a line or an argument names the file. */
  readonly filing: ChosenFiling | undefined;
}

/** A file to download, unless its plan says otherwise. */
export interface FileItem extends NamedFile {
  readonly kind: 'file';
  /** The path below the directory, with slashes. */
  readonly path: string;
}

/** The result of the selection for one file, filing or line. */
export type Item =
  | FileItem
  /** The file was selected before. It is not reported a second time. */
  | (NamedFile & { readonly kind: 'duplicate' })
  /** The name is unsafe on disk, or another name of the filing is the same file on some disks. */
  | (NamedFile & { readonly kind: 'refused'; readonly error: FilingsError })
  /** No file of the filing is selected. `files` is the number of its files. */
  | { readonly kind: 'unmatched'; readonly accession: AccessionNumber; readonly files: number }
  /** The listing failed. */
  | { readonly kind: 'unlisted'; readonly accession: AccessionNumber; readonly error: FilingsError }
  /** A line of the input is invalid. */
  | { readonly kind: 'bad'; readonly number: number | undefined; readonly error: FilingsError };
