// Prints the files of listings: names, JSON Lines or a table. Takes the files filing by filing, and writes them at once
// except in a table, whose columns depend on all rows. Listings are data: they are printed exactly, and never redacted.
import { type FilingsError, messageOf } from '../../errors.ts';
import { noMatchError } from '../../input/glob.ts';
import { type ListedFile, listedSize } from '../../service/listing.ts';
import type { Session } from '../../session/session.ts';
import type { Values } from '../../spec/option.ts';
import { columnsOf, write } from '../../stdio/output.ts';
import { colors, usesColor } from '../../terminal/messages.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import { humanBytes } from '../../text.ts';
import type { World } from '../../world.ts';
import type { OPTIONS } from './spec.ts';

/** Members in which services state the type of a file, in order of preference. */
const TYPES = ['type', 'document_type', 'documentType', 'form', 'form_type', 'content_type', 'mime_type'];
const DESCRIPTIONS = ['description', 'document_description', 'primary_doc_description', 'title'];

type Cell = (file: ListedFile) => string;

const ACCESSION: readonly [heading: string, cell: Cell] = ['ACCESSION', (file) => file.accession_no];
const COLUMNS: readonly (readonly [heading: string, cell: Cell])[] = [
  ['NAME', (file) => printable(file.file_name)],
  ['SIZE', sizeCell],
  ['TYPE', (file) => textCell(file, TYPES, 30)],
  ['DESCRIPTION', (file) => textCell(file, DESCRIPTIONS, 300)],
];

/**
 * Returns the output of the command. Call `print` for each filing, then `end`.
 * @param isSingle false if each line begins with its accession number, and a filing without a match is no failure
 */
export function createListOutput(
  isSingle: boolean,
  isChosen: (name: string) => boolean,
  { json, long, null: nul }: Values<typeof OPTIONS>,
  { settings, signal, progress }: Session,
  { stdout, env }: World,
) {
  const isTable = long || (stdout.isTTY && !json && !nul);
  const tableFiles: ListedFile[] = [];

  const recordOf = (file: ListedFile): string => {
    const end = nul ? '\0' : '\n';
    if (json) return printableJson(file) + end;
    // A program that splits at NUL would split a name that contains NUL.
    const isExact = nul && !stdout.isTTY && !file.file_name.includes('\0');
    const name = isExact ? file.file_name : printable(file.file_name);
    return `${isSingle ? '' : `${file.accession_no}\t`}${name}${end}`;
  };

  return {
    /** Prints the matching files of a filing. Returns the error of the filing if there are none. */
    async print(accession: string, files: readonly ListedFile[]): Promise<FilingsError | undefined> {
      const matches = files.filter((file) => isChosen(file.file_name));
      if (matches.length === 0) {
        const error = noMatchError(accession, files.length);
        if (isSingle) return error;
        progress.note(messageOf(error));
      }
      if (isTable) for (const file of matches) tableFiles.push(file);
      else await write(stdout, matches.map(recordOf).join(''), signal);
      return undefined;
    },

    /** Prints the table. */
    async end(): Promise<void> {
      if (tableFiles.length === 0) return;
      const columns = [...(isSingle ? [] : [ACCESSION]), ...COLUMNS].filter(
        ([heading, cell]) => heading === 'NAME' || tableFiles.some((file) => cell(file) !== ''),
      );
      const headings = columns.map(([heading]) => heading);
      const rows = tableFiles.map((file) => columns.map(([, cell]) => cell(file)));
      // The last column is cut, but a name never is.
      const canCut = stdout.isTTY && headings.at(-1) !== 'NAME';
      const width = canCut ? columnsOf(stdout, env) : undefined;
      const { table } = await import('../../terminal/table.ts');
      const [head = '', ...lines] = table([headings, ...rows], { width, numbers: headings.indexOf('SIZE') });
      const { faint } = colors(usesColor(settings.color, stdout, env.TERM));
      await write(stdout, `${[faint(head), ...lines].join('\n')}\n`, signal);
    },
  };
}

function sizeCell(file: ListedFile): string {
  const size = listedSize(file);
  return size === undefined ? '' : humanBytes(size);
}

function textCell(file: ListedFile, members: readonly string[], length: number): string {
  const value = members.map((member) => file[member]).find((text) => typeof text === 'string' && text !== '');
  return typeof value === 'string' ? printable(value, length) : '';
}
