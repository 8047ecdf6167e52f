import { shellWord } from '../text.ts';

/** Why a name may not touch the disk: a sentence about "it", and what to do. */
export interface FileNameFault {
  readonly reason: string;
  readonly hint?: string;
}

/** What a part file's name adds to the final one: a dot, its owner and `.part`. */
export const PART_SUFFIX_BYTES = 64;
/** The limit of a name on ext4, XFS, APFS and NTFS is 255; the part's name has to fit too. */
const MAX_BYTES = 255 - PART_SUFFIX_BYTES;

/** A folder name such as `xslF345X05` before a primary document: a rendering of it, not a place. */
const STYLE_SHEET_FOLDER = /^xsl[\w.-]*\/([^/\\]+)$/i;
/** Devices whatever follows the first dot; the superscript digits count as digits. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\.|$)/i;
/** Controls, format characters (bidirectional ones too), halves of characters, separators, fillers: they hide or reorder. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|\u034f/u;
/** What `--checksums` keeps beside the files, in any spelling that a disk may take for it. */
const CHECKSUMS = 'sha256sums';

/** What nearly all names are like, and no rule is about. */
const PLAIN = /^(?!con|prn|aux|nul|clock|com|lpt|sha256)[a-z0-9](?:[\w.-]{0,150}[\w-])?$/i;

/** What Windows allows in no name. */
const REFUSED_BY_WINDOWS = /[<>"|?*]/;

const RULES: readonly (readonly [broken: (name: string, platform: string) => boolean, reason: string])[] = [
  [(name) => name === '', 'it is empty'],
  [(name) => UNSEEN.test(name), 'it has control or invisible characters in it'],
  [(name) => /[/\\]/.test(name), 'it has a path separator in it'],
  [(name) => name.includes(':'), 'it has a colon in it, which is a drive or a hidden stream on Windows'],
  [(name) => /^[.-]/.test(name), 'it begins with a dot or a dash'],
  [(name) => /^ |[. ]$/.test(name), 'it begins or ends with a space, or ends with a dot'],
  [(name) => WINDOWS_DEVICE.test(name), 'it is the name of a device on Windows'],
  [(name) => Buffer.byteLength(name) > MAX_BYTES, `it is longer than ${MAX_BYTES} bytes`],
  [
    (name, platform) => platform === 'win32' && REFUSED_BY_WINDOWS.test(name),
    'it has a character in it that Windows does not allow in a name: < > " | ? *',
  ],
  [(name) => twinKey(name) === CHECKSUMS, 'it is that of the list of checksums'],
];

/**
 * Why a name from the service, the input or the command line is refused: it could touch
 * something other than one file in the right directory. Undefined: it may be used as it is.
 */
export function fileNameFault(name: string, platform: string): FileNameFault | undefined {
  if (PLAIN.test(name)) return undefined;
  const bare = STYLE_SHEET_FOLDER.exec(name)?.[1];
  if (bare !== undefined && fileNameFault(bare, platform) === undefined) {
    return {
      reason: 'it has a style-sheet folder before the name of the file',
      hint: `to download it under that name, choose the one on the disk: -o ${shellWord(bare)}`,
    };
  }
  const rule = RULES.find(([broken]) => broken(name, platform));
  return rule && { reason: rule[1], hint: 'choose the name on the disk yourself: -o PATH' };
}

/**
 * Whether a name names one file of its directory, and that alone. On Windows another name can lead out of the directory,
 * to a device, or to a hidden stream of a file.
 */
export function isOneFile(name: string, platform: string): boolean {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) return false;
  if (platform !== 'win32') return true;
  return !/[\\:\p{Cc}]|[. ]$/u.test(name) && !REFUSED_BY_WINDOWS.test(name) && !WINDOWS_DEVICE.test(name);
}

/** Ignorable in comparisons; and the dot that a lower-cased capital dotted I leaves behind. */
const IGNORED = /\p{Default_Ignorable_Code_Point}|(?<=i)\u0307/gu;

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

/** Whether a name is of the kind that parts and what is beside them have: no file's final name begins with a dot. */
export function isPartLike(name: string): boolean {
  return /^\..+\.(?:part|resume|lock)$/s.test(name);
}
