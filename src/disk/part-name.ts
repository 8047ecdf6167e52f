// The hidden names of parts: temporary files next to the final name of a download, or of a file that `atomic-write.ts`
// replaces. No file of a filing can have such a name, because `file-name.ts` refuses names that begin with a dot.
//
//   .NAME.ID.filings-part    a part that one run is writing, and no other run ever reads
//   .NAME.filings-resume     a kept part, which a later run can resume
import { hash } from 'node:crypto';

/** The longest name that the usual file systems allow. */
const MAX_NAME_BYTES = 255;
const ID_LENGTH = 8;

const PART = new RegExp(`^\\..+\\.[0-9a-z]{${ID_LENGTH}}\\.filings-part$`, 's');
const KEPT = /^\..+\.filings-resume$/s;

/** The longest final name that fits into the name of its part. */
export const MAX_FINAL_NAME_BYTES = MAX_NAME_BYTES - '..'.length - ID_LENGTH - '.filings-part'.length;

/** Returns a name for a new part. Its ID is made from `random`, a number in [0, 1). */
export function partName(finalName: string, random: number): string {
  return `.${stem(finalName)}.${random
    .toString(36)
    .slice(2, 2 + ID_LENGTH)
    .padEnd(ID_LENGTH, '0')}.filings-part`;
}

/** Returns the name of the kept part of a file. */
export function keptName(finalName: string): string {
  return `.${stem(finalName)}.filings-resume`;
}

export function isPartName(name: string): boolean {
  return PART.test(name);
}

export function isKeptName(name: string): boolean {
  return KEPT.test(name);
}

/** Returns whether a name ends like that of a part, in any case. The user may not choose such a name with `-o`. */
export function hasPartSuffix(name: string): boolean {
  return /\.filings-(?:part|resume)$/i.test(name);
}

/** Returns what stands for NAME in the patterns above: the name, or a digest if it is too long, as one of `-o` may be. */
function stem(finalName: string): string {
  return Buffer.byteLength(finalName) <= MAX_FINAL_NAME_BYTES ? finalName : hash('sha256', finalName).slice(0, 32);
}
