// Collects the findings of `verify`: takes them one by one, and gives the lines for stdout, the counts, and the error
// with the command that repairs what can be repaired.
import { posix } from 'node:path';
import type { Finding } from '../../checksums/verify.ts';
import { FilingsError } from '../../errors.ts';
import { withSlashes } from '../../paths.ts';
import { asAccession } from '../../service/accession.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import { counted, humanBytes, shellWord } from '../../text.ts';

export class Findings {
  readonly counts = {
    ...{ directories: 0, bytes: 0, same: 0, missing: 0, changed: 0, unlisted: 0, damaged: 0, torn: 0, unreadable: 0 },
  };
  readonly #roots: readonly string[];
  readonly #platform: string;
  readonly #json: boolean;
  /** Whether one command would download all missing and changed files to their paths. */
  #canRepair: boolean;

  constructor(roots: readonly string[], platform: string, json: boolean) {
    this.#roots = roots;
    this.#platform = platform;
    this.#json = json;
    this.#canRepair = roots.length === 1;
  }

  /** Counts a finding. Returns its line, or an empty string if it has none. */
  add({ result, path, reason }: Finding): string {
    this.counts[result] += 1;
    if (result === 'same' || result === 'unreadable') return '';
    const shown = withSlashes(path, this.#platform);
    // A finding with a reason is not about a file of a filing, so no download can bring it back.
    const file = reason === undefined ? fileAt(shown) : undefined;
    if (result === 'missing' || result === 'changed')
      this.#canRepair &&= shown === this.#repairedPath(file?.accession_no, file?.file_name);
    return this.#json
      ? `${printableJson({ v: 1, path: shown, result, ...file })}\n`
      : `${result}\t${printable(shown)}\n`;
  }

  /** Returns the path to which the command of the hint downloads a file. */
  #repairedPath(accession = '', fileName = ''): string {
    const root = withSlashes(this.#roots[0] ?? '', this.#platform);
    return posix.join(root, isFiling(root) ? '' : accession, fileName);
  }

  /** Returns the error of the run, or undefined if all files are as listed. */
  error(): FilingsError | undefined {
    const { missing, changed, damaged, unreadable, directories } = this.counts;
    const failure = (code: 'integrity' | 'local_io' | 'usage', reason: string, hint?: string) =>
      new FilingsError(code, reason, { subject: { name: 'verify' }, hint });
    if (missing + changed > 0)
      return failure('integrity', this.summary(), this.#canRepair ? repairHint(this.#roots[0] ?? '') : undefined);
    if (damaged > 0) {
      const hint =
        'delete unreadable lines, then download again with --checksums, which lists the files without a line';
      return failure('integrity', this.summary(), hint);
    }
    if (unreadable > 0) return failure('local_io', this.summary());
    if (directories > 0) return undefined;
    const hint = 'download --checksums keeps one in each directory, and sha256sum can make one';
    return failure('usage', 'there is no SHA256SUMS in or below these directories', hint);
  }

  /** Returns the last line on stderr. It states only the counts that are not zero. */
  summary(): string {
    const { same, directories, bytes } = this.counts;
    const scope = `in ${counted(directories, 'directory', 'directories')}`;
    const parts = [`${same} of ${this.#files} files are as listed, ${scope} (${humanBytes(bytes)})`];
    for (const result of ['missing', 'changed', 'unlisted', 'damaged', 'torn', 'unreadable'] as const)
      if (this.counts[result] > 0) parts.push(`${this.counts[result]} ${result}`);
    return parts.join(', ');
  }

  /** Returns the last line on stdout with `--json`. */
  summaryLine(ms: number, exitCode: number): string {
    const summary = { ...this.counts, files: this.#files, ms: Math.round(ms), exit_code: exitCode };
    return `${printableJson({ v: 1, summary })}\n`;
  }

  get #files(): number {
    const { same, missing, changed } = this.counts;
    return same + missing + changed;
  }
}

/** Returns the filing and file name that a path states, or undefined if no segment is an accession number. */
function fileAt(path: string) {
  const segments = path.split('/');
  const file_name = segments.pop() ?? '';
  const accession_no = segments.map(asAccession).findLast(Boolean);
  return accession_no && { accession_no, file_name };
}

/** Returns whether a directory is that of one filing. */
const isFiling = (root: string) => asAccession(posix.basename(root)) !== undefined;

function repairHint(root: string): string {
  const directory = shellWord(root);
  const layout = isFiling(root) ? " --layout '{file_name}'" : '';
  const download = `filings download -i - -d ${directory}${layout} --checksums --if-exists overwrite`;
  return `to download these files again: filings verify ${directory} --json | ${download}`;
}
