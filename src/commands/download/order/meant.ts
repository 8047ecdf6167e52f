import { FilingsError } from '../../../errors.ts';
import { type AccessionNumber, isAccession, parseAccession } from '../../../service/accession.ts';
import { pastedUrl } from '../../../service/pasted-url.ts';
import { retyped } from '../../../settings/hint-command.ts';
import type { Options, Order } from './order.ts';

/**
 * The accession number that the arguments begin with.
 * @throws FilingsError `usage`, with the command that was meant where the arguments leave no doubt
 */
export function accessionOf(args: readonly string[], options: Options, argv: readonly string[]): AccessionNumber {
  const [first = '', ...names] = args;
  try {
    return parseAccession(first);
  } catch (error) {
    const meant = swapped(first, names) ?? unpasted(first, names, options);
    if (!(error instanceof FilingsError) || meant === undefined) throw error;
    throw error.reworded(error.message, { hint: `${meant.why}: ${retyped(argv, meant.replaced)}` });
  }
}

interface Meant {
  readonly why: string;
  readonly replaced: ReadonlyMap<string, readonly string[]>;
}

/** One accession number stands behind the names. */
function swapped(first: string, names: readonly string[]): Meant | undefined {
  const [accession, ...others] = names.filter(isAccession);
  if (accession === undefined || others.length > 0 || pastedUrl(first) !== undefined) return undefined;
  return {
    why: 'the accession number comes first',
    replaced: new Map([
      [first, [accession, first]],
      [accession, []],
    ]),
  };
}

/** A page of an archive, named by its address. */
function unpasted(first: string, names: readonly string[], options: Options): Meant | undefined {
  const url = pastedUrl(first);
  if (url === undefined) return undefined;
  const isChosen = names.length > 0 || options.all || options.include.length > 0 || options.exclude.length > 0;
  const file = isChosen ? [] : url.fileName === undefined ? ['--all'] : [url.fileName];
  return { why: 'a filing is named by its accession number', replaced: new Map([[first, [url.accession, ...file]]]) };
}

/** A file is named by its name, not by its address. Throws `usage`. */
export function requireNoUrls({ accession, fileNames }: Order, argv: readonly string[]): void {
  for (const name of fileNames) {
    const url = pastedUrl(name);
    if (url?.fileName === undefined || url.accession !== accession) continue;
    throw new FilingsError('usage', 'FILE: it is a URL, and no name of a file', {
      hint: `the file has its own name: ${retyped(argv, new Map([[name, [url.fileName]]]))}`,
    });
  }
}
