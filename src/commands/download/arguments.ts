// Checks the arguments and options of `download`, and works out what to download and where to. This happens before
// anything is opened or requested, because an invalid command line must have no effect. Where possible, the hint of a
// usage error shows the command that was probably meant.
import { type Layout, parseLayout } from '../../batch/layout.ts';
import { NameCheck } from '../../batch/name-check.ts';
import { isDirectoryEntryName } from '../../disk/file-name.ts';
import { hasPartSuffix } from '../../disk/part-name.ts';
import { FilingsError } from '../../errors.ts';
import { compileNameFilter, QUOTE_PATTERN } from '../../input/glob.ts';
import { isNullDevice, pathModule, resolveTypedPath, withSlashes } from '../../paths.ts';
import { type AccessionNumber, asAccession, parseAccession } from '../../service/accession.ts';
import type { Values } from '../../spec/option.ts';
import { isStdout } from '../../stdio/byte-writer.ts';
import { refuseSharedStream } from '../../stdio/input.ts';
import { shellWord } from '../../text.ts';
import type { OPTIONS } from './spec.ts';

type Options = Values<typeof OPTIONS>;

export interface DownloadArgs {
  /** Without duplicates. Exactly one if files are named, none with `--input`. */
  readonly accessions: readonly AccessionNumber[];
  readonly fileNames: readonly string[];
  /** Undefined without `--all`, `--include` and `--exclude`. */
  readonly nameFilter: ((name: string) => boolean) | undefined;
  /** `-` for stdout, even if the option was `/dev/stdout`. */
  readonly output: string | undefined;
  readonly directory: string;
  readonly layout: Layout;
  /** `-` for stdout, even if the option was `/dev/stdout`. */
  readonly report: string | undefined;
  /** Whether exactly one file is named. Its error is then the error of the run. */
  readonly isSingleFile: boolean;
  readonly options: Options;
}

/** Throws `usage`. */
export function parseArguments(rawArgs: readonly string[], options: Options, platform: string): DownloadArgs {
  const { all, include, exclude, input, output, directory = '.' } = options;
  const hasSelection = all || include.length > 0 || exclude.length > 0;
  const isBatch = hasSelection || input !== undefined;
  const { layout = isBatch ? '{accession_no}/{file_name}' : '{file_name}' } = options;
  const filter = compileNameFilter(include, exclude);
  if (all && include.length > 0) {
    throw usage('--all cannot be used with --include', 'omit --all to download only the files that match');
  }
  const { accessions, fileNames } = parseNames(rawArgs, hasSelection);
  const args: DownloadArgs = {
    accessions,
    fileNames,
    nameFilter: hasSelection ? filter : undefined,
    output: normalizeStdout(output),
    directory,
    // With --output the file name is only sent to the service, so it may be anything.
    layout: output === undefined ? parseLayout(layout, platform) : { template: '', pathFor: (_, path) => ({ path }) },
    report: normalizeStdout(options.report),
    isSingleFile: input === undefined && fileNames.length === 1,
    options,
  };
  requireFiles(args);
  requireCompatibleOptions(args, platform);
  if (output === undefined) requireSafeNames(args);
  refuseSharedStream('stdout', [
    args.output === '-' && '--output -',
    args.report === '-' ? '--report -' : options.dryRun && '--dry-run',
  ]);
  return args;
}

/**
 * Parses `ACCESSION...` if an option selects files, otherwise `ACCESSION FILE...`. If an option selects files and a later
 * argument is not an accession number, it is returned as a file name, which `requireFiles` refuses with a hint. Throws
 * `usage`.
 */
function parseNames(
  [first, ...names]: readonly string[],
  hasSelection: boolean,
): Pick<DownloadArgs, 'accessions' | 'fileNames'> {
  if (first === undefined) return { accessions: [], fileNames: [] };
  const accession = parseAccession(first);
  const others = names.flatMap((name) => asAccession(name) ?? []);
  if (hasSelection && others.length === names.length) {
    return { accessions: [...new Set([accession, ...others])], fileNames: [] };
  }
  return { accessions: [accession], fileNames: [...new Set(names)] };
}

