import { basename, join } from 'node:path';
import { readable } from '../../checksums/read.ts';
import type { Finding } from '../../checksums/verify.ts';
import { readFailure } from '../../disk/failure.ts';
import { FilingsError } from '../../errors.ts';
import { accessionIn } from '../../service/accession.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { Progress } from '../../terminal/progress.ts';
import { counted, humanBytes, shellWord } from '../../text.ts';

export type Findings = ReturnType<typeof collectFindings>;

/** Prints and counts the findings; `roots` are the directories as they were typed. */
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
  let untold = '';
  let canRepair = true;

  const take = (): string => {
    const lines = untold;
    untold = '';
    return lines;
  };

  return {
    counts,
    take,

    add({ result, path, why, error }: Finding): void {
      counts[result] += 1;
      if (result === 'same') return;
      const shown = readable(path);
      if (result === 'unreadable') {
        const failure = readFailure(error, shown);
        if (!(failure instanceof FilingsError)) throw failure;
        progress.failure(failure);
        return;
      }
      if (why !== undefined) progress.note(`warning: ${shown}: ${why}`);
      // An entry that is no file name cannot be requested.
      const wanted = result === 'missing' && why ? undefined : wantedAt(shown);
      if (result === 'missing' || result === 'changed') canRepair &&= isRepaired(shown, wanted, roots);
      const line = json ? printableJson({ v: 1, path: shown, result, ...wanted }) : `${result}\t${printable(shown)}`;
      untold += `${line}\n`;
    },

    hashed(bytes: number): void {
      counts.bytes += bytes;
      hashing.advance(bytes);
    },

    /** Whether the pipeline of the hint downloads every missing and changed file to its place. */
    get canRepair(): boolean {
      return canRepair;
    },

    /** Returns the last lines; `ms` is how long the run took. */
    finish(ms: number, error: FilingsError | undefined): string {
      hashing.finish();
      const summary = { ...counts, files: filesIn(counts), ms: Math.round(ms), exit_code: error?.exitStatus ?? 0 };
      return take() + (json ? `${printableJson({ v: 1, summary })}\n` : '');
    },
  };
}

type Counts = Findings['counts'];

interface WantedFile {
  readonly accession_no: string;
  readonly file_name: string;
}

/** Returns the file that `download --input` reads in a path; undefined if no segment is an accession number. */
function wantedAt(path: string): WantedFile | undefined {
  const segments = path.split('/');
  const file_name = segments.pop() ?? '';
  const accession_no = segments.map(accessionIn).findLast(Boolean);
  return accession_no && { accession_no, file_name };
}

/** Whether the repair of one of the roots, as the hint names it, downloads a file to its path. */
function isRepaired(path: string, wanted: WantedFile | undefined, roots: readonly string[]): boolean {
  if (wanted === undefined) return false;
  const { accession_no, file_name } = wanted;
  return roots.some((root) => join(path) === join(root, isFiling(root) ? '' : accession_no, file_name));
}

const isFiling = (root: string) => accessionIn(basename(root)) !== undefined;

const filesIn = ({ same, missing, changed }: Counts) => same + missing + changed;

export function summaryText(counts: Counts): string {
  const { same, directories, bytes } = counts;
  const places = `in ${counted(directories, 'directory', 'directories')}`;
  const parts = [`${same} of ${filesIn(counts)} files are as listed, ${places} (${humanBytes(bytes)})`];
  for (const result of ['missing', 'changed', 'unlisted', 'damaged', 'unreadable'] as const) {
    if (counts[result] > 0) parts.push(`${counts[result]} ${result}`);
  }
  return parts.join(', ');
}

/** Returns the error that the findings amount to; its hint repairs them if that is possible. */
export function verifyError(
  { counts, canRepair }: Pick<Findings, 'counts' | 'canRepair'>,
  roots: readonly string[],
): FilingsError | undefined {
  const { missing, changed, damaged, unreadable, directories } = counts;
  const wrong = (code: 'integrity' | 'local_io', hint?: string) =>
    new FilingsError(code, summaryText(counts), { subject: { name: 'verify' }, hint });
  if (missing + changed > 0) return wrong('integrity', canRepair ? repair(roots) : undefined);
  if (damaged > 0) {
    const hint = 'delete the unreadable lines; the same download with --checksums lists files again that have no entry';
    return wrong('integrity', hint);
  }
  if (unreadable > 0) return wrong('local_io');
  if (directories > 0) return undefined;
  return new FilingsError('usage', 'no SHA256SUMS in these directories, nor below', {
    subject: { name: 'verify' },
    hint: 'download --checksums keeps one in each directory; sha256sum makes one, too',
  });
}

/** The pipeline that repairs a mirror of the default layout, or one filing of it. */
function repair([only = '', ...others]: readonly string[]): string {
  const directory = others.length > 0 ? 'DIR' : shellWord(only);
  const layout = isFiling(only) ? " --layout '{file_name}'" : '';
  return `download them again: filings verify ${directory} --json | filings download -i - -d ${directory}${layout} --checksums --if-exists overwrite`;
}
