// What a selection yields and a batch handles: one item for each file of a run, and one for each filing or line of the
// input from which no file came.
import type { FilingsError } from '../errors.ts';
import type { InvalidLine } from '../input/lines.ts';
import type { AccessionNumber } from '../service/accession.ts';
import type { RemoteFile } from '../transfer/transfer.ts';

/** A filing whose files are selected from its listing. The recorder counts the outcomes of its files down. */
export interface SelectedFiling {
  readonly accession: AccessionNumber;
  readonly selectedCount: number;
  /** Selected files that have not ended, in whatever way. */
  unendedFiles: number;
  /** Selected files that are not known to be on disk. */
  unsavedFiles: number;
}

/** The name is that of a listing, the input or an argument. It may be unsafe, except in a `FileItem`. */
export interface NamedFile extends RemoteFile {
  readonly filing: SelectedFiling | undefined;
}

/** A file whose name is safe and new in this run. */
export interface FileItem extends NamedFile {
  readonly kind: 'file';
  /** Relative to `--directory`, with slashes. */
  readonly path: string;
}

export type Item =
  | FileItem
  /** The same file, or the same refused name, came earlier in the run. It is neither downloaded nor reported again. */
  | (NamedFile & { readonly kind: 'duplicate' })
  /** The name is unsafe, or its path is already used by another name of the run. */
  | (NamedFile & { readonly kind: 'refused'; readonly error: FilingsError })
  /** No file of the filing matches `--include` and `--exclude`. */
  | { readonly kind: 'unmatched'; readonly accession: AccessionNumber; readonly listedCount: number }
  /** The end of the run has cancelled the listing, or a limit has kept it from being requested. */
  | { readonly kind: 'cancelled'; readonly accession: AccessionNumber; readonly error: FilingsError }
  /** The listing failed. */
  | { readonly kind: 'unlisted'; readonly accession: AccessionNumber; readonly error: FilingsError }
  /** A line of the input is invalid, or names a whole filing although no option selects its files. */
  | InvalidLine;
