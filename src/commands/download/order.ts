import { nameFilter } from '../../batch/glob.ts';
import { defaultLayout, type Layout, parseLayout } from '../../batch/layout.ts';
import { isOneFile, twinKey } from '../../disk/file-name.ts';
import { FilingsError } from '../../errors.ts';
import { isNullDevice, pathsOf, typedPath, withSlashes } from '../../paths.ts';
import { type AccessionNumber, accessionIn, parseAccession, pasted } from '../../service/accession.ts';
import type { Parameter } from '../../service/listing-pages.ts';
import { hintCommand, retyped } from '../../settings/hint-command.ts';
import type { Flags } from '../../spec/command.ts';
import type { Values } from '../../spec/option.ts';
import { descriptorAt } from '../../stdio/byte-writer.ts';
import { requireOneUser } from '../../stdio/input.ts';
import { shellWord, shortened } from '../../text.ts';
import type { World } from '../../world.ts';
import type { OPTIONS } from './spec.ts';

type Options = Values<typeof OPTIONS>;

export interface Order {
  /** Each once. One where files are named; none where the input names them all. */
  readonly accessions: readonly AccessionNumber[];
  readonly fileNames: readonly string[];
  /** What of a listing is chosen; undefined where nothing says so. */
  readonly chosen: ((name: string) => boolean) | undefined;
  readonly query: readonly Parameter[];
  readonly input: string | undefined;
  readonly output: string | undefined;
  readonly directory: string;
  readonly layout: Layout;
  readonly report: string | undefined;
  /** Exactly one named file: its own error is the error of the run. */
  readonly single: boolean;
  readonly options: Options;
}

/** No effect. Throws `usage`. */
export function readOrder(
  args: readonly string[],
  options: Options,
  flags: Flags,
  { argv, platform }: Pick<World, 'argv' | 'platform'>,
): Order {
  const { all, include, exclude, input, output, layout, directory = '.' } = options;
  const choosing = all || include.length > 0 || exclude.length > 0;
  const filter = nameFilter(include, exclude);
  if (all && include.length > 0) {
    throw usage('--all cannot be used with --include', 'omit --all to download only the files that match');
  }
  const { accessions, fileNames } = readNames(args, choosing, argv);
  const order: Order = {
    accessions,
    fileNames,
    chosen: choosing ? filter : undefined,
    input,
    query: options.query,
    output: asStream(output),
    directory,
    layout: layoutOf(layout, output, choosing || input !== undefined, platform),
    report: asStream(options.report),
    single: input === undefined && fileNames.length === 1,
    options,
  };
  requireFiles(order, flags);
  requireFitting(order, platform);
  if (output === undefined) requireSafeNames(order, argv);
  requireOneUser('stdout', [order.output === '-' && '--output -', order.report === '-' && '--report -']);
  return order;
}

/**
 * Filings alone where their files are chosen from the listings, otherwise a filing and its files. For an archive's URL
 * and for `ACCESSION/FILE` the error has the command that was meant.
 */
function readNames(
  [first, ...names]: readonly string[],
  choosing: boolean,
  argv: readonly string[],
): Pick<Order, 'accessions' | 'fileNames'> {
  if (first === undefined) return { accessions: [], fileNames: [] };
  const words = [first, ...names];
  const typed = words.find((word) => pasted(word) !== undefined);
  if (typed !== undefined) {
    const wanted = typed === first || choosing ? 'an accession number' : 'a file name';
    throw usage(`'${shortened(typed, 60)}' is not ${wanted}`, commandForPasted(words, choosing, argv));
  }
  const accession = parseAccession(first);
  const others = names.flatMap((name) => accessionIn(name) ?? []);
  if (choosing && others.length === names.length) {
    return { accessions: [...new Set([accession, ...others])], fileNames: [] };
  }
  return { accessions: [accession], fileNames: [...new Set(names)] };
}

/** Files of several filings go to a directory for each; with `--output` the name is only sent. */
function layoutOf(layout: string | undefined, output: string | undefined, several: boolean, platform: string): Layout {
  if (output !== undefined) return { template: '', place: (_, path) => ({ path }) };
  return layout === undefined ? defaultLayout(several, platform) : parseLayout(layout, platform);
}

function asStream(path: string | undefined): string | undefined {
  return path !== undefined && descriptorAt(path) === 1 ? '-' : path;
}

