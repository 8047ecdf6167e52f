import { type ByteText, bytesOf, isUtf8, readable } from '../../../disk/byte-text.ts';
import { FilingsError } from '../../../errors.ts';
import { printable, printableJson } from '../../../terminal/printable.ts';
import { counted } from '../../../text.ts';

/** A file that is not as its directory's checksum file says. */
export interface Finding {
  readonly result: 'missing' | 'changed' | 'unlisted';
  readonly path: ByteText;
}

/** What was looked at, and what it came to. */
export class VerifyCounts {
  /** Directories that have a checksum file. */
  directories = 0;
  same = 0;
  missing = 0;
  changed = 0;
  unlisted = 0;
  /** Entries that are no name in their directory, among the missing ones. */
  refused = 0;
  /** Files and directories that could not be read. */
  unreadable = 0;
  /** Bytes hashed. */
  bytes = 0;

  /** Files that are listed. */
  get files(): number {
    return this.same + this.missing + this.changed;
  }
}

/** A finding as a line for stdout: `missing<TAB>PATH`, or a JSON object, which tells bytes that are not UTF-8 apart. */
export function findingLine({ result, path }: Finding, json: boolean): string {
  if (!json) return `${result}\t${printable(readable(path))}\n`;
  const exact = isUtf8(path) ? {} : { path_base64: bytesOf(path).toString('base64') };
  return `${printableJson({ v: 1, path: readable(path), ...exact, result })}\n`;
}

/** The last line of `--json`. `ms`: how long it took. */
export function summaryLine(counts: VerifyCounts, ms: number, error: FilingsError | undefined): string {
  const summary = { ...counts, files: counts.files, ms: Math.round(ms), exit_code: error?.exitStatus ?? 0 };
  return `${printableJson({ v: 1, summary })}\n`;
}

/** The sum of it for a person. `bytes` shows sizes. */
export function summaryText(counts: VerifyCounts, bytes: (count: number) => string): string {
  const { files, same, directories, missing, changed, unlisted, unreadable } = counts;
  const places = `in ${counted(directories, 'directory', 'directories')}`;
  const parts = [`${same} of ${files} files are as listed, ${places} (${bytes(counts.bytes)})`];
  if (missing > 0) parts.push(`${missing} missing`);
  if (changed > 0) parts.push(`${changed} changed`);
  if (unlisted > 0) parts.push(`${unlisted} unlisted`);
  if (unreadable > 0) parts.push(`${unreadable} could not be read`);
  return parts.join(', ');
}

/** What verifying ends with; undefined: all is right. What stopped it wins, then what was found. */
export function verifyError(counts: VerifyCounts, stoppedBy: FilingsError | undefined): FilingsError | undefined {
  const { files, missing, changed, unreadable, directories } = counts;
  if (stoppedBy !== undefined) return stoppedBy;
  if (missing + changed > 0) {
    return new FilingsError('integrity', `verify: ${missing} of ${files} files missing, ${changed} changed`, {
      hint: 'download again: what is missing is fetched, what is changed with --if-exists overwrite',
    });
  }
  if (unreadable > 0) {
    return new FilingsError(
      'local_io',
      `verify: ${counted(unreadable, 'file or directory', 'files or directories')} could not be read`,
      {
        hint: 'check their permissions, and the disk',
      },
    );
  }
  if (directories > 0) return undefined;
  return new FilingsError('usage', 'verify: there is no SHA256SUMS in these directories, nor below', {
    hint: 'download --checksums keeps one in each directory; sha256sum makes one, too',
  });
}
