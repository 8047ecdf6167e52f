import { nameFilter } from '../../../batch/glob.ts';
import { defaultLayout, type Layout, parseLayout } from '../../../batch/layout.ts';
import type { AccessionNumber } from '../../../service/accession.ts';
import type { Parameter } from '../../../service/listing/pages.ts';
import { readQuery } from '../../../session/list-files.ts';
import type { Flags } from '../../../spec/invocation.ts';
import type { Values } from '../../../spec/option.ts';
import { requireOneUser } from '../../../stdio/input.ts';
import type { IfExists } from '../../../transfer/present.ts';
import type { World } from '../../../world.ts';
import type { OPTIONS } from '../spec.ts';
import { readNames, requireFileNames } from './meant.ts';
import { requireBatch, requireFiles, requireOneOutput, requireSafeNames } from './rules.ts';

type Options = Values<typeof OPTIONS>;

const STDOUT_NAMES = new Set(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

/** What the command line of `download` asks for. */
export interface Order {
  /** Of the arguments, each once: one where files are named; none where the input names them all. */
  readonly accessions: readonly AccessionNumber[];
  /** Named files of it, each once. */
  readonly fileNames: readonly string[];
  /** What of a listing is chosen; undefined where nothing says so. */
  readonly chosen: ((name: string) => boolean) | undefined;
  /** Further parameters of a listing's request. */
  readonly query: readonly Parameter[];
  /** Where lines come from; `-` is stdin. */
  readonly input: string | undefined;
  /** Of exactly one file; `-` is stdout. */
  readonly output: string | undefined;
  readonly directory: string;
  readonly layout: Layout;
  readonly ifExists: IfExists | undefined;
  /** Where report lines go; `-` is stdout. */
  readonly report: string | undefined;
  /** Exactly one named file: its own error is the error of the run. */
  readonly single: boolean;
  readonly options: Options;
}

/** Reads the arguments; no effect. Throws `usage`. */
export function readOrder(
  args: readonly string[],
  options: Options,
  flags: Flags,
  { argv }: Pick<World, 'argv'>,
): Order {
  const { all, include, exclude, input, output, layout, directory = '.' } = options;
  const choosing = all || include.length > 0 || exclude.length > 0;
  const filter = nameFilter(include, exclude);
  const { accessions, fileNames } = readNames(args, choosing, argv);
  const order: Order = {
    accessions,
    fileNames,
    chosen: choosing ? (all ? nameFilter([], exclude) : filter) : undefined,
    input,
    query: readQuery(options.query),
    output: asStream(output),
    directory,
    layout: layoutOf(layout, output, choosing || input !== undefined),
    ifExists: options.ifExists,
    report: asStream(options.report),
    single: input === undefined && fileNames.length === 1,
    options,
  };
  requireFiles(order, flags);
  requireBatch(order);
  if (order.output === undefined) {
    requireFileNames(order, argv);
    requireSafeNames(order);
  } else requireOneOutput(order.output);
  requireOneUser('stdout', [order.output === '-' && '--output -', order.report === '-' && '--report -']);
  return order;
}

/** Files of several filings go to a directory for each; with `--output` the name is only sent. Throws `usage`. */
function layoutOf(layout: string | undefined, output: string | undefined, several: boolean): Layout {
  if (output !== undefined) return { template: '', holdsAccession: false, place: (_, path) => ({ path }) };
  return layout === undefined ? defaultLayout(several) : parseLayout(layout);
}

/** Standard output by its other names is standard output. */
function asStream(path: string | undefined): string | undefined {
  return path !== undefined && STDOUT_NAMES.has(path) ? '-' : path;
}
