import type { CommandSpec } from '../spec/command.ts';
import { briefHelp } from './brief.ts';
import { type Placed, placed, programSpec } from './describe.ts';
import { fullHelp } from './full.ts';
import { overview } from './overview.ts';

const USUAL_COLUMNS = 80;
const FEWEST_COLUMNS = 40;
/** Longer lines are hard to read. */
const MOST_COLUMNS = 120;

/**
 * How wide help is: as COLUMNS says, which overrides the terminal (POSIX, "Environment Variables"), as the terminal
 * says, and 80 columns where neither does. What is no number in COLUMNS says nothing.
 */
export function helpColumns(
  { columns }: { readonly columns?: number },
  { COLUMNS = '' }: Readonly<Record<string, string | undefined>>,
): number {
  const wanted = /^\d{1,6}$/.test(COLUMNS) ? Number(COLUMNS) : 0;
  return Math.max(FEWEST_COLUMNS, Math.min(wanted || columns || USUAL_COLUMNS, MOST_COLUMNS));
}

/** About what help is wanted, an empty path for the program, and how much of it. */
export interface Wanted {
  readonly path: readonly string[];
  /** `-h` in the place of `--help`. */
  readonly brief: boolean;
  /** It was not asked for: a command is missing. */
  readonly missing: boolean;
}

/** What is printed where help is wanted. */
export function helpText(commands: readonly CommandSpec[], { path, brief, missing }: Wanted, columns: number): string {
  const program: Placed = { path: [], spec: programSpec(commands) };
  const command = placed(commands).find((one) => one.path.join(' ') === path.join(' ')) ?? program;
  if (missing && command === program) return overview(program, columns);
  return brief ? briefHelp(command, columns) : fullHelp(command, columns);
}
