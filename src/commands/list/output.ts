import { takeTurn } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import type { AccessionNumber } from '../../service/accession.ts';
import { type ListedFile, whyNoMatch } from '../../service/listing/listing.ts';
import type { Session } from '../../session/session.ts';
import { terminalColumns, write } from '../../stdio/output.ts';
import { colors, usesColor } from '../../terminal/colors.ts';
import type { World } from '../../world.ts';
import { fileList, type ListForm } from './file-list.ts';
import type { ListRequest } from './request.ts';

/** A table is aligned over so many rows. */
const FILES_A_WRITE = 10_000;
const NAMES_A_TURN = 1000;

export interface Listing {
  readonly accession: AccessionNumber;
  readonly files: readonly ListedFile[];
}

/** Writes the chosen files of filings to stdout. */
export class ListOutput {
  readonly #request: ListRequest;
  readonly #session: Session;
  readonly #world: World;
  readonly #form: ListForm;
  /** Rows of a table of several filings, which has one set of columns. */
  #rows: ListedFile[] = [];
  #headings = true;
  #isCut = false;

  constructor(request: ListRequest, session: Session, world: World) {
    [this.#request, this.#session, this.#world] = [request, session, world];
    this.#form = formOf(request, world);
  }

  /** Shows a filing; gives back what is wrong with it, or with names that cannot be shown. Throws what writing throws. */
  async show({ accession, files }: Listing): Promise<FilingsError | undefined> {
    const { signal } = this.#session;
    const chosen: ListedFile[] = [];
    for (const [index, file] of files.entries()) {
      if (this.#request.chosen(file.file_name)) chosen.push(file);
      if (index % NAMES_A_TURN === NAMES_A_TURN - 1) await takeTurn(signal);
    }
    if (chosen.length === 0) return this.#noMatch(accession, files.length);
    const fit = chosen.filter((file) => fits(file, this.#form));
    for (const file of fit) this.#rows.push(file);
    const isJoined = this.#form.kind === 'table' && this.#request.several;
    if (!isJoined || this.#rows.length >= FILES_A_WRITE) await this.flush();
    return fit.length < chosen.length ? unfitForNul(accession, chosen.length - fit.length) : undefined;
  }

  /** Writes what has waited for the rest of its table. */
  async flush(): Promise<void> {
    const { settings, progress, signal } = this.#session;
    const { stdout, env } = this.#world;
    const paintHeading = colors(usesColor(settings.color, stdout, env.TERM)).faint;
    const rows = this.#rows;
    this.#rows = [];
    for (let from = 0; from < rows.length; from += FILES_A_WRITE) {
      const look = { headings: this.#headings, paintHeading };
      // What a service lists is data, and exact: what was blacked out could not be asked for.
      const { text, cut } = await fileList(rows.slice(from, from + FILES_A_WRITE), this.#form, look, signal);
      await write(stdout, text, signal);
      this.#headings = false;
      if (cut && !this.#isCut) progress.note('cut to the width of the terminal: --json shows all of it');
      this.#isCut ||= cut;
    }
  }

  /** No files at all are a failure, as a wrong number has none; of several filings one without a match is not. */
  #noMatch(accession: AccessionNumber, files: number): FilingsError | undefined {
    const message = `${accession}: ${whyNoMatch(files)}`;
    if (files === 0) return new FilingsError('not_found', message, { hint: 'check the accession number' });
    if (!this.#request.several)
      return new FilingsError('not_found', message, { hint: 'check --include and --exclude' });
    this.#session.progress.note(message);
    return undefined;
  }
}

/** Of a name with a NUL inside, a program that splits at NUL would make two; half a character would become another one. */
function fits({ file_name }: ListedFile, form: ListForm): boolean {
  return form.kind !== 'names' || !form.raw || !/[\0\p{Cs}]/u.test(file_name);
}

function unfitForNul(accession: AccessionNumber, count: number): FilingsError {
  const names = count === 1 ? 'a file name has' : `${count} file names have`;
  return new FilingsError(
    'integrity',
    `${accession}: ${names} a NUL or half a character inside, and -0 cannot list it`,
    {
      hint: 'list it with --json',
    },
  );
}

function formOf({ output, nul, several }: ListRequest, { stdout, env }: World): ListForm {
  const end = nul ? '\0' : '\n';
  if (output === 'json') return { kind: 'json', end };
  if (output === 'long' || (stdout.isTTY && !nul))
    return { kind: 'table', width: terminalColumns(stdout, env), accession: several };
  return { kind: 'names', end, raw: nul && !stdout.isTTY, accession: several };
}
