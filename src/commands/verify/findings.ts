// The findings of `filings verify`: a line for each, counts, a summary and the error of the run.
import { posix } from 'node:path';
import type { Finding } from '../../checksums/verify.ts';
import { FilingsError } from '../../errors.ts';
import { withSlashes } from '../../paths.ts';
import { asAccession, findLastAccession } from '../../service/accession.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import { counted, humanBytes, shellWord } from '../../text.ts';

export class Findings {
  /** Directories that have a SHA256SUMS. */
  directories = 0;
  /** Bytes that have been hashed. */
  bytes = 0;
  readonly #counts = { same: 0, missing: 0, changed: 0, unlisted: 0, damaged: 0, torn: 0, unreadable: 0 };
  /** The first directory from the command line, with slashes even on Windows. */
  readonly #root: string;
  readonly #platform: string;
  readonly #json: boolean;
  /** Whether the command of `repairHint` would download every missing or changed file to the path where it belongs. */
  #canRepair: boolean;
  /** What to do about the first `damaged` finding. */
  #damageHint: string | undefined;

  constructor(roots: readonly string[], platform: string, json: boolean) {
    this.#root = withSlashes(roots[0] ?? '', platform);
    this.#platform = platform;
    this.#json = json;
    // The command has one `-d`, so it can repair only one directory.
    this.#canRepair = roots.length === 1;
  }

  /** Returns the line for stdout, or an empty string. */
  add({ result, path, reason, hint }: Finding): string {
    this.#counts[result] += 1;
    this.#damageHint ??= hint;
    // The caller prints an `unreadable` finding as an error on stderr.
    if (result === 'same' || result === 'unreadable') return '';
    const slashedPath = withSlashes(path, this.#platform);
    // `filings download -i -` identifies a file by these members. A finding with a reason has no file to download: it
    // is about a SHA256SUMS itself, or about an entry with an invalid name.
    const file = reason === undefined ? parseFilePath(slashedPath) : undefined;
    if (result === 'missing' || result === 'changed') {
      // Without `file`, this is only the root, which is not this path.
      const { accession_no = '', file_name = '' } = file ?? {};
      this.#canRepair &&=
        slashedPath === posix.join(this.#root, isFilingDirectory(this.#root) ? '' : accession_no, file_name);
    }
    return this.#json
      ? `${printableJson({ v: 1, path: slashedPath, result, ...file })}\n`
      : `${result}\t${printable(slashedPath)}\n`;
  }

  /** Only the gravest problem decides the code and the hint. Unlisted files and a torn SHA256SUMS are no error. */
  toError(): FilingsError | undefined {
    const { missing, changed, damaged, unreadable } = this.#counts;
    const createError = (code: 'integrity' | 'local_io' | 'usage', reason: string, hint?: string) =>
      new FilingsError(code, reason, { subject: { name: 'verify' }, hint });
    if (missing + changed > 0)
      return createError('integrity', this.summary(), this.#canRepair ? repairHint(this.#root) : REPLACE_HINT);
    if (damaged > 0) return createError('integrity', this.summary(), this.#damageHint);
    if (unreadable > 0) return createError('local_io', this.summary());
    if (this.directories > 0) return undefined;
    const hint = 'filings download --checksums writes one in each directory, and sha256sum can make one';
    return createError('usage', 'there is no SHA256SUMS in or below these directories', hint);
  }

  summary(): string {
    const scope = `in ${counted(this.directories, 'directory', 'directories')} (${humanBytes(this.bytes)})`;
    const facts = [`${this.#counts.same} of ${this.#files} files match their checksums ${scope}`];
    for (const result of ['missing', 'changed', 'unlisted', 'damaged', 'torn', 'unreadable'] as const)
      if (this.#counts[result] > 0) facts.push(`${this.#counts[result]} ${result}`);
    return facts.join(', ');
  }

  summaryLine(elapsedMs: number, exit_code: number): string {
    const { directories, bytes } = this;
    const ms = Math.round(elapsedMs);
    const summary = { directories, bytes, ...this.#counts, files: this.#files, ms, exit_code };
    return `${printableJson({ v: 1, summary })}\n`;
  }

  get #files(): number {
    const { same, missing, changed } = this.#counts;
    return same + missing + changed;
  }
}

const REPLACE_HINT = 'get the missing and changed files again from where they came from';

/** Returns undefined if no directory in the path is an accession number. */
function parseFilePath(path: string) {
  const segments = path.split('/');
  const file_name = segments.pop() ?? '';
  const accession_no = findLastAccession(segments);
  return accession_no && { accession_no, file_name };
}

const isFilingDirectory = (root: string) => asAccession(posix.basename(root)) !== undefined;

/** The JSON lines of a second `verify` are valid input for `download`. */
function repairHint(root: string): string {
  const directory = shellWord(root);
  // `root` is already the directory of the accession number.
  const layout = isFilingDirectory(root) ? " --layout '{file_name}'" : '';
  const download = `filings download -i - -d ${directory}${layout} --checksums --if-exists overwrite`;
  return `to download these files again: filings verify ${directory} --json | ${download}`;
}
