import type { FilingsError } from '../errors.ts';
import type { AccessionNumber } from '../service/accession.ts';

/** A file that is to be fetched. */
export interface ExpandedFile {
  readonly kind: 'file';
  readonly accession: AccessionNumber;
  readonly fileName: string;
  /** Below the directory, with slashes. */
  readonly path: string;
  /** Bytes, where the listing says so. */
  readonly size: number | undefined;
  /** Chosen from its filing's listing, and not named. */
  readonly listed: boolean;
}

/** What a selection becomes, one thing after the other. */
export type Expanded =
  | ExpandedFile
  /** Chosen from the listing, and named before: it is fetched already. Named twice it is not told. */
  | { readonly kind: 'again'; readonly accession: AccessionNumber; readonly fileName: string }
  /** A name that may not touch the disk, or the twin of another one: the fault of this file alone. */
  | {
      readonly kind: 'refused';
      readonly accession: AccessionNumber;
      readonly fileName: string;
      readonly error: FilingsError;
      readonly listed: boolean;
    }
  /** Every chosen file of the filing has been handed out before this. */
  | { readonly kind: 'listed'; readonly accession: AccessionNumber; readonly files: number }
  /** None of the listing's files is chosen. */
  | { readonly kind: 'unmatched'; readonly accession: AccessionNumber; readonly files: number }
  /** The listing failed. */
  | { readonly kind: 'unlisted'; readonly accession: AccessionNumber; readonly error: FilingsError }
  /** A line of the input that can't be used. */
  | { readonly kind: 'bad'; readonly number: number | undefined; readonly error: FilingsError };