/** Returns `-` for every path of stdout, such as `/dev/stdout`. */
function normalizeStdout(path: string | undefined): string | undefined {
  return path !== undefined && isStdout(path) ? '-' : path;
}

/** Throws `usage` unless the arguments or `--input` say which files to download. */
function requireFiles({ accessions: [accession], fileNames, nameFilter, options }: DownloadArgs): void {
  const { input } = options;
  if (input !== undefined && accession !== undefined) {
    throw usage('--input cannot be used with ACCESSION');
  }
  if (input !== undefined) return;
  if (accession === undefined) {
    throw usage('download: ACCESSION is missing', 'name a filing and its files, or use --input FILE; see --help');
  }
  if (fileNames.length > 0 && nameFilter) {
    const hint = options.all ? 'omit --all or the file names' : QUOTE_PATTERN;
    throw usage('FILE cannot be used with --all, --include or --exclude', hint);
  }
  if (fileNames.length > 0 || nameFilter) return;
  throw usage(
    `${accession}: no files selected`,
    `name files, or add --all or --include GLOB; to see the names: filings list ${accession}`,
  );
}

/**
 * Throws `usage` if an option is used without the FILE or the `--input` that it requires, or if the path of an option
 * cannot be a file.
 */
function requireCompatibleOptions(args: DownloadArgs, platform: string): void {
  const { isSingleFile, output } = args;
  const { input, failed, done, sha256 } = args.options;
  const singleFileOption = output !== undefined ? '--output' : sha256 !== undefined ? '--sha256' : undefined;
  if (singleFileOption !== undefined && !isSingleFile) {
    const hint = 'download one file at a time, or several to a directory: --directory DIR';
    throw usage(`${singleFileOption} requires exactly one FILE`, hint);
  }
  if (done !== undefined && input === undefined) throw usage('--done requires --input');
  if (failed === '-') throw usage('--failed must be a file');
  if (done === '-') throw usage('--done must be a file');
  if (output === undefined || output === '-') return;
  if (withSlashes(output, platform).endsWith('/')) throw outputIsDirectory(output);
  // Only the last segment is checked, so the real working directory is not needed.
  const path = resolveTypedPath(output, { cwd: '/', platform });
  const name = pathModule(platform).basename(path);
  if (hasPartSuffix(name)) throw usage(`--output ${output}: the program uses this ending for its own temporary files`);
  // Windows opens a device for a name such as `con`, and a hidden stream of the file `a` for `a:b`.
  if (isNullDevice(path) || platform !== 'win32' || isDirectoryEntryName(name, platform)) return;
  throw usage(`--output ${output}: Windows does not allow the name '${name}' for a file`);
}

/** Throws `usage` if a file name is an accession number, or is refused as the name of a file on disk. */
function requireSafeNames({ accessions: [accession], fileNames, layout }: DownloadArgs): void {
  const filing = fileNames.find(asAccession);
  if (filing !== undefined) {
    const hint = 'for several filings, omit FILE and add --all or --include GLOB';
    throw usage(`FILE: ${filing} is an accession number`, hint);
  }
  if (accession === undefined) return;
  const check = new NameCheck(layout);
  for (const fileName of fileNames) {
    const item = check.check({ accession, fileName, size: undefined, filing: undefined });
    if (item.kind === 'refused') throw usage(`file name '${fileName}': ${item.error.reason}`, item.error.hint);
  }
}

export function outputIsDirectory(output: string): FilingsError {
  return usage('--output must be a file', `to write into this directory: --directory ${shellWord(output)}`);
}

function usage(message: string, hint?: string): FilingsError {
  return new FilingsError('usage', message, { hint });
}
