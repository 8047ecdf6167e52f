// Collects the findings of `verify`: takes them one by one, and gives the lines for stdout, the counts, and the error
// with the command that repairs what can be repaired.
import { basename, join } from 'node:path';
import { readable } from '../../checksums/read.ts';
import type { Finding } from '../../checksums/verify.ts';
import { readError } from '../../disk/failure.ts';
import { FilingsError } from '../../errors.ts';
import { accessionIn } from '../../service/accession.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { Progress } from '../../terminal/progress.ts';
import { counted, humanBytes, shellWord } from '../../text.ts';

export type Findings = ReturnType<typeof collectFindings>;

/**
 * Returns a collector that counts the findings and keeps their lines until `takeLines`. It prints warnings and
 * unreadable files itself. `roots` are the directories as they were typed.
 */
export function collectFindings(progress: Progress, json: boolean, roots: readonly string[]) {
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
  let canRepair = true;

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
      const displayPath = readable(path);
      if (result === 'unreadable') {
        const failure = readError(error, displayPath);
        if (!(failure instanceof FilingsError)) throw failure;
        progress.failure(failure);
        return;
      }
      if (reason !== undefined) progress.note(`warning: ${displayPath}: ${reason}`);
      // An entry with a reason is not the name of a file, so that no download can bring it back.
      const file = result === 'missing' && reason ? undefined : fileAt(displayPath);
      if (result === 'missing' || result === 'changed') canRepair &&= isRepaired(displayPath, file, roots);
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

    /** Whether the command of the hint downloads every missing and changed file to its path. */
    get canRepair(): boolean {
      return canRepair;
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

/** Whether the command of the hint, run for one of the roots, downloads the file to this path. */
function isRepaired(path: string, file: FilingFile | undefined, roots: readonly string[]): boolean {
  if (file === undefined) return false;
  const { accession_no, file_name } = file;
  return roots.some((root) => join(path) === join(root, isFiling(root) ? '' : accession_no, file_name));
}

const isFiling = (root: string) => accessionIn(basename(root)) !== undefined;

const filesIn = ({ same, missing, changed }: Counts) => same + missing + changed;

/** Returns the last line on stderr. It states only the counts that are not zero. */
export function summaryText(counts: Counts): string {
  const { same, directories, bytes } = counts;
  const scope = `in ${counted(directories, 'directory', 'directories')}`;
  const parts = [`${same} of ${filesIn(counts)} files are as listed, ${scope} (${humanBytes(bytes)})`];
  for (const result of ['missing', 'changed', 'unlisted', 'damaged', 'unreadable'] as const) {
    if (counts[result] > 0) parts.push(`${counts[result]} ${result}`);
  }
  return parts.join(', ');
}

/** Returns the error of the run, or undefined if all files are as listed. Its hint repairs them if that is possible. */
export function verifyError(
  { counts, canRepair }: Pick<Findings, 'counts' | 'canRepair'>,
  roots: readonly string[],
): FilingsError | undefined {
  const { missing, changed, damaged, unreadable, directories } = counts;
  const createError = (code: 'integrity' | 'local_io', hint?: string) =>
    new FilingsError(code, summaryText(counts), { subject: { name: 'verify' }, hint });
  if (missing + changed > 0) return createError('integrity', canRepair ? repairHint(roots) : undefined);
  if (damaged > 0) {
    const hint = 'delete the unreadable lines; the same download with --checksums lists files again that have no entry';
    return createError('integrity', hint);
  }
  if (unreadable > 0) return createError('local_io');
  if (directories > 0) return undefined;
  return new FilingsError('usage', 'no SHA256SUMS in these directories, nor below', {
    subject: { name: 'verify' },
    hint: 'download --checksums keeps one in each directory; sha256sum makes one, too',
  });
}

/** Returns the hint with the command that repairs a mirror of the default layout, or one filing of it. */
function repairHint([root = '', ...others]: readonly string[]): string {
  const directory = others.length > 0 ? 'DIR' : shellWord(root);
  const layout = isFiling(root) ? " --layout '{file_name}'" : '';
  return `download them again: filings verify ${directory} --json | filings download -i - -d ${directory}${layout} --checksums --if-exists overwrite`;
}
