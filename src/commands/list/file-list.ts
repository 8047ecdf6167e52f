import { printable, printableJson } from '../../terminal/printable.ts';
import { type Column, table } from '../../terminal/table.ts';
import { humanBytes } from '../../text.ts';

/** A file as the service lists it. */
export interface Listed {
  readonly accession_no: string;
  readonly file_name: string;
  readonly [member: string]: unknown;
}

/** One of the forms that a list of files takes. */
export type ListForm =
  | { readonly kind: 'json'; readonly end: string }
  /** `raw`: names as they are, for a program that splits at NUL. */
  | { readonly kind: 'names'; readonly end: string; readonly raw: boolean; readonly accession: boolean }
  | { readonly kind: 'table'; readonly width: number | undefined; readonly accession: boolean };

export interface ListLook {
  /** Column headings, where there are columns. */
  readonly headings: boolean;
  readonly paintHeading: (text: string) => string;
}

/** The files of one listing as text for stdout, '' for none; and whether there is more to them than fits the terminal. */
export async function fileList(
  files: readonly Listed[],
  form: ListForm,
  look: ListLook,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly cut: boolean }> {
  switch (form.kind) {
    case 'json':
      return { text: files.map((file) => printableJson(file) + form.end).join(''), cut: false };
    case 'names':
      return { text: files.map((file) => nameRecord(file, form) + form.end).join(''), cut: false };
    case 'table':
      return files.length === 0 ? { text: '', cut: false } : fileTable(files, form, look, signal);
  }
}

function nameRecord(file: Listed, form: Extract<ListForm, { kind: 'names' }>): string {
  const name = form.raw ? file.file_name : printable(file.file_name);
  return form.accession ? `${file.accession_no}\t${name}` : name;
}

const SIZES = ['size', 'file_size', 'fileSize', 'size_bytes', 'bytes', 'length', 'content_length'];
const TYPES = ['type', 'document_type', 'documentType', 'form', 'form_type', 'content_type', 'mime_type'];
const DESCRIPTIONS = ['description', 'document_description', 'primary_doc_description', 'title'];
const LONGEST_TYPE = 30;
const LONGEST_DESCRIPTION = 300;

interface FileColumn extends Column {
  readonly cell: (file: Listed) => string;
  /** There whether or not any file has something in it. */
  readonly always?: boolean;
}

const COLUMNS: readonly FileColumn[] = [
  { heading: 'NAME', cell: (file) => printable(file.file_name), always: true, name: true, least: 12 },
  { heading: 'SIZE', cell: (file) => sizeOf(file), right: true },
  { heading: 'TYPE', cell: (file) => textOf(file, TYPES, LONGEST_TYPE), least: 8 },
  { heading: 'DESCRIPTION', cell: (file) => textOf(file, DESCRIPTIONS, LONGEST_DESCRIPTION), least: 12 },
];
const ACCESSION: FileColumn = { heading: 'ACCESSION', cell: (file) => file.accession_no, always: true, name: true };

async function fileTable(
  files: readonly Listed[],
  form: Extract<ListForm, { kind: 'table' }>,
  look: ListLook,
  signal: AbortSignal,
) {
  const columns = [...(form.accession ? [ACCESSION] : []), ...COLUMNS].filter(
    ({ cell, always }) => always || files.some((file) => cell(file) !== ''),
  );
  const rows = files.map((file) => columns.map(({ cell }) => cell(file)));
  const { lines, cut } = await table(columns, rows, { width: form.width, ...look }, signal);
  return { text: `${lines.join('\n')}\n`, cut };
}

function sizeOf(file: Listed): string {
  for (const member of SIZES) {
    const value = file[member];
    const size = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    if (typeof size === 'number' && size >= 0 && Number.isFinite(size)) return humanBytes(size);
  }
  return '';
}

function textOf(file: Listed, members: readonly string[], length: number): string {
  const value = members.map((member) => file[member]).find((text) => typeof text === 'string' && text !== '');
  return typeof value === 'string' ? printable(value, length) : '';
}
