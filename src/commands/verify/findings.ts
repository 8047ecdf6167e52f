// Collects the findings of `verify`: takes them one by one, and gives the lines for stdout, the counts, and the error
// with the command that repairs what can be repaired.
import { posix } from 'node:path';
import type { Finding } from '../../checksums/verify.ts';
import { readError } from '../../disk/failure.ts';
import { FilingsError } from '../../errors.ts';
import { withSlashes } from '../../paths.ts';
import { accessionIn } from '../../service/accession.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { Progress } from '../../terminal/progress.ts';
import { counted, humanBytes, shellWord } from '../../text.ts';

export type Findings = ReturnType<typeof collectFindings>;

/**
 * Returns a collector that counts the findings and keeps their lines until `takeLines`. It prints warnings and
 * unreadable files itself.
 */
export function collectFindings(progress: Progress, json: boolean, roots: readonly string[], platform: string) {
  const counts = {
    directories: 0,
    bytes: 0,
    same: 0,
    missing: 0,
    changed: 0,
    unlisted: 0,
    damaged: 0,
    torn: 0,
    unreadable: 0,
  };
  const hashing = progress.start('verified');
  hashing.total(undefined);
  let pendingLines = '';
  let canRepair = roots.length === 1;

  /** Returns the lines that no call has returned yet. */
  const takeLines = (): string => {
    const lines = pendingLines;
    pendingLines = '';
    return lines;
  };

  return {
    counts,
    takeLines,

    add({ result, path, reason, error }: Finding): void {
      counts[result] += 1;
      if (result === 'same') return;
      if (result === 'unreadable') {
        const failure = readError(error, path);
        if (!(failure instanceof FilingsError)) throw failure;
        progress.failure(failure);
        return;
      }
      if (reason !== undefined) progress.note(`warning: ${path}: ${reason}`);
      const displayPath = withSlashes(path, platform);
      // A finding with a reason is not about a file of a filing, so no download can bring it back.
      const file = reason === undefined ? fileAt(displayPath) : undefined;
      if (result === 'missing' || result === 'changed')
        canRepair &&= isRepaired(displayPath, file, withSlashes(roots[0] ?? '', platform));
      const line = json
        ? printableJson({ v: 1, path: displayPath, result, ...file })
        : `${result}\t${printable(displayPath)}`;
      pendingLines += `${line}\n`;
    },

    /** Counts hashed bytes. */
    hashed(bytes: number): void {
      counts.bytes += bytes;
      hashing.advance(bytes);
    },

    /** Returns the error of the run, or undefined if all files are as listed. */
    error(): FilingsError | undefined {
      return verifyError(counts, canRepair ? roots[0] : undefined);
    },

    /** Returns the last lines; `ms` is how long the run took. */
    finish(ms: number, error: FilingsError | undefined): string {
      hashing.finish();
      const summary = { ...counts, files: filesIn(counts), ms: Math.round(ms), exit_code: error?.exitStatus ?? 0 };
      return takeLines() + (json ? `${printableJson({ v: 1, summary })}\n` : '');
    },
  };
}

type Counts = Findings['counts'];

interface FilingFile {
  readonly accession_no: string;
  readonly file_name: string;
}

/** Returns the filing and file name that a path states, or undefined if no segment is an accession number. */
function fileAt(path: string): FilingFile | undefined {
  const segments = path.split('/');
  const file_name = segments.pop() ?? '';
  const accession_no = segments.map(accessionIn).findLast(Boolean);
  return accession_no && { accession_no, file_name };
}

/** Returns whether the command of `repairHint` downloads the file to this path. */
function isRepaired(path: string, file: FilingFile | undefined, root: string): boolean {
  return file !== undefined && path === posix.join(root, isFiling(root) ? '' : file.accession_no, file.file_name);
}

/** Returns whether a directory is that of one filing. */
const isFiling = (root: string) => accessionIn(posix.basename(root)) !== undefined;

function repairHint(root: string): string {
  const directory = shellWord(root);
  const layout = isFiling(root) ? " --layout '{file_name}'" : '';
  const download = `filings download -i - -d ${directory}${layout} --checksums --if-exists overwrite`;
  return `to download these files again: filings verify ${directory} --json | ${download}`;
}

const filesIn = ({ same, missing, changed }: Counts) => same + missing + changed;

/** Returns the last line on stderr. It states only the counts that are not zero. */
export function summaryText(counts: Counts): string {
  const { same, directories, bytes } = counts;
  const scope = `in ${counted(directories, 'directory', 'directories')}`;
  const parts = [`${same} of ${filesIn(counts)} files are as listed, ${scope} (${humanBytes(bytes)})`];
  for (const result of ['missing', 'changed', 'unlisted', 'damaged', 'torn', 'unreadable'] as const) {
    if (counts[result] > 0) parts.push(`${counts[result]} ${result}`);
  }
  return parts.join(', ');
}

function verifyError(counts: Counts, repairedRoot: string | undefined): FilingsError | undefined {
  const { missing, changed, damaged, unreadable, directories } = counts;
  const failure = (code: 'integrity' | 'local_io', hint?: string) =>
    new FilingsError(code, summaryText(counts), { subject: { name: 'verify' }, hint });
  if (missing + changed > 0) return failure('integrity', repairedRoot && repairHint(repairedRoot));
  if (damaged > 0)
    return failure(
      'integrity',
      'delete unreadable lines, then download again with --checksums, which lists the files that have no line',
    );
  if (unreadable > 0) return failure('local_io');
  if (directories > 0) return undefined;
  return new FilingsError('usage', 'there is no SHA256SUMS in or below these directories', {
    subject: { name: 'verify' },
    hint: 'download --checksums keeps one in each directory, and sha256sum can make one',
  });
}
