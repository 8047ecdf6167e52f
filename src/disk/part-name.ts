// Every hidden name that the program gives to a file on the disk. No final name begins with a dot, so none of these can
// be a file of a filing.
//
//   .NAME.ID.filings-part    being written by one run; no other run ever reads it
//   .NAME.filings-resume     kept by a run that was stopped, for a later run to claim
import { hash } from 'node:crypto';

/** A name on ext4, XFS, APFS and NTFS has at most 255 bytes. */
const MAX_NAME_BYTES = 255;
const ID_LENGTH = 8;

const PART = new RegExp(`^\\..+\\.[0-9a-z]{${ID_LENGTH}}\\.filings-part$`, 's');
const KEPT = /^\..+\.filings-resume$/s;

/** The most bytes of a final name whose part can be called by it. */
export const MAX_FINAL_NAME_BYTES = MAX_NAME_BYTES - '..'.length - ID_LENGTH - '.filings-part'.length;

/** Returns the name of a part that one run writes. `random` is in [0, 1). */
export function partName(finalName: string, random: number): string {
  return `.${stem(finalName)}.${random
    .toString(36)
    .slice(2, 2 + ID_LENGTH)
    .padEnd(ID_LENGTH, '0')}.filings-part`;
}

/** Returns the name of the part of a file that an ended run kept. */
export function keptName(finalName: string): string {
  return `.${stem(finalName)}.filings-resume`;
}

export function isPartName(name: string): boolean {
  return PART.test(name);
}

export function isKeptName(name: string): boolean {
  return KEPT.test(name);
}

/** Returns whether a name ends like those of this file, so that no file of the user's own may have it. */
export function hasOurSuffix(name: string): boolean {
  return /\.filings-(?:part|resume)$/i.test(name);
}

/** A name chosen by `-o` may be too long for its part, which then has a digest of the name. */
function stem(finalName: string): string {
  return Buffer.byteLength(finalName) <= MAX_FINAL_NAME_BYTES ? finalName : hash('sha256', finalName).slice(0, 32);
}
