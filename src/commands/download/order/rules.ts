import { twins } from '../../../disk/file-name.ts';
import { FilingsError } from '../../../errors.ts';
import { hintCommand } from '../../../settings/hint-command.ts';
import type { Flags } from '../../../spec/invocation.ts';
import type { Order } from './order.ts';

/** There is something to fetch, and what is named is not chosen as well. Throws `usage`. */
export function requireFiles({ accessions, fileNames, chosen, input }: Order, flags: Flags): void {
  if (input !== undefined && accessions.length > 0) {
    throw new FilingsError('usage', '--input cannot be used with ACCESSION', {
      hint: 'put the filing into the input, or omit --input',
    });
  }
  if (input !== undefined) return;
  if (accessions.length === 0) {
    throw new FilingsError('usage', 'download: ACCESSION is missing', {
      hint: 'see filings download --help: name a filing and its files, or take them from a file with --input FILE',
    });
  }
  if (fileNames.length > 0 && chosen) {
    throw new FilingsError('usage', 'FILE cannot be used with --all, --include or --exclude', {
      hint: 'name the files, or choose them from the listing',
    });
  }
  if (fileNames.length > 0 || chosen) return;
  throw new FilingsError('usage', `${accessions[0]}: no files selected`, {
    hint: `name them, or add --all or --include GLOB; to see the names: ${hintCommand(`filings list ${accessions[0]}`, flags)}`,
  });
}

/** What goes with one file alone, and what with an input alone. Throws `usage`. */
export function requireBatch({ fileNames, input, single, options, output }: Order): void {
  const { sha256, spool, done } = options;
  const forOne = output !== undefined ? '--output' : sha256 !== undefined ? '--sha256' : undefined;
  if (forOne !== undefined && !single) {
    throw new FilingsError('usage', `${forOne} takes exactly one file: ${fileNames.length} are named`, {
      hint: 'download them one by one, or several into a directory: --directory DIR',
    });
  }
  if (spool && output !== '-') {
    throw new FilingsError('usage', '--spool: goes with --output -', { hint: 'a file is all or nothing without it' });
  }
  if (done !== undefined && input === undefined) {
    throw new FilingsError('usage', '--done: goes with --input', { hint: 'name a file of lines: --input FILE' });
  }
}

/** Names that may touch the disk where the layout puts them, and no two that may be one file. Throws `usage`. */
export function requireSafeNames({ accessions: [accession], fileNames, layout }: Order): void {
  if (accession === undefined) return;
  const same = twins(fileNames);
  for (const name of fileNames) {
    const { fault } = layout.place(accession, name);
    const twin = same.get(name);
    if (fault)
      throw new FilingsError('usage', `file name '${name}': ${fault.reason}`, fault.hint ? { hint: fault.hint } : {});
    if (twin === undefined) continue;
    throw new FilingsError('usage', `file names '${name}' and '${twin}': they may be one file on some disks`, {
      hint: 'download one of them under another name: -o PATH',
    });
  }
}

/** Throws `usage`. */
export function requireOneOutput(output: string): void {
  if (!output.endsWith('/')) return;
  throw new FilingsError('usage', '--output: must be a file, and is a directory', {
    hint: 'name a file, or - for stdout; to keep its own name, use --directory',
  });
}
