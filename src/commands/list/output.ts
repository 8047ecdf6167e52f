import { noMatch } from '../../batch/glob.ts';
import type { FilingsError } from '../../errors.ts';
import { type ListedFile, listedSize } from '../../service/listing.ts';
import type { Session } from '../../session/session.ts';
import { columnsOf, write } from '../../stdio/output.ts';
import { colors, usesColor } from '../../terminal/messages.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import { type Column, table } from '../../terminal/table.ts';
import { humanBytes } from '../../text.ts';
import type { World } from '../../world.ts';

interface Look {
  /** More than one filing may be asked for: each line names its own, and one without a match is no failure. */
  readonly several: boolean;
  readonly chosen: (name: string) => boolean;
  readonly json: boolean;
  readonly long: boolean;
  readonly nul: boolean;
}

const TYPES = ['type', 'document_type', 'documentType', 'form', 'form_type', 'content_type', 'mime_type'];
const DESCRIPTIONS = ['description', 'document_description', 'primary_doc_description', 'title'];

interface FileColumn extends Column {
  readonly cell: (file: ListedFile) => string;
}

const ACCESSION: FileColumn = { heading: 'ACCESSION', cell: (file) => file.accession_no, name: true };
const COLUMNS: readonly FileColumn[] = [
  { heading: 'NAME', cell: (file) => printable(file.file_name), name: true },
  { heading: 'SIZE', cell: sizeCell, right: true, kept: 8 },
  { heading: 'TYPE', cell: (file) => textCell(file, TYPES, 30), least: 8, kept: 16 },
  { heading: 'DESCRIPTION', cell: (file) => textCell(file, DESCRIPTIONS, 300), least: 12 },
];

/** What a service lists is data, and exact: no secret is looked for in it. */
export function listOutput({ several, chosen, json, long, nul }: Look, session: Session, world: World) {
  const { stdout, env } = world;
  const { settings, signal, progress } = session;
  const inTable = long || (stdout.isTTY && !json && !nul);
  // The columns depend on all rows.
  const listed: ListedFile[] = [];

  const record = (file: ListedFile): string => {
    const end = nul ? '\0' : '\n';
    if (json) return printableJson(file) + end;
    // Of a name with a NUL inside, a program that splits at NUL would make two.
    const isExact = nul && !stdout.isTTY && !file.file_name.includes('\0');
    const name = isExact ? file.file_name : printable(file.file_name);
    return `${several ? `${file.accession_no}\t` : ''}${name}${end}`;
  };

  return {
    /** Gives back what is wrong with the files of a filing. */
    async show(accession: string, files: readonly ListedFile[]): Promise<FilingsError | undefined> {
      const shown = files.filter((file) => chosen(file.file_name));
      if (shown.length === 0) {
        const error = noMatch(accession, files.length);
        if (!several) return error;
        progress.note(error.message);
      }
      if (inTable) for (const file of shown) listed.push(file);
      else await write(stdout, shown.map(record).join(''), signal);
      return undefined;
    },

    async end(): Promise<void> {
      if (listed.length === 0) return;
      const columns = [...(several ? [ACCESSION] : []), ...COLUMNS].filter(
        ({ name, cell }) => name || listed.some((file) => cell(file) !== ''),
      );
      const rows = listed.map((file) => columns.map(({ cell }) => cell(file)));
      const paintHeading = colors(usesColor(settings.color, stdout, env.TERM)).faint;
      const width = stdout.isTTY ? columnsOf(stdout, env) : undefined;
      const lines = await table(columns, rows, { width, paintHeading }, signal);
      await write(stdout, `${lines.join('\n')}\n`, signal);
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
