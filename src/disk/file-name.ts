// Decides which names from the service, the input and the command line may become names on a disk, and which names some
// file systems treat as the same.
import { shellWord } from '../text.ts';
import { MAX_FINAL_NAME_BYTES } from './part-name.ts';

/** The fault of a name that is refused. The reason is a sentence whose subject is "it", the name. */
export interface FileNameFault {
  readonly reason: string;
  readonly hint?: string;
}

/** A folder such as `xslF345X05` before a primary document names a rendering of the document, not a directory. */
const STYLE_SHEET_FOLDER = /^xsl[\w.-]*\/([^/\\]+)$/i;
/** A device keeps its meaning with any text after the first dot. Superscript digits count as digits. */
const WINDOWS_DEVICE = /^(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\.|$)/i;
/** Characters that hide or reorder text: controls, format characters, lone surrogates, separators and fillers. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|\u034f/u;
/** The key of the file that `--checksums` writes next to the others, in any spelling that a file system treats as the same. */
const CHECKSUMS = 'sha256sums';

/** Matches nearly all names, and none that breaks a rule. */
const PLAIN = /^(?!con|prn|aux|nul|clock|com|lpt|sha256)[a-z0-9](?:[\w.-]{0,150}[\w-])?$/i;

/** Characters that Windows allows in no name. */
const REFUSED_BY_WINDOWS = /[<>"|?*]/;

const RULES: readonly (readonly [isBroken: (name: string, platform: string) => boolean, reason: string])[] = [
  [(name) => name === '', 'it is empty'],
  [(name) => INVISIBLE.test(name), 'it contains control or invisible characters'],
  [(name) => /[/\\]/.test(name), 'it contains a path separator'],
  [(name) => name.includes(':'), 'it contains a colon, which means a drive or a hidden stream on Windows'],
  [(name) => /^[.-]/.test(name), 'it begins with a dot or a dash'],
  [(name) => /^ |[. ]$/.test(name), 'it begins or ends with a space, or ends with a dot'],
  [(name) => WINDOWS_DEVICE.test(name), 'it is the name of a device on Windows'],
  [(name) => Buffer.byteLength(name) > MAX_FINAL_NAME_BYTES, `it is longer than ${MAX_FINAL_NAME_BYTES} bytes`],
  [
    (name, platform) => platform === 'win32' && REFUSED_BY_WINDOWS.test(name),
    'it contains a character that Windows does not allow in names: < > " | ? *',
  ],
  [(name) => twinKey(name) === CHECKSUMS, 'it is the name of the list of checksums'],
];

/**
 * Returns the fault of a name from the service, the input or the command line that could be something else than one
 * file in the right directory. Returns undefined if the name may be used as it is.
 */
export function fileNameFault(name: string, platform: string): FileNameFault | undefined {
  if (PLAIN.test(name)) return undefined;
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
 * Returns whether a name can only be the name of one entry of its directory. On Windows other names can lead out of the
 * directory, to a device, or to a hidden stream of a file.
 */
export function isOneFile(name: string, platform: string): boolean {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) return false;
  if (platform !== 'win32') return true;
  return !/[\\:\p{Cc}]|[. ]$/u.test(name) && !REFUSED_BY_WINDOWS.test(name) && !WINDOWS_DEVICE.test(name);
}

/** Characters that comparisons ignore, and the dot that remains of a capital dotted I in lower case. */
const IGNORED = /\p{Default_Ignorable_Code_Point}|(?<=i)\u0307/gu;

/**
 * Returns a key that two names share if they may be one file on some disk: one that ignores case, or one that
 * normalizes Unicode (APFS, HFS+, NTFS, ext4 and ZFS with case folding). In doubt, two names share a key.
 */
export function twinKey(name: string): string {
  // In ASCII only the two cases of a letter are alike.
  if (/^[\0-\x7f]*$/.test(name)) return name.toLowerCase();
  let folded = name;
  for (let before = ''; before !== folded; ) {
    before = folded;
    folded = folded.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKD').replace(IGNORED, '');
  }
  return folded;
}
