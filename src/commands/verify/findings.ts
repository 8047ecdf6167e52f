import type { Roots } from '../../checksums/find.ts';
import type { FileFinding, Finding } from '../../checksums/verify.ts';
import { readable } from '../../disk/byte-text.ts';
import { readFailure } from '../../disk/failure.ts';
import { FilingsError } from '../../errors.ts';
import { accessionsIn } from '../../service/accession.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { FileProgress, Progress } from '../../terminal/progress.ts';
import { counted, humanBytes, shellWord } from '../../text.ts';

/** What was found so far: counted, warned of, and as lines for stdout. */
export class Findings {
  readonly counts = {
    /** Directories that have a SHA256SUMS. */
    directories: 0,
    same: 0,
    missing: 0,
    changed: 0,
    unlisted: 0,
    /** Checksum files with a line that can't be read, or without an entry. */
    damaged: 0,
    /** Checksum files whose last line is incomplete. */
    torn: 0,
    /** Files and directories that could not be read. */
    unreadable: 0,
    /** Hashed. */
    bytes: 0,
  };
  readonly json: boolean;
  readonly #progress: Progress;
  #untold = '';
  #shown: FileProgress | undefined;

  constructor(progress: Progress, json: boolean) {
    this.#progress = progress;
    this.json = json;
  }

  readonly add = (finding: Finding): void => {
    this.counts[finding.result] += 1;
    const shown = readable(finding.path);
    if (finding.result === 'unreadable') {
      this.#progress.failure(readFailure(finding.error, shown));
      return;
    }
    if (finding.why !== undefined) this.#progress.note(`warning: ${shown}: ${finding.why}`);
    this.#untold += findingLine(finding, this.json);
  };

  readonly hashed = (bytes: number): void => {
    this.counts.bytes += bytes;
    if (this.#shown === undefined) {
      this.#shown = this.#progress.start('verified');
      this.#shown.total(undefined);
    }
    this.#shown.advance(bytes);
  };

  /** The lines that were not taken yet. */
  take(): string {
    const lines = this.#untold;
    this.#untold = '';
    return lines;
  }

  /** Nothing more comes. */
  finish(): void {
    this.#shown?.finish();
  }
}

export type VerifyCounts = Findings['counts'];

/** A finding as a line for stdout: `missing<TAB>PATH`, or a JSON object. */
function findingLine({ result, path, why }: FileFinding, json: boolean): string {
  const shown = readable(path);
  if (!json) return `${result}\t${printable(shown)}\n`;
  // What is no file name is none that can be asked for.
  const wanted = result === 'missing' && why ? {} : wantedAt(shown);
  return `${printableJson({ v: 1, path: shown, result, ...wanted })}\n`;
}

/** What `download --input` takes of a path: the accession number that a directory on it is named by, and the file's name. */
function wantedAt(path: string): { accession_no?: string | undefined; file_name?: string | undefined } {
  const segments = path.split('/');
  const file_name = segments.pop();
  const within = segments.findLast((segment) => /^(?:\d{18}|\d{10}-\d\d-\d{6})$/.test(segment));
  return within === undefined ? {} : { accession_no: accessionsIn(within)[0], file_name };
}

/** The last line of `--json`. `ms`: how long it took. */
export function summaryLine(counts: VerifyCounts, ms: number, error: FilingsError | undefined): string {
  const summary = { ...counts, files: filesIn(counts), ms: Math.round(ms), exit_code: error?.exitStatus ?? 0 };
  return `${printableJson({ v: 1, summary })}\n`;
}

function filesIn({ same, missing, changed }: VerifyCounts): number {
  return same + missing + changed;
}

/** The sum of it for a person. */
export function summaryText(counts: VerifyCounts): string {
  const { same, directories, unreadable, bytes } = counts;
  const places = `in ${counted(directories, 'directory', 'directories')}`;
  const parts = [`${same} of ${filesIn(counts)} files are as listed, ${places} (${humanBytes(bytes)})`];
  for (const result of ['missing', 'changed', 'unlisted'] as const) {
    if (counts[result] > 0) parts.push(`${counts[result]} ${result}`);
  }
  if (counts.damaged > 0) parts.push(`${counts.damaged} SHA256SUMS damaged`);
  if (unreadable > 0) parts.push(`${unreadable} cannot be read`);
  return parts.join(', ');
}

/** What verifying ends with; undefined: all is right. What stopped it wins, then what was found. */
export function verifyError(
  counts: VerifyCounts,
  roots: Roots,
  stoppedBy: FilingsError | undefined,
): FilingsError | undefined {
  const { missing, changed, damaged, unreadable } = counts;
  if (stoppedBy !== undefined) return stoppedBy;
  if (missing + changed > 0) {
    const files = `${missing} of ${filesIn(counts)} files missing, ${changed} changed`;
    return new FilingsError('integrity', `verify: ${files}`, { hint: repair([...roots.values()].map(readable)) });
  }
  if (damaged > 0) {
    return new FilingsError('integrity', `verify: ${counted(damaged, 'damaged SHA256SUMS', 'damaged SHA256SUMS')}`, {
      hint: 'delete the unreadable lines; the same download with --checksums lists files again that have no entry',
    });
  }
  if (unreadable > 0) {
    return new FilingsError(
      'local_io',
      `verify: ${counted(unreadable, 'file or directory', 'files or directories')} cannot be read`,
      { hint: 'check their permissions, and the disk' },
    );
  }
  if (counts.directories > 0) return undefined;
  return new FilingsError('usage', 'verify: no SHA256SUMS in these directories, nor below', {
    hint: 'download --checksums keeps one in each directory; sha256sum makes one, too',
  });
}

/** The pipeline that repairs a mirror of the default layout. */
function repair([only = '', ...others]: readonly string[]): string {
  const directory = others.length > 0 ? 'DIR' : shellWord(only);
  return `download them again: filings verify ${directory} --json | filings download -i - -d ${directory} --checksums --if-exists overwrite`;
}
