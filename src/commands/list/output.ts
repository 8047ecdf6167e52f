import { FilingsError } from '../../errors.ts';
import { type ListedFile, listedSize, whyNoMatch } from '../../service/listing/listing.ts';
import type { Session } from '../../session/session.ts';
import { columnsOf, write } from '../../stdio/output.ts';
import { colors, usesColor } from '../../terminal/messages.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import { type Column, table } from '../../terminal/table.ts';
import { humanBytes } from '../../text.ts';
import type { World } from '../../world.ts';
import type { ListRequest } from './request.ts';

/** A table is aligned over so many rows. */
const ROWS_A_TABLE = 10_000;
const TYPES = ['type', 'document_type', 'documentType', 'form', 'form_type', 'content_type', 'mime_type'];
const DESCRIPTIONS = ['description', 'document_description', 'primary_doc_description', 'title'];

interface FileColumn extends Column {
  readonly cell: (file: ListedFile) => string;
}

const ACCESSION: FileColumn = { heading: 'ACCESSION', cell: (file) => file.accession_no, name: true };
const COLUMNS: readonly FileColumn[] = [
  { heading: 'NAME', cell: (file) => printable(file.file_name), name: true, least: 12 },
  { heading: 'SIZE', cell: sizeCell, right: true },
  { heading: 'TYPE', cell: (file) => textCell(file, TYPES, 30), least: 8 },
  { heading: 'DESCRIPTION', cell: (file) => textCell(file, DESCRIPTIONS, 300), least: 12 },
];

/** Writes the chosen files of filings to stdout. What a service lists is data, and exact: no secret is looked for in it. */
export class ListOutput {
  readonly #request: ListRequest;
  readonly #session: Session;
  readonly #world: World;
  readonly #isTable: boolean;
  /** Rows of a table, which has one set of columns for several filings. */
  #rows: ListedFile[] = [];
  #headings = true;

  constructor(request: ListRequest, session: Session, world: World) {
    [this.#request, this.#session, this.#world] = [request, session, world];
    this.#isTable =
      request.output === 'long' || (request.output === 'names' && world.stdout.isTTY === true && !request.nul);
  }

  /** Shows a filing's files; gives back what is wrong with them. Throws what writing throws. */
  async show(accession: string, files: readonly ListedFile[]): Promise<FilingsError | undefined> {
    const chosen = files.filter((file) => this.#request.chosen(file.file_name));
    if (chosen.length === 0) return this.#noMatch(accession, files.length);
    if (!this.#isTable) return this.#records(accession, chosen);
    for (const file of chosen) this.#rows.push(file);
    if (!this.#request.several || this.#rows.length >= ROWS_A_TABLE) await this.flush();
    return undefined;
  }

  /** Writes what has waited for the rest of its table. */
  async flush(): Promise<void> {
    const { settings, signal } = this.#session;
    const { stdout, env } = this.#world;
    const files = this.#rows.splice(0);
    if (files.length === 0) return;
    const columns = [...(this.#request.several ? [ACCESSION] : []), ...COLUMNS].filter(
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

  async #records(accession: string, files: readonly ListedFile[]): Promise<FilingsError | undefined> {
    const { output, nul, several } = this.#request;
    const { stdout } = this.#world;
    const isRaw = output === 'names' && nul && !stdout.isTTY;
    // Of a name with a NUL inside, a program that splits at NUL would make two; half a character would become another one.
    const fit = isRaw ? files.filter((file) => !/[\0\p{Cs}]/u.test(file.file_name)) : files;
    const records = fit.map((file) => {
      if (output === 'json') return printableJson(file);
      const name = isRaw ? file.file_name : printable(file.file_name);
      return several ? `${accession}\t${name}` : name;
    });
    await write(stdout, records.map((record) => record + (nul ? '\0' : '\n')).join(''), this.#session.signal);
    if (fit.length === files.length) return undefined;
    return new FilingsError('integrity', `${accession}: -0 cannot list a name with a NUL or half a character inside`, {
      hint: 'list it with --json',
    });
  }

  /** No files at all are a failure, as a wrong number has none; of several filings one without a match is not. */
  #noMatch(accession: string, files: number): FilingsError | undefined {
    const message = `${accession}: ${whyNoMatch(files)}`;
    if (files === 0) return new FilingsError('not_found', message, { hint: 'check the accession number' });
    if (!this.#request.several) return new FilingsError('not_found', message);
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
