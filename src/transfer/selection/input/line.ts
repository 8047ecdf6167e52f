import { FilingsError } from '../../../errors.ts';
import { type AccessionNumber, parseAccession } from '../../../service/accession.ts';

/** What a line of `--input` asks for; without a file, what the options choose from the listing. */
export interface InputEntry {
  readonly kind: 'entry';
  readonly accession: AccessionNumber;
  readonly file?: string;
}

export type InputLine =
  | InputEntry
  | { readonly kind: 'blank' }
  /** The fault is the reason: why the line can't be used. */
  | { readonly kind: 'bad'; readonly fault: FilingsError };

/**
 * Reads a line without its line feed: `ACCESSION`, or `ACCESSION` white space `FILE`, or a JSON
 * object as `list --json` prints it. FILE is the rest of the line after the first run of white
 * space, a carriage return at the end dropped, no quoting. Blank lines and `#` comments pass,
 * and so does a byte-order mark, which counts as white space.
 */
export function parseInputLine(text: string): InputLine {
  const line = text.replace(/\r$/, '').trimStart();
  if (line === '' || line.startsWith('#')) return { kind: 'blank' };
  try {
    return line.startsWith('{') ? fromJson(line) : fromText(line);
  } catch (error) {
    if (error instanceof FilingsError) return { kind: 'bad', fault: error };
    throw error;
  }
}

function fromText(line: string): InputEntry {
  const [, accession = '', file = ''] = /^(\S+)\s*(.*)$/s.exec(line) ?? [];
  return entry(accession, file);
}

function fromJson(line: string): InputEntry {
  const { accession_no: accession, file_name: file } = parsedObject(line);
  if (typeof accession !== 'string') throw bad('accession_no is no string');
  if (file !== undefined && file !== null && typeof file !== 'string') throw bad('file_name is no string');
  return entry(accession, file ?? '');
}

function entry(accession: string, file: string): InputEntry {
  const parsed = parseAccession(accession);
  return file === '' ? { kind: 'entry', accession: parsed } : { kind: 'entry', accession: parsed, file };
}

function parsedObject(line: string): { readonly accession_no?: unknown; readonly file_name?: unknown } {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw bad('broken JSON', cause);
  }
}

function bad(reason: string, cause?: unknown): FilingsError {
  return new FilingsError('usage', `an object of the input: ${reason}`, {
    hint: 'it is to be one line, such as filings list --json prints',
    cause,
  });
}
