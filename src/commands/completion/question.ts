import type { CommandSpec } from '../../spec/command.ts';
import type { World } from '../../world.ts';
import { type Line, readLine } from './line.ts';
import { meaningOf, SHELLS, type Shell } from './shell-word.ts';

/** What a shell asks for the line that a person is typing. */
export interface Question {
  /** The words that stand there. */
  readonly line: Line;
  /** How the next one begins. */
  readonly begin: string;
}

/** Reads `SHELL -- WORD... BEGIN`; undefined where only the shell could say what it means. */
export function readQuestion(
  [shell, , ...words]: readonly string[],
  commands: readonly CommandSpec[],
  { env }: Pick<World, 'env'>,
): Question | undefined {
  if (!isShell(shell)) return undefined;
  const meant = words.map((word) => meaningOf(word, shell, env.HOME));
  const begin = meant.pop();
  const line = begin === undefined ? undefined : readLine(meant, commands);
  return begin === undefined || line === undefined ? undefined : { begin, line };
}

function isShell(word: string | undefined): word is Shell {
  return SHELLS.some((shell) => shell === word);
}
