import type { Flags } from '../spec/invocation.ts';
import { columnsOf, write } from '../stdio/output.ts';
import { colors, usesColor } from '../terminal/messages.ts';
import type { Column } from '../terminal/table.ts';
import type { World } from '../world.ts';
import { presentationOf } from './presentation.ts';

export interface Records {
  readonly columns: readonly Column[];
  /** Cells that are printable already. */
  readonly rows: readonly (readonly string[])[];
}

/** Writes records to stdout: on a terminal a table that fits it, otherwise a line each, TAB between. */
export async function writeRecords({ columns, rows }: Records, flags: Flags, world: World): Promise<void> {
  const { stdout, env, interrupt } = world;
  if (!stdout.isTTY) {
    await write(stdout, rows.map((cells) => `${cells.join('\t').trimEnd()}\n`).join(''), interrupt);
    return;
  }
  const { table } = await import('../terminal/table.ts');
  const { color } = await presentationOf(flags, world);
  const { faint } = colors(usesColor(color, stdout, env.TERM));
  const there = columns.map((_, index) => rows.some((cells) => cells[index]));
  const shown = <T>(cells: readonly T[]) => cells.filter((_, index) => there[index]);
  const look = { width: columnsOf(stdout, env), headings: true, paintHeading: faint };
  const lines = await table(shown(columns), rows.map(shown), look, interrupt);
  await write(stdout, lines.map((line) => `${line}\n`).join(''), interrupt);
}
