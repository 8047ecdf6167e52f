// Checks the arguments and options of `download` before anything is opened or requested, because an invalid command
// line must have no effect. Where possible, the hint of a usage error shows the command that was probably meant.
import { type Layout, parseLayout } from '../../batch/layout.ts';
import { createNameCheck } from '../../batch/name-check.ts';
import { isDirectoryEntryName } from '../../disk/file-name.ts';
import { hasPartSuffix } from '../../disk/part-name.ts';
import { FilingsError } from '../../errors.ts';
import { compileNameFilter, QUOTE_PATTERN_HINT } from '../../input/glob.ts';
import { isNullDevice, pathModule, resolveUserPath } from '../../paths.ts';
import { type AccessionNumber, asAccession, parseAccession } from '../../service/accession.ts';
import type { Values } from '../../spec/option.ts';
import { refuseSharedStream } from '../../stdio/input.ts';
import { findDescriptor } from '../../stdio/output-path.ts';
import type { World } from '../../world.ts';
import type { OPTIONS } from './spec.ts';

type RawOptions = Values<typeof OPTIONS>;

/** `output` and `report` are `-` for stdout, even if the option was `/dev/stdout`. */
type Options = RawOptions & { readonly directory: string };

export interface DownloadArgs {
  /** Without duplicates. Exactly one if files are named, none with `--input`. */
  readonly accessions: readonly AccessionNumber[];
  /** Without duplicates. */
  readonly fileNames: readonly string[];
  /** Undefined without `--all`, `--include` and `--exclude`. */
  readonly nameFilter: ((name: string) => boolean) | undefined;
  readonly layout: Layout;
  /** The directory of all files: that of `--directory`, or the one with the file of `--output`. Absolute. */
  readonly root: string;
  /** The absolute paths of the files that options name. Undefined without the option, and for `-`. */
  readonly paths: Readonly<Record<'input' | 'output' | 'report' | 'failed' | 'done', string | undefined>>;
  /** Exactly one FILE argument. */
  readonly isSingleFile: boolean;
  readonly options: Options;
}

/** For --output. The file name is only sent to the service, so it may be anything. The path is never opened. */
const OUTPUT_LAYOUT: Layout = {
  template: '',
  pathFor: (_, path) => ({ path }),
  directoryFor: () => '.',
  hasOwnDirectories: false,
};

export function parseArguments(
  rawArgs: readonly string[],
  raw: RawOptions,
  world: Pick<World, 'cwd' | 'platform' | 'env'>,
): DownloadArgs {
  const { platform } = world;
  const [output, report] = [normalizeStdout(raw.output), normalizeStdout(raw.report)];
  const options = { ...raw, output, report, directory: raw.directory ?? '.' };
  const { all, include, exclude, input, failed, done } = options;
  const hasSelection = all || include.length > 0 || exclude.length > 0;
  const mayHaveSeveralFilings = hasSelection || input !== undefined;
  // Files of different filings may have the same name.
  const { layout = mayHaveSeveralFilings ? '{accession_no}/{file_name}' : '{file_name}' } = options;
  const filter = compileNameFilter(include, exclude);
  if (all && include.length > 0) {
    throw argumentError('--all cannot be used with --include', 'omit --all to download only the files that match');
  }
  const { accessions, fileNames } = parseNames(rawArgs, hasSelection);
  const absolute = (path: string | undefined) =>
    path === undefined || path === '-' ? undefined : resolveUserPath(path, world);
  const outputPath = absolute(output);
  const args: DownloadArgs = {
    accessions,
    fileNames,
    nameFilter: hasSelection ? filter : undefined,
    layout: output === undefined ? parseLayout(layout, platform) : OUTPUT_LAYOUT,
    root:
      outputPath === undefined ? resolveUserPath(options.directory, world) : pathModule(platform).dirname(outputPath),
    paths: {
      input: absolute(input),
      output: outputPath,
      report: absolute(report),
      failed: absolute(failed),
      done: absolute(done),
    },
    isSingleFile: input === undefined && fileNames.length === 1,
    options,
  };
  requireFiles(args);
  requireCompatibleOptions(args, platform);
  refuseSharedStream('stdout', [
    output === '-' && '--output -',
    // With `--report -`, a dry run prints only the report.
    report === '-' ? '--report -' : options.dryRun && '--dry-run',
  ]);
  return args;
}

