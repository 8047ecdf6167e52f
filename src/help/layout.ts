import { Help } from 'commander';
import { columnsOf } from '../stdio/output.ts';
import type { OutputStream } from '../world.ts';

export type Row = readonly [term: string, text: string];

const FEWEST_COLUMNS = 60;
/** Longer lines are hard to read. */
const MOST_COLUMNS = 120;
/** A column of text that would be narrower is not wrapped. */
const FEWEST_TO_WRAP = 20;

export function helpColumns(stream: OutputStream, env: Readonly<Record<string, string | undefined>>): number {
  return Math.max(FEWEST_COLUMNS, Math.min(columnsOf(stream, env), MOST_COLUMNS));
}

export function layoutOf(columns: number): Help {
  return Object.assign(new Help(), { helpWidth: columns, minWidthToWrap: FEWEST_TO_WRAP });
}

export function paragraph(text: string, columns: number): string {
  return `${layoutOf(columns).boxWrap(text, columns)}\n`;
}

export function section(heading: string, rows: readonly Row[], columns: number): string {
  if (rows.length === 0) return '';
  const help = layoutOf(columns);
  const width = Math.max(...rows.map(([term]) => term.length));
  return `${heading}:\n${rows.map(([term, text]) => `${help.formatItem(term, width, text, help)}\n`).join('')}`;
}

export function stacked(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}
