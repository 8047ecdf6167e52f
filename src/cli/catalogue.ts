import { COMPLETION } from '../commands/completion/spec.ts';
import { CONFIG } from '../commands/config/spec.ts';
import { DOWNLOAD } from '../commands/download/spec.ts';
import { helpSpec } from '../commands/help/spec.ts';
import { LIST } from '../commands/list/spec.ts';
import { SERVE } from '../commands/serve/spec.ts';
import { TOKEN } from '../commands/token/spec.ts';
import { VERIFY } from '../commands/verify/spec.ts';
import type { CommandSpec, ParsedLine } from '../spec/command.ts';
import { type CommandLine, parseCommandLine, readCommandLine } from './program.ts';

const OTHERS: readonly CommandSpec[] = [LIST, DOWNLOAD, VERIFY, TOKEN, SERVE, CONFIG, COMPLETION];

/** In the order in which help shows them. */
export const COMMANDS: readonly CommandSpec[] = [...OTHERS, helpSpec(OTHERS, parsed)];

export function parsed(argv: readonly string[]): ParsedLine {
  return parseCommandLine(argv, COMMANDS);
}

/** Reads the command line of this run. */
export function commandLineOf(argv: readonly string[]): CommandLine {
  return readCommandLine(argv, COMMANDS);
}