/** There is something to download, and what is named is not chosen as well. */
function requireFiles({ accessions: [accession], fileNames, chosen, input }: Order, flags: Flags): void {
  if (input !== undefined && accession !== undefined) {
    throw usage('--input cannot be used with ACCESSION');
  }
  if (input !== undefined) return;
  if (accession === undefined) {
    throw usage('download: ACCESSION is missing', 'name a filing and its files, or use --input FILE; see --help');
  }
  if (fileNames.length > 0 && chosen) {
    throw usage('FILE cannot be used with --all, --include or --exclude');
  }
  if (fileNames.length > 0 || chosen) return;
  const list = hintCommand(`filings list ${accession}`, flags);
  throw usage(
    `${accession}: no files selected`,
    `name them, or add --all or --include GLOB; to see the names: ${list}`,
  );
}

/** What goes with one file alone, and what with an input alone. */
function requireFitting({ fileNames, input, single, options, output }: Order, platform: string): void {
  const { sha256, spool, done } = options;
  const forOne = output !== undefined ? '--output' : sha256 !== undefined ? '--sha256' : undefined;
  if (forOne !== undefined && !single) {
    const message = `${forOne} takes exactly one file: ${fileNames.length} are named`;
    throw usage(message, 'download them one by one, or several into a directory: --directory DIR');
  }
  if (spool && output !== '-') throw usage('--spool requires --output -');
  if (done !== undefined && input === undefined) throw usage('--done requires --input');
  if (output === undefined || output === '-') return;
  if (withSlashes(output, platform).endsWith('/')) throw outputIsDirectory(output);
  const path = typedPath(output, { cwd: '/', platform });
  const name = pathsOf(platform).basename(path);
  if (isNullDevice(path) || platform !== 'win32' || isOneFile(name, platform)) return;
  throw usage(`--output ${output}: Windows does not allow the name '${name}' for a file`);
}

/**
 * Throws `usage` if a name is an accession number, if a name may not touch the disk where the layout puts it, or if two
 * names may be one file.
 */
function requireSafeNames({ accessions, fileNames, layout }: Order, argv: readonly string[]): void {
  const spelled = new Map<string, string>();
  const filing = fileNames.find(accessionIn);
  if (filing !== undefined) {
    const message = `FILE: ${filing} is an accession number`;
    throw usage(
      message,
      commandForFilings(
        fileNames.filter((name) => !accessionIn(name)),
        argv,
      ),
    );
  }
  for (const name of fileNames) {
    const { fault } = layout.place(accessions.join(), name);
    if (fault) throw usage(`file name '${name}': ${fault.reason}`, fault.hint);
    const twin = spelled.get(twinKey(name)) ?? name;
    if (twin !== name) {
      const message = `file names '${twin}' and '${name}': they may be one file on some disks`;
      throw usage(message, 'download one of them under another name: -o PATH');
    }
    spelled.set(twinKey(name), name);
  }
}

const SEVERAL_FILINGS = 'for several filings, omit FILE and add --all or --include GLOB';

/** The hint for URLs and `ACCESSION/FILE`: the command with accession numbers and file names in their place. */
function commandForPasted(words: readonly string[], choosing: boolean, argv: readonly string[]): string {
  const found = words.map((word) => pasted(word));
  const filings = new Set(words.flatMap((word, index) => found[index]?.accession ?? accessionIn(word) ?? []));
  if (filings.size > 1 && !choosing) return SEVERAL_FILINGS;
  const isAll = found.every((one) => one?.fileName !== undefined);
  const replaced = words.flatMap((word, index): [string, string[]][] => {
    const { accession = '', fileName } = found[index] ?? {};
    if (accession === '') return [];
    if (choosing) return [[word, [accession]]];
    if (index > 0) return [[word, [fileName ?? '--all']]];
    // The page of one file beside names of others stands for the filing alone.
    return [[word, words.length === 1 || isAll ? [accession, fileName ?? '--all'] : [accession]]];
  });
  return `did you mean: ${retyped(argv, new Map(replaced))}`;
}

/** The hint for several filings in the place of one: with all their files, or with the files that are named. */
function commandForFilings(files: readonly string[], argv: readonly string[]): string {
  // An option after `--` is an argument, and a word that stands twice may also be the value of an option.
  const isAmbiguous = files.some((name) => argv.indexOf(name) !== argv.lastIndexOf(name));
  if (isAmbiguous || argv.includes('--')) return SEVERAL_FILINGS;
  if (files.length === 0) return `to download all files of these filings: ${retyped([...argv, '--all'], new Map())}`;
  // A backslash makes a glob take the next character literally.
  const globs = files.flatMap((name) => ['--include', name.replace(/[\\*?[{]/g, '\\$&')]);
  const meant = retyped(argv, new Map(files.map((name) => [name, []])), globs);
  return `to download these files of each filing: ${meant}`;
}

export function outputIsDirectory(output: string): FilingsError {
  return usage('--output must be a file', `to write into this directory: --directory ${shellWord(output)}`);
}

function usage(message: string, hint?: string): FilingsError {
  return new FilingsError('usage', message, { hint });
}
