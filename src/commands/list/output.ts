import { FilingsError } from '../../errors.ts';
import { type ListedFile, listedSize } from '../../service/listing.ts';
import type { Session } from '../../session/session.ts';
import { columnsOf, write } from '../../stdio/output.ts';
import { colors, usesColor } from '../../terminal/messages.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import { type Column, table } from '../../terminal/table.ts';
import { humanBytes } from '../../text.ts';
import type { World } from '../../world.ts';

/** What is shown of filings, and how. */
export interface Shown {
  /** More than one filing may be asked for: each line names its own, and one without a match is no failure. */
  readonly several: boolean;
  readonly chosen: (name: string) => boolean;
  readonly json: boolean;
  readonly long: boolean;
  readonly nul: boolean;
}

/** A table is aligned over so many rows. */
const ROWS_A_TABLE = 10_000;
const TYPES = ['type', 'document_type', 'documentType', 'form', 'form_type', 'content_type', 'mime_type'];
const DESCRIPTIONS = ['description', 'document_description', 'primary_doc_description', 'title'];

interface FileColumn extends Column {
  readonly cell: (file: ListedFile) => string;
}

const ACCESSION: FileColumn = { heading: 'ACCESSION', cell: (file) => file.accession_no, name: true };
const COLUMNS: readonly FileColumn[] = [
  { heading: 'NAME', cell: (file) => printable(file.file_name), name: true },
  { heading: 'SIZE', cell: sizeCell, right: true },
  { heading: 'TYPE', cell: (file) => textCell(file, TYPES, 30), least: 8 },
  { heading: 'DESCRIPTION', cell: (file) => textCell(file, DESCRIPTIONS, 300), least: 12 },
];

/** Writes the chosen files of filings to stdout. What a service lists is data, and exact: no secret is looked for in it. */
export class ListOutput {
  readonly #shown: Shown;
  readonly #session: Session;
  readonly #world: World;
  readonly #isTable: boolean;
  /** Rows of a table, which has one set of columns for several filings. */
  #rows: ListedFile[] = [];
  #headings = true;

  constructor(shown: Shown, session: Session, world: World) {
    [this.#shown, this.#session, this.#world] = [shown, session, world];
    this.#isTable = shown.long || (world.stdout.isTTY === true && !shown.json && !shown.nul);
  }

  /** Shows a filing's files; gives back what is wrong with them. Throws what writing throws. */
  async show(accession: string, files: readonly ListedFile[]): Promise<FilingsError | undefined> {
    const { chosen, several } = this.#shown;
    const kept = files.filter((file) => chosen(file.file_name));
    if (kept.length === 0) return this.#noMatch(accession, files.length);
    if (this.#isTable) for (const file of kept) this.#rows.push(file);
    else await write(this.#world.stdout, kept.map((file) => this.#record(file)).join(''), this.#session.signal);
    if (!several || this.#rows.length >= ROWS_A_TABLE) await this.flush();
    return undefined;
  }

  /** Writes what has waited for the rest of its table. */
  async flush(): Promise<void> {
    const { settings, signal } = this.#session;
    const { stdout, env } = this.#world;
    const files = this.#rows.splice(0);
    if (files.length === 0) return;
    const columns = [...(this.#shown.several ? [ACCESSION] : []), ...COLUMNS].filter(
      ({ name, cell }) => name || files.some((file) => cell(file) !== ''),
    );
    const rows = files.map((file) => columns.map(({ cell }) => cell(file)));
    const paintHeading = colors(usesColor(settings.color, stdout, env.TERM)).faint;
    const options = {
      width: stdout.isTTY ? columnsOf(stdout, env) : undefined,
      headings: this.#headings,
      paintHeading,
    };
    const lines = await table(columns, rows, options, signal);
    await write(stdout, `${lines.join('\n')}\n`, signal);
    this.#headings = false;
  }

  #record(file: ListedFile): string {
    const { json, nul, several } = this.#shown;
    const end = nul ? '\0' : '\n';
    if (json) return printableJson(file) + end;
    // Of a name with a NUL inside, a program that splits at NUL would make two.
    const isExact = nul && !this.#world.stdout.isTTY && !file.file_name.includes('\0');
    const name = isExact ? file.file_name : printable(file.file_name);
    return `${several ? `${file.accession_no}\t` : ''}${name}${end}`;
  }

  /** No files at all are a failure, as a wrong number has none; of several filings one without a match is not. */
  #noMatch(accession: string, files: number): FilingsError | undefined {
    const none = files === 1 ? 'its one file does not match' : `none of its ${files} files matches`;
    const why =
      files === 0 ? 'the service lists no files' : `${none} --include and --exclude (matching is case-sensitive)`;
    const message = `${accession}: ${why}`;
    if (files === 0) return new FilingsError('not_found', message, { hint: 'check the accession number' });
    if (!this.#shown.several) return new FilingsError('not_found', message);
    this.#session.progress.note(message);
    return undefined;
  }
}

function sizeCell(file: ListedFile): string {
  const size = listedSize(file);
  return size === undefined ? '' : humanBytes(size);
}

function textCell(file: ListedFile, members: readonly string[], length: number): string {
  const value = members.map((member) => file[member]).find((text) => typeof text === 'string' && text !== '');
  return typeof value === 'string' ? printable(value, length) : '';
}
