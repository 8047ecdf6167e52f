// A table is printed at the end, because the widths of its columns depend on all rows. What the service lists is data,
// so it is never redacted.
import type { FilingsError } from '../../errors.ts';
import { findMembers, type ListedFile, listedSize, noMatchError } from '../../service/listing.ts';
import type { Session } from '../../session/session.ts';
import type { Values } from '../../spec/option.ts';
import { terminalColumns, write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import { humanBytes } from '../../text.ts';
import type { World } from '../../world.ts';
import type { OPTIONS } from './spec.ts';

/** Best first. They are guesses: docs/service.md, section 2, does not show any. */
const TYPES = ['type', 'documenttype', 'form', 'formtype', 'contenttype', 'mimetype'];
const DESCRIPTIONS = ['description', 'documentdescription', 'primarydocdescription', 'title'];

/** `formatCell` returns '' if the file has nothing for the column. */
type Column = readonly [heading: string, formatCell: (file: ListedFile) => string];

const ACCESSION: Column = ['ACCESSION', (file) => file.accession_no];
const COLUMNS: readonly Column[] = [
  ['NAME', (file) => printable(file.file_name)],
  ['SIZE', formatSize],
  ['TYPE', (file) => formatFirst(TYPES, file, 30)],
  ['DESCRIPTION', (file) => formatFirst(DESCRIPTIONS, file, 300)],
];

/**
 * Call `print` for each filing, then `end`.
 *
 * @param isSingle if there is only one filing, rows have no accession number
 */
export function createListOutput(
  isSingle: boolean,
  isChosen: (name: string) => boolean,
  { json, long, null: nul }: Values<typeof OPTIONS>,
  { settings }: Session,
  world: World,
) {
  const { stdout, env, interrupt } = world;
  const isTable = long || (stdout.isTTY && !json && !nul);
  const tableFiles: ListedFile[] = [];

  const formatRecord = (file: ListedFile): string => {
    const terminator = nul ? '\0' : '\n';
    if (json) return printableJson(file) + terminator;
    // With `-0`, names are printed unchanged, but not on a terminal, which control characters could change. A reader
    // would take a NUL within a name for its end.
    const isExact = nul && !stdout.isTTY && !file.file_name.includes('\0');
    const name = isExact ? file.file_name : printable(file.file_name);
    return `${isSingle ? '' : `${file.accession_no}\t`}${name}${terminator}`;
  };

  return {
    async print(accession: string, files: readonly ListedFile[]): Promise<FilingsError | undefined> {
      const matches = files.filter((file) => isChosen(file.file_name));
      // `push(...matches)` overflows the stack for very many files.
      if (isTable) for (const file of matches) tableFiles.push(file);
      else await write(stdout, matches.map(formatRecord).join(''), interrupt);
      return matches.length === 0 ? noMatchError(accession, files.length) : undefined;
    },

    /** Leaves out columns that are empty in all rows. */
    async end(): Promise<void> {
      if (tableFiles.length === 0) return;
      const columns = [...(isSingle ? [] : [ACCESSION]), ...COLUMNS].filter(
        ([heading, formatCell]) => heading === 'NAME' || tableFiles.some((file) => formatCell(file) !== ''),
      );
      const headings = columns.map(([heading]) => heading);
      const rows = tableFiles.map((file) => columns.map(([, formatCell]) => formatCell(file)));
      // A name that is cut could not be copied and pasted, so there is no width if the last column is NAME.
      const canCut = stdout.isTTY && headings.at(-1) !== 'NAME';
      const width = canCut ? terminalColumns(stdout, env) : undefined;
      const { printTable } = await import('../../terminal/table.ts');
      const options = { color: settings.color, width, rightAlignedIndex: headings.indexOf('SIZE') };
      await printTable([headings, ...rows], options, world);
    },
  };
}

function formatSize(file: ListedFile): string {
  const size = listedSize(file);
  return size === undefined ? '' : humanBytes(size);
}

function formatFirst(names: readonly string[], file: ListedFile, length: number): string {
  const value = findMembers(file, names).find((text) => typeof text === 'string' && text !== '');
  return typeof value === 'string' ? printable(value, length) : '';
}