/**
 * Parses `ACCESSION...` if an option selects files, otherwise `ACCESSION FILE...`. If an option selects files, but an
 * argument is not an accession number, `requireFiles` refuses the file names with a hint.
 */
function parseNames(
  [first, ...names]: readonly string[],
  hasSelection: boolean,
): Pick<DownloadArgs, 'accessions' | 'fileNames'> {
  if (first === undefined) return { accessions: [], fileNames: [] };
  const accession = parseAccession(first, names);
  const others = names.flatMap((name) => asAccession(name) ?? []);
  if (hasSelection && others.length === names.length) {
    return { accessions: [...new Set([accession, ...others])], fileNames: [] };
  }
  return { accessions: [accession], fileNames: [...new Set(names)] };
}

function normalizeStdout(path: string | undefined): string | undefined {
  return path !== undefined && findDescriptor(path) === 1 ? '-' : path;
}

/** Throws `usage` unless the arguments or `--input` say which files to download. */
function requireFiles({ accessions: [accession], fileNames, nameFilter, options }: DownloadArgs): void {
  const { input } = options;
  if (input !== undefined && accession !== undefined) {
    throw argumentError('--input cannot be used with ACCESSION');
  }
  if (input !== undefined) return;
  if (accession === undefined) {
    throw argumentError(
      'download: ACCESSION is missing',
      'name a filing and its files, or use --input FILE; see --help',
    );
  }
  if (fileNames.length > 0 && nameFilter) {
    // Without --all, the file names are probably what the shell made of a pattern without quotes.
    const hint = options.all ? 'omit --all or the file names' : QUOTE_PATTERN_HINT;
    throw argumentError('FILE cannot be used with --all, --include or --exclude', hint);
  }
  if (fileNames.length > 0 || nameFilter) return;
  throw argumentError(
    `${accession}: no files selected`,
    `name files, or add --all or --include GLOB; to see the names: filings list ${accession}`,
  );
}

function requireCompatibleOptions({ isSingleFile, options, paths }: DownloadArgs, platform: string): void {
  const { input, output, done, sha256 } = options;
  const singleFileOption = output !== undefined ? '--output' : sha256 !== undefined ? '--sha256' : undefined;
  if (singleFileOption !== undefined && !isSingleFile) {
    const hint = 'download one file at a time, or several to a directory: --directory DIR';
    throw argumentError(`${singleFileOption} requires exactly one FILE`, hint);
  }
  if (done !== undefined && input === undefined) throw argumentError('--done requires --input');
  if (paths.output === undefined) return;
  const name = pathModule(platform).basename(paths.output);
  if (hasPartSuffix(name))
    throw argumentError(`--output ${output}: the program uses this ending for its own temporary files`);
  // Windows opens a device for a name such as `con`, and a hidden stream of the file `a` for `a:b`. Both are refused,
  // except for the null device.
  if (isNullDevice(paths.output) || platform !== 'win32' || isDirectoryEntryName(name, platform)) return;
  throw argumentError(`--output ${output}: Windows does not allow the name '${name}' for a file`);
}

/** With `--output`, the names are only sent to the service, so they may be anything. */
export function requireSafeNames(
  { accessions: [accession], fileNames, layout, options }: DownloadArgs,
  protectedPaths: ReadonlyMap<string, string>,
): void {
  if (options.output !== undefined) return;
  // An accession number as FILE probably means another filing. A file that really has such a name can be downloaded
  // with --output.
  const otherAccession = fileNames.find(asAccession);
  if (otherAccession !== undefined) {
    const hint = 'for several filings, omit FILE and add --all or --include GLOB';
    throw argumentError(`FILE: ${otherAccession} is an accession number`, hint);
  }
  // The names in an --input are checked when they are read.
  if (accession === undefined) return;
  // The download will run the same check. This one refuses the whole command line before any file is written.
  const checkName = createNameCheck(layout, protectedPaths);
  for (const fileName of fileNames) {
    const item = checkName({ accession, fileName, size: undefined, filing: undefined });
    if (item.kind === 'refused') throw argumentError(`file name '${fileName}': ${item.error.reason}`, item.error.hint);
  }
}

function argumentError(message: string, hint?: string): FilingsError {
  return new FilingsError('usage', message, { hint });
}
