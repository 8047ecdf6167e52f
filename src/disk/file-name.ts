import { shellWord } from '../text.ts';
/** Why a name may not touch the disk: a sentence about "it", and what to do. */
export interface FileNameFault {
  readonly reason: string;
  readonly hint?: string;
}

/** What a part file's name adds to the final one: a dot, its owner and `.part`. */
export const PART_SUFFIX_BYTES = 64;
/** The limit of a name on ext4, XFS, APFS and NTFS is 255; the part's name has to fit too. */
const MOST_BYTES = 255 - PART_SUFFIX_BYTES;

const OWN_NAME = 'choose the name on the disk yourself: -o PATH';

/** A folder name such as `xslF345X05` before a primary document: a rendering of it, not a place. */
const STYLE_SHEET_FOLDER = /^xsl[\w.-]*\/([^/\\]+)$/i;
/** Devices whatever follows the first dot; the superscript digits count as digits. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\.|$)/i;
/** Controls, format characters (bidirectional ones too), separators, fillers: they hide or reorder. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|\u034f/u;

/** What `--checksums` keeps beside the files, in any spelling that a disk may take for it. */
const CHECKSUMS = 'sha256sums';

/** What nearly all names are like, and no rule is about. */
const PLAIN = /^(?!con|prn|aux|nul|clock|com|lpt|sha256)[a-z0-9](?:[\w.-]{0,150}[\w-])?$/i;

type Rule = readonly [broken: (name: string) => boolean, reason: string];

const RULES: readonly Rule[] = [
  [(name) => name === '', 'it is empty'],
  [(name) => /\p{Cs}/u.test(name), 'it is not well-formed Unicode'],
  [(name) => name.includes('\0'), 'it has a NUL character in it'],
  [(name) => UNSEEN.test(name), 'it has control or invisible characters in it'],
  [(name) => name === '.' || name === '..', 'it is a directory'],
  [(name) => /^([/\\]|[A-Za-z]:)/.test(name), 'it is an absolute path'],
  [(name) => /[/\\]/.test(name), 'it has a path separator in it'],
  [(name) => name.includes(':'), 'it has a colon in it, which is a drive or a hidden stream on Windows'],
  [(name) => name.startsWith('.'), 'it begins with a dot'],
  [(name) => name.startsWith('-'), 'it begins with a dash, as an option does'],
  [(name) => name.startsWith(' '), 'it begins with a space'],
  [(name) => /[. ]$/.test(name), 'it ends with a dot or a space, which Windows drops'],
  [(name) => WINDOWS_DEVICE.test(name), 'it is the name of a device on Windows'],
  [(name) => Buffer.byteLength(name) > MOST_BYTES, `it is longer than ${MOST_BYTES} bytes`],
  [(name) => twinKey(name) === CHECKSUMS, 'it is that of the list of checksums'],
];

/**
 * Why a name from the service, the input or the command line is refused: it could touch
 * something other than one file in the right directory. Undefined: it may be used as it is.
 */
export function fileNameFault(name: string): FileNameFault | undefined {
  if (PLAIN.test(name)) return undefined;
  const bare = STYLE_SHEET_FOLDER.exec(name)?.[1];
  if (bare !== undefined && fileNameFault(bare) === undefined) {
    return {
      reason: 'it has a style-sheet folder before the name of the file',
      hint: `to download it under that name, choose the one on the disk: -o ${shellWord(bare)}`,
    };
  }
  const rule = RULES.find(([broken]) => broken(name));
  if (rule === undefined) return undefined;
  return name === '' ? { reason: rule[1] } : { reason: rule[1], hint: OWN_NAME };
}

/**
 * Two names with the same key may be one file on some disk: case-insensitive, or folding
 * Unicode (APFS, HFS+, NTFS, ext4 and ZFS with case folding). It errs on the side of "the same".
 */
export function twinKey(name: string): string {
  let folded = name;
  for (let before = ''; before !== folded; ) {
    before = folded;
    folded = folded.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKD').replace(IGNORED, '');
  }
  return folded;
}

/** Ignorable in comparisons; and the dot that a lower-cased capital dotted I leaves behind. */
const IGNORED = /\p{Default_Ignorable_Code_Point}|(?<=i)\u0307/gu;

/** Each name that shares its key with another one, and that other: neither may be written beside the other. */
export function twins(names: Iterable<string>): ReadonlyMap<string, string> {
  const firsts = new Map<string, string>();
  const found = new Map<string, string>();
  for (const name of names) {
    const key = twinKey(name);
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, name);
    else if (first !== name) {
      found.set(name, first);
      if (!found.has(first)) found.set(first, name);
    }
  }
  return found;
}

/** Whether a name is of the kind that parts and what is beside them have: no file's final name begins with a dot. */
export function isPartLike(name: string): boolean {
  return /^\..+\.(?:part|resume|lock)$/s.test(name);
}
