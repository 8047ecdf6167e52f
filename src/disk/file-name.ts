// Decides which names of the service's files may become names on the disk. They may be hostile: a name must not lead to
// another directory, to a device or to an option of another program. Also decides which names some file system would
// treat as the same, and says when one refuses a name.
import { basename } from 'node:path';
import { errnoOf, FilingsError } from '../errors.ts';
import { INVISIBLE, shellWord } from '../text.ts';
import { MAX_FINAL_NAME_BYTES, PART_NAME_BYTES } from './part-name.ts';

/** Why a name is refused. In the reason, such as `it is empty`, "it" stands for the name. */
export interface FileNameFault {
  readonly reason: string;
  readonly hint?: string;
}

/**
 * Matches a name such as `xslF345X05/form4.xml`. The folder chooses a style sheet for showing the document. It is not a
 * directory.
 */
const STYLE_SHEET_FOLDER = /^xsl[\w.-]*\/([^/\\]+)$/i;
/** `NUL.txt` is the device NUL, too, and Windows treats superscript digits as digits. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\.|$)/i;
const FOLDED_SUMS_NAME = 'sha256sums';

/**
 * A fast path: matches nearly all real names, and none that breaks one of the RULES. So it matches only short names,
 * and not `contract.pdf`.
 */
const HARMLESS = /^(?!con|prn|aux|nul|clock|com|lpt|sha256)[a-z0-9](?:[\w.-]{0,150}[\w-])?$/i;

/**
 * Windows allows these characters in no name, and elsewhere they are ordinary, so names with them are refused only on
 * Windows. A colon or the name of a device is worse: on Windows it leads somewhere else without an error. Those are
 * refused everywhere.
 */
const REFUSED_BY_WINDOWS = /[<>"|?*]/;

const RULES: readonly (readonly [isBroken: (name: string, platform: string) => boolean, reason: string])[] = [
  [(name) => name === '', 'it is empty'],
  [(name) => INVISIBLE.test(name), 'it contains control or invisible characters'],
  [(name) => /[/\\]/.test(name), 'it contains a path separator'],
  [(name) => name.includes(':'), 'it contains a colon, which means a drive or a hidden stream on Windows'],
  // `..` leads out of the directory, the names of temporary files begin with a dot, and options with a dash.
  [(name) => /^[.-]/.test(name), 'it begins with a dot or a dash'],
  [(name) => /^ |[. ]$/.test(name), 'it begins or ends with a space, or ends with a dot'],
  [(name) => WINDOWS_DEVICE.test(name), 'it is the name of a device on Windows'],
  [(name) => Buffer.byteLength(name) > MAX_FINAL_NAME_BYTES, `it is longer than ${MAX_FINAL_NAME_BYTES} bytes`],
  [
    (name, platform) => platform === 'win32' && REFUSED_BY_WINDOWS.test(name),
    'it contains a character that Windows does not allow in names: < > " | ? *',
  ],
  [(name) => foldName(name) === FOLDED_SUMS_NAME, 'it is the name of the file that --checksums writes'],
];

/** Returns why a file of the service cannot be stored under its name. */
export function fileNameFault(name: string, platform: string): FileNameFault | undefined {
  if (HARMLESS.test(name)) return undefined;
  const bare = STYLE_SHEET_FOLDER.exec(name)?.[1];
  if (bare !== undefined && fileNameFault(bare, platform) === undefined) {
    return {
      reason: 'it contains a style-sheet folder before the file name',
      hint: `to download it, choose its name on the disk: -o ${shellWord(bare)}`,
    };
  }
  const rule = RULES.find(([isBroken]) => isBroken(name, platform));
  return rule && { reason: rule[1], hint: 'choose its name on the disk: -o PATH' };
}

/**
 * Whether a name can mean nothing but an entry of its directory. `fileNameFault` is stricter: this is for files that
 * the user or another program has named, such as `.hidden`.
 */
export function isDirectoryEntryName(name: string, platform: string): boolean {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) return false;
  if (platform !== 'win32') return true;
  return !/[\\:\p{Cc}]|[. ]$/u.test(name) && !REFUSED_BY_WINDOWS.test(name) && !WINDOWS_DEVICE.test(name);
}

/** File systems may ignore these when they compare names. The combining dot remains when `İ` becomes lower case. */
const IGNORED = /\p{Default_Ignorable_Code_Point}|(?<=i)\u0307/gu;

/**
 * Returns the same string for all names that some file system may treat as one file, because it ignores case or
 * normalizes Unicode (APFS, HFS+, NTFS, ext4 and ZFS with case folding). If that is uncertain for two names, it returns
 * the same string, too.
 */
export function foldName(name: string): string {
  // A fast path. In ASCII, only the upper and lower case of a letter can be the same.
  if (/^[\0-\x7f]*$/.test(name)) return name.toLowerCase();
  // Lower case alone would leave `ß` and `ss` different: only `toUpperCase` turns both into `SS`. One step can enable
  // another one, so they are repeated until nothing changes.
  let folded = name;
  for (let before = ''; before !== folded; ) {
    before = folded;
    folded = folded.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKD').replace(IGNORED, '');
  }
  return folded;
}

/** How file systems refuse a name: eCryptfs and NTFS with the first two. */
const REFUSED_NAME_ERRORS: ReadonlySet<string | undefined> = new Set(['ENAMETOOLONG', 'EINVAL', 'EILSEQ']);

export function isNameRefusal(error: unknown): boolean {
  return REFUSED_NAME_ERRORS.has(errnoOf(error));
}

export function nameRefusalError(path: string, cause: unknown): FilingsError {
  const bytes = Buffer.byteLength(basename(path));
  return new FilingsError('local_io', `cannot write: the file system refuses the name, which has ${bytes} bytes`, {
    subject: { path },
    hint: `download it alone under another name (-o PATH), or to another file system; while it is downloaded, its name is ${PART_NAME_BYTES} bytes longer`,
    cause,
  });
}
