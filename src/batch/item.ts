// What a selection yields and a batch handles: one item for each file of a run, and one for each filing or line of the
// input from which no file came.
import type { FilingsError } from '../errors.ts';
import type { AccessionNumber } from '../service/accession.ts';

/** A filing whose files are selected from its listing. */
export interface SelectedFiling {
  readonly accession: AccessionNumber;
  /** Number of selected files. */
  readonly files: number;
  /** Number of selected files that have not been downloaded or found on disk yet. The batch counts it down. */
  missing: number;
}

/** A file whose name comes from a listing, the input or an argument, and is not checked yet. */
export interface NamedFile {
  readonly accession: AccessionNumber;
  readonly fileName: string;
  /** In bytes, according to the listing. */
  readonly size: number | undefined;
  /** Undefined if the file was not selected from a listing. */
  readonly filing: SelectedFiling | undefined;
}

/** A file that is downloaded, unless its plan is to skip it. */
export interface FileItem extends NamedFile {
  readonly kind: 'file';
  /** Relative to `--directory`, with slashes. */
  readonly path: string;
}

export type Item =
  | FileItem
  /** The same file came earlier in the run. It is neither downloaded nor reported again. */
  | (NamedFile & { readonly kind: 'duplicate' })
  /** The name is unsafe, or its path is already used by another name of the run. */
  | (NamedFile & { readonly kind: 'refused'; readonly error: FilingsError })
  /** No file of the filing matches the selection. `files` is the number of listed files. */
  | { readonly kind: 'unmatched'; readonly accession: AccessionNumber; readonly files: number }
  /** The listing failed. */
  | { readonly kind: 'unlisted'; readonly accession: AccessionNumber; readonly error: FilingsError }
  /** Line `number` of the input is invalid, or an argument, which has no number, selects no files. */
  | { readonly kind: 'invalid'; readonly number: number | undefined; readonly error: FilingsError };
