import { FilingsError } from '../../../errors.ts';
import { type AccessionNumber, accessionIn, parseAccession, pasted } from '../../../service/accession.ts';
import { retyped } from '../../../settings/hint-command.ts';

/** What the arguments name; each once. */
interface Named {
  readonly accessions: readonly AccessionNumber[];
  readonly fileNames: readonly string[];
}

/**
 * Reads the arguments: filings alone where their files are chosen from the listings, otherwise a filing and its files.
 * @throws FilingsError `usage`, with the command that was meant where the arguments leave no doubt
 */
export function readNames(args: readonly string[], choosing: boolean, argv: readonly string[]): Named {
  const [first, ...names] = args;
  if (first === undefined) return { accessions: [], fileNames: [] };
  const accession = accessionOf(first, names, choosing, argv);
  const others = names.flatMap((name) => accessionIn(name) ?? []);
  if (choosing && others.length === names.length) {
    return { accessions: [...new Set([accession, ...others])], fileNames: [] };
  }
  return { accessions: [accession], fileNames: [...new Set(names)] };
}

function accessionOf(
  first: string,
  names: readonly string[],
  choosing: boolean,
  argv: readonly string[],
): AccessionNumber {
  try {
    return parseAccession(first);
  } catch (error) {
    const meant = meantBy(first, names, choosing);
    if (!(error instanceof FilingsError) || meant === undefined) throw error;
    throw error.reworded(error.message, { hint: `did you mean: ${retyped(argv, meant)}` });
  }
}

/** What to write in the place of which words: for an archive's URL, `ACCESSION/FILE`, or a filing behind its files. */
function meantBy(
  first: string,
  names: readonly string[],
  choosing: boolean,
): ReadonlyMap<string, readonly string[]> | undefined {
  const found = pasted(first);
  if (found !== undefined) {
    const file = choosing || names.length > 0 ? [] : [found.fileName ?? '--all'];
    return new Map([[first, [found.accession, ...file]]]);
  }
  const [accession, ...others] = names.filter((name) => accessionIn(name));
  if (accession === undefined || others.length > 0) return undefined;
  return new Map([
    [first, [accession, first]],
    [accession, []],
  ]);
}

/** A file is named by its name, not by its address, and is no filing. Throws `usage`. */
export function requireFileNames({ accessions, fileNames }: Named, argv: readonly string[]): void {
  for (const name of fileNames) {
    if (accessionIn(name)) {
      throw new FilingsError('usage', `FILE: ${name} is an accession number`, {
        hint: `to download all files of both: ${retyped([...argv, '--all'], new Map())}`,
      });
    }
    const found = pasted(name);
    if (found?.fileName === undefined || found.accession !== accessions[0]) continue;
    throw new FilingsError('usage', 'FILE is not a file name', {
      hint: `did you mean: ${retyped(argv, new Map([[name, [found.fileName]]]))}`,
    });
  }
}
