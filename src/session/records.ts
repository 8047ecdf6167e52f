import type { Flags } from '../spec/invocation.ts';
import { guardStream, terminalColumns, write } from '../stdio/output.ts';
import { colors, usesColor } from '../terminal/colors.ts';
import type { Column } from '../terminal/table.ts';
import { createTeller } from '../terminal/teller.ts';
import type { World } from '../world.ts';
import { presentationOf } from './presentation.ts';

export interface Records {
  readonly columns: readonly Column[];
  /** Cells that are printable already. */
  readonly rows: readonly (readonly string[])[];
}

/**
 * Writes records to stdout: on a terminal a table that fits it, otherwise a line each, TAB between. Where the terminal
 * is too narrow, stderr says that `--json` shows all of it.
 */
export async function writeRecords({ columns, rows }: Records, flags: Flags, world: World): Promise<void> {
  const { stdout, stderr, env, interrupt, secrets } = world;
  const width = terminalColumns(stdout, env);
  if (width === undefined) {
    await write(stdout, rows.map((cells) => `${cells.join('\t').trimEnd()}\n`).join(''), interrupt);
    return;
  }
  const { table } = await import('../terminal/table.ts');
  const { color, errorFormat, quiet } = await presentationOf(flags, world);
  const { faint } = colors(usesColor(color, stdout, env.TERM));
  const there = columns.map((_, index) => rows.some((cells) => cells[index]));
  const shown = <T>(cells: readonly T[]) => cells.filter((_, index) => there[index]);
  const look = { width, headings: true, paintHeading: faint };
  const { lines, cut } = await table(shown(columns), rows.map(shown), look, interrupt);
  await write(stdout, lines.map((line) => `${line}\n`).join(''), interrupt);
  if (!cut) return;
  guardStream(stderr);
  const tell = createTeller({ errorFormat, quiet, secrets }, (line) => stderr.write(line));
  tell('note', 'cut to the width of the terminal: --json shows all of it');
}
