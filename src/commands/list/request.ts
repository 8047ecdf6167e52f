import { nameFilter } from '../../batch/glob.ts';
import { FilingsError } from '../../errors.ts';
import { type AccessionNumber, parseAccession } from '../../service/accession.ts';
import type { Parameter } from '../../service/listing/pages.ts';
import { pasted } from '../../service/pasted-url.ts';
import { readQuery } from '../../session/list-files.ts';
import { retyped } from '../../settings/hint-command.ts';
import type { Values } from '../../spec/option.ts';
import type { OPTIONS } from './spec.ts';

/** The arguments and options of `filings list`, read and checked. */
export interface ListRequest {
  readonly accessions: readonly AccessionNumber[];
  readonly input: string | undefined;
  /** More than one filing may be asked for: each line names its own, and one without a match is no failure. */
  readonly several: boolean;
  readonly chosen: (name: string) => boolean;
  readonly query: readonly Parameter[];
  readonly output: 'json' | 'long' | 'names';
  readonly nul: boolean;
}

/** Reads the arguments and options of `filings list`. Throws `usage`. */
export function readRequest(
  args: readonly string[],
  options: Values<typeof OPTIONS>,
  argv: readonly string[],
): ListRequest {
  const { input } = options;
  if (args.length === 0 && input === undefined) {
    throw new FilingsError('usage', 'list: no ACCESSION', {
      hint: 'name a filing: filings list 0001234567-24-000001; or take them from a file: --input FILE',
    });
  }
  return {
    accessions: args.map((text) => accessionOf(text, argv)),
    input,
    several: args.length > 1 || input !== undefined,
    chosen: nameFilter(options.include, options.exclude),
    query: readQuery(options.query),
    output: options.json ? 'json' : options.long ? 'long' : 'names',
    nul: options.null,
  };
}

/** @throws FilingsError `usage`, for a pasted URL with the command that was meant */
function accessionOf(text: string, argv: readonly string[]): AccessionNumber {
  const meant = pasted(text);
  if (meant === undefined) return parseAccession(text);
  throw new FilingsError('usage', 'ACCESSION is not an accession number', {
    hint: `name the filing: ${retyped(argv, new Map([[text, [meant.accession]]]))}`,
  });
}
