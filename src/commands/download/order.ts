// Reads the arguments and options of `download` into an order before anything is opened. Takes them as they were
// parsed, returns the order, and throws `usage`, where possible with the command that was probably meant.
import { type Layout, parseLayout } from '../../batch/layout.ts';
import { NameCheck } from '../../batch/name-check.ts';
import { isOneFile } from '../../disk/file-name.ts';
import { hasPartSuffix } from '../../disk/part-name.ts';
import { FilingsError } from '../../errors.ts';
import { nameFilter } from '../../input/glob.ts';
import { isNullDevice, pathModule, resolveTypedPath, withSlashes } from '../../paths.ts';
import { type AccessionNumber, asAccession, parseAccession } from '../../service/accession.ts';
import type { Values } from '../../spec/option.ts';
import { isStdout } from '../../stdio/byte-writer.ts';
import { refuseSharedStream } from '../../stdio/input.ts';
import { shellWord } from '../../text.ts';
import type { World } from '../../world.ts';
import type { OPTIONS } from './spec.ts';

type Options = Values<typeof OPTIONS>;

export interface Order {
  /** Distinct accession numbers: one if files are named, none with `--input`. */
  readonly accessions: readonly AccessionNumber[];
  readonly fileNames: readonly string[];
  /** Whether a listed file is selected. Undefined without `--all`, `--include` and `--exclude`. */
  readonly isChosen: ((name: string) => boolean) | undefined;
  /** `-` for every name of stdout. */
  readonly output: string | undefined;
  readonly directory: string;
  readonly layout: Layout;
  /** `-` for every name of stdout. */
  readonly report: string | undefined;
  /** Exactly one file is named: its error is the error of the run. */
  readonly isSingleFile: boolean;
  readonly options: Options;
}

/** Returns the order. Throws `usage`. Has no effect, because an invalid command line must change nothing. */
export function readOrder(args: readonly string[], options: Options, { platform }: Pick<World, 'platform'>): Order {
  const { all, include, exclude, input, output, directory = '.' } = options;
  const hasSelection = all || include.length > 0 || exclude.length > 0;
  const isBatch = hasSelection || input !== undefined;
  const { layout = isBatch ? '{accession_no}/{file_name}' : '{file_name}' } = options;
  const filter = nameFilter(include, exclude);
  if (all && include.length > 0) {
    throw usage('--all cannot be used with --include', 'omit --all to download only the files that match');
  }
  const { accessions, fileNames } = readNames(args, hasSelection);
  const order: Order = {
    accessions,
    fileNames,
    isChosen: hasSelection ? filter : undefined,
    output: asStream(output),
    directory,
    // With --output no name becomes a path.
    layout: output === undefined ? parseLayout(layout, platform) : { template: '', pathFor: (_, path) => ({ path }) },
    report: asStream(options.report),
    isSingleFile: input === undefined && fileNames.length === 1,
    options,
  };
  requireFiles(order);
  requireCompatibleOptions(order, platform);
  if (output === undefined) requireSafeNames(order);
  refuseSharedStream('stdout', [
    order.output === '-' && '--output -',
    order.report === '-' ? '--report -' : options.dryRun && '--dry-run',
  ]);
  return order;
}

/**
 * Returns the filings if their files are selected from the listings, otherwise a filing and its files. Throws `usage`.
 */
function readNames(
  [first, ...names]: readonly string[],
  hasSelection: boolean,
): Pick<Order, 'accessions' | 'fileNames'> {
  if (first === undefined) return { accessions: [], fileNames: [] };
  const accession = parseAccession(first);
  const others = names.flatMap((name) => asAccession(name) ?? []);
  if (hasSelection && others.length === names.length) {
    return { accessions: [...new Set([accession, ...others])], fileNames: [] };
  }
  return { accessions: [accession], fileNames: [...new Set(names)] };
}

/** Returns `-` if the path is that of stdout, such as `/dev/stdout`. */
function asStream(path: string | undefined): string | undefined {
  return path !== undefined && isStdout(path) ? '-' : path;
}

/** Throws `usage` unless the order has files, either by name or by selection. */
function requireFiles({ accessions: [accession], fileNames, isChosen, options }: Order): void {
  const { input } = options;
  if (input !== undefined && accession !== undefined) {
    throw usage('--input cannot be used with ACCESSION');
  }
  if (input !== undefined) return;
  if (accession === undefined) {
    throw usage('download: ACCESSION is missing', 'name a filing and its files, or use --input FILE; see --help');
  }
  if (fileNames.length > 0 && isChosen) {
    const hint = options.all
      ? 'omit the names, or --all'
      : "quote the pattern, or the shell replaces it by names that match: --include 'ex*'";
    throw usage('FILE cannot be used with --all, --include or --exclude', hint);
  }
  if (fileNames.length > 0 || isChosen) return;
  throw usage(
    `${accession}: no files selected`,
    `name them, or add --all or --include GLOB; to see the names: filings list ${accession}`,
  );
}

/** Throws `usage` if an option requires exactly one file or `--input`, or if `--output` cannot be a file. */
function requireCompatibleOptions(order: Order, platform: string): void {
  const { fileNames, isSingleFile, output } = order;
  const { input, failed, done, sha256 } = order.options;
  const forOne = output !== undefined ? '--output' : sha256 !== undefined ? '--sha256' : undefined;
  if (forOne !== undefined && !isSingleFile) {
    const message = `${forOne} takes exactly one file: ${fileNames.length} are named`;
    throw usage(message, 'download them one by one, or several into a directory: --directory DIR');
  }
  if (done !== undefined && input === undefined) throw usage('--done requires --input');
  if (failed === '-') throw usage('--failed must be a file');
  if (done === '-') throw usage('--done must be a file');
  if (output === undefined || output === '-') return;
  if (withSlashes(output, platform).endsWith('/')) throw outputIsDirectory(output);
  const path = resolveTypedPath(output, { cwd: '/', platform });
  const name = pathModule(platform).basename(path);
  if (hasPartSuffix(name)) throw usage(`--output ${output}: only the program's own temporary files are called so`);
  if (isNullDevice(path) || platform !== 'win32' || isOneFile(name, platform)) return;
  throw usage(`--output ${output}: Windows does not allow the name '${name}' for a file`);
}

/** Throws `usage` if a name is an accession number, or is refused for its path. */
function requireSafeNames({ accessions: [accession], fileNames, layout }: Order): void {
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

/** Returns the error for an `--output` that is a directory. */
export function outputIsDirectory(output: string): FilingsError {
  return usage('--output must be a file', `to write into this directory: --directory ${shellWord(output)}`);
}

function usage(message: string, hint?: string): FilingsError {
  return new FilingsError('usage', message, { hint });
}
