import { Help } from 'commander';
import { columnsOf } from '../stdio/output.ts';
import type { OutputStream } from '../world.ts';

// Lays out help as lines of a given width. Takes terms, texts and headings, and wraps them in columns.

export type Row = readonly [term: string, text: string];

const MIN_COLUMNS = 60;
/** Longer lines are hard to read. */
const MAX_COLUMNS = 120;
/** A narrower column of text is not wrapped. */
const MIN_COLUMNS_TO_WRAP = 20;

/** Returns the width of help texts on a stream, in columns. */
export function helpColumns(stream: OutputStream, env: Readonly<Record<string, string | undefined>>): number {
  return Math.max(MIN_COLUMNS, Math.min(columnsOf(stream, env), MAX_COLUMNS));
}

/** Returns commander's layout of help texts. */
export function layoutOf(columns: number): Help {
  return Object.assign(new Help(), { helpWidth: columns, minWidthToWrap: MIN_COLUMNS_TO_WRAP });
}

/** Returns a wrapped paragraph. */
export function paragraph(text: string, columns: number): string {
  return `${layoutOf(columns).boxWrap(text, columns)}\n`;
}

/** Returns a heading with aligned rows, or nothing without rows. */
export function section(heading: string, rows: readonly Row[], columns: number): string {
  if (rows.length === 0) return '';
  const help = layoutOf(columns);
  const width = Math.max(...rows.map(([term]) => term.length));
  return `${heading}:\n${rows.map(([term, text]) => `${help.formatItem(term, width, text, help)}\n`).join('')}`;
}

/** Joins the parts that are not empty, with a blank line between two. */
export function stacked(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}
