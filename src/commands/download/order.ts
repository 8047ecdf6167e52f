import { fileNameFault, twins } from '../../disk/file-name.ts';
import { FilingsError } from '../../errors.ts';
import { type AccessionNumber, parseAccession } from '../../service/accession.ts';
import type { Values } from '../../spec/option.ts';
import { requireOneUser } from '../../stdio/one-user.ts';
import type { IfExists } from '../../transfer/present.ts';
import type { OPTIONS } from './spec.ts';

const STDOUT_NAMES = new Set(['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

/** What the command line of `download` asks for. */
export interface Order {
  readonly accession: AccessionNumber;
  /** At least one, each once. */
  readonly fileNames: readonly string[];
  /** Of exactly one file; `-` is stdout. */
  readonly output: string | undefined;
  readonly directory: string;
  readonly ifExists: IfExists | undefined;
  readonly sha256: string | undefined;
  readonly spool: boolean;
  /** Where report lines go; `-` is stdout. */
  readonly report: string | undefined;
}

/** Reads the arguments; no effect. Throws `usage`. */
export function readOrder([accession = '', ...names]: readonly string[], options: Values<typeof OPTIONS>): Order {
  const { output, directory = '.', report, ...others } = options;
  const order: Order = {
    ...others,
    accession: parseAccession(accession),
    fileNames: [...new Set(names)],
    output: asStream(output),
    directory,
    report: asStream(report),
  };
  requireFiles(order);
  if (order.directory === '')
    throw new FilingsError('usage', '--directory: must be a directory, and is empty', { hint: 'for this one, say .' });
  if (order.output === undefined) requireSafeNames(order.fileNames);
  else requireOneOutput(order.output);
  requireOneUser('stdout', [order.output === '-' && '--output -', order.report === '-' && '--report -']);
  return order;
}

/** Standard output by its other names is standard output. */
function asStream(path: string | undefined): string | undefined {
  return path !== undefined && STDOUT_NAMES.has(path) ? '-' : path;
}

function requireFiles({ accession, fileNames, output, sha256, spool }: Order): void {
  if (fileNames.length === 0) {
    throw new FilingsError('usage', 'download: no file is named', {
      hint: `see what there is with: filings list ${accession}`,
    });
  }
  const single = output !== undefined ? '--output' : sha256 !== undefined ? '--sha256' : undefined;
  if (single !== undefined && fileNames.length > 1) {
    throw new FilingsError('usage', `${single} takes exactly one file: ${fileNames.length} are named`, {
      hint: 'download them one by one, or several into a directory: --directory DIR',
    });
  }
  if (spool && output !== '-') {
    throw new FilingsError('usage', '--spool: goes with --output -', { hint: 'a file is all or nothing without it' });
  }
}

function requireSafeNames(names: readonly string[]): void {
  const same = twins(names);
  for (const name of names) {
    const fault = fileNameFault(name);
    const twin = same.get(name);
    if (fault)
      throw new FilingsError('usage', `file name '${name}': ${fault.reason}`, fault.hint ? { hint: fault.hint } : {});
    if (twin === undefined) continue;
    throw new FilingsError('usage', `file names '${name}' and '${twin}': they may be one file on some disks`, {
      hint: 'download one of them under another name: -o PATH',
    });
  }
}

function requireOneOutput(output: string): void {
  if (output === '' || output.endsWith('/')) {
    const what = output === '' ? 'empty' : 'a directory';
    throw new FilingsError('usage', `--output: must be a file, and is ${what}`, {
      hint: 'name a file, or - for stdout; to keep its own name, use --directory',
    });
  }
}
