import { Help } from 'commander';

export type Row = readonly [term: string, text: string];

const USUAL_COLUMNS = 80;
const FEWEST_COLUMNS = 60;
/** Longer lines are hard to read. */
const MOST_COLUMNS = 120;
/** A column of text that would be narrower is not wrapped. */
const FEWEST_TO_WRAP = 20;

/**
 * How wide help is: as COLUMNS says, which overrides the terminal (POSIX, "Environment Variables"), else as the terminal
 * says, else 80. What is no number in COLUMNS says nothing.
 */
export function helpColumns(
  { columns }: { readonly columns?: number },
  { COLUMNS = '' }: Readonly<Record<string, string | undefined>>,
): number {
  const wanted = /^\d{1,6}$/.test(COLUMNS) ? Number(COLUMNS) : 0;
  return Math.max(FEWEST_COLUMNS, Math.min(wanted || columns || USUAL_COLUMNS, MOST_COLUMNS));
}

/** Commander's layout of help, so many columns wide. */
export function layoutOf(columns: number): Help {
  return Object.assign(new Help(), { helpWidth: columns, minWidthToWrap: FEWEST_TO_WRAP });
}

/** A paragraph, with its line break. */
export function paragraph(text: string, columns: number): string {
  return `${layoutOf(columns).boxWrap(text, columns)}\n`;
}

/** A heading with a table of two columns below it; nothing where there are no rows. */
export function section(heading: string, rows: readonly Row[], columns: number): string {
  if (rows.length === 0) return '';
  const help = layoutOf(columns);
  const width = Math.max(...rows.map(([term]) => term.length));
  return `${heading}:\n${rows.map(([term, text]) => `${help.formatItem(term, width, text, help)}\n`).join('')}`;
}

/** Parts with an empty line between them. */
export function stacked(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}
