// The hidden names of parts. No file of a filing can have such a name, because `file-name.ts` refuses names that begin
// with a dot.
//
//   .NAME.ID.filings-part    a working part, to which one run writes, or a new file of `atomic-write.ts`
//   .NAME.filings-resume     a kept part
import { hash } from 'node:crypto';

/** The longest name that the usual file systems allow. */
const MAX_NAME_BYTES = 255;
const ID_LENGTH = 8;

// The flag `s` is for names that contain a newline.
const WORKING_PART = new RegExp(`^\\..+\\.[0-9a-z]{${ID_LENGTH}}\\.filings-part$`, 's');
const KEPT_PART = /^\..+\.filings-resume$/s;

/** How much longer the name of a working part is than the final name, in bytes. The name of a kept part is shorter. */
export const PART_NAME_BYTES = '..'.length + ID_LENGTH + '.filings-part'.length;
/** The longest final name that fits into the name of its working part, in bytes. */
export const MAX_FINAL_NAME_BYTES = MAX_NAME_BYTES - PART_NAME_BYTES;

/** `random` is a number in [0, 1). */
export function workingPartName(finalName: string, random: number): string {
  return `.${stem(finalName)}.${random
    .toString(36)
    .slice(2, 2 + ID_LENGTH)
    .padEnd(ID_LENGTH, '0')}.filings-part`;
}

/** Has no ID, so a later run can find it. */
export function keptPartName(finalName: string): string {
  return `.${stem(finalName)}.filings-resume`;
}

export function isWorkingPartName(name: string): boolean {
  return WORKING_PART.test(name);
}

export function isKeptPartName(name: string): boolean {
  return KEPT_PART.test(name);
}

/**
 * Whether a name has the ending of a part, even without the dot at its start, or in upper case. `-o` refuses all such
 * names.
 */
export function hasPartSuffix(name: string): boolean {
  return /\.filings-(?:part|resume)$/i.test(name);
}

/**
 * The NAME of the patterns at the top of this file. Only a name that the user chose can be too long, because
 * `file-name.ts` refuses such names of the service.
 */
function stem(finalName: string): string {
  return Buffer.byteLength(finalName) <= MAX_FINAL_NAME_BYTES ? finalName : hash('sha256', finalName).slice(0, 32);
}
