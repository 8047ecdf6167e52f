import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** A fenced block of a Markdown page. */
export interface Block {
  /** The page's path below the project's folder. */
  readonly page: string;
  /** Of its first line, from 1. */
  readonly line: number;
  /** What stands behind the opening fence; empty where nothing does. */
  readonly language: string;
  /** Without the indentation of its fence; its last line ends with a line break. */
  readonly text: string;
  readonly firstLine: string;
}

export function pageText(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

/** All blocks of a page, in its order. Throws where one is not closed. */
export function blocksOf(page: string, text = pageText(page)): readonly Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; indent: number; language: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const [, indent = '', fence = '', language = ''] = /^( *)(`{3,})(\S*) *$/.exec(line) ?? [];
    if (open === undefined) {
      if (fence) open = { fence, indent: indent.length, language, line: index + 2, lines: [] };
    } else if (fence.length >= open.fence.length && language === '') {
      blocks.push(blockOf(page, open));
      open = undefined;
    } else open.lines.push(line.slice(Math.min(open.indent, line.search(/\S|$/))));
  }
  if (open) throw new Error(`${page}:${open.line - 1}: a block that is not closed`);
  return blocks;
}

function blockOf(page: string, { line, language, lines }: { line: number; language: string; lines: string[] }): Block {
  const firstLine = lines.find((one) => one.trim() !== '')?.trim() ?? '';
  return { page, line, language, text: lines.map((one) => `${one}\n`).join(''), firstLine };
}
