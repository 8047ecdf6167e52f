import { type CommandSpec, command } from '../../spec/command.ts';
import type { ParseLine } from '../../spec/invocation.ts';

/** What it tells about besides the commands. */
const TOPICS = ['options', 'exit-codes', 'environment', 'config'];

/** `others` are the commands that it tells about, `commands` gives these and itself, `parse` reads a command line. */
export function helpSpec(
  others: readonly CommandSpec[],
  commands: () => readonly CommandSpec[],
  parse: ParseLine,
): CommandSpec {
  return command({
    name: 'help',
    summary: 'show help about a command or a topic',
    forms: ['[COMMAND...]', 'options | exit-codes | environment | config'],
    description: [
      "'filings help COMMAND' is 'filings COMMAND --help'; 'filings COMMAND -h' fits on one screen.",
      'Lines are as wide as COLUMNS says, else as the terminal, from 60 to 120 columns; 80 where there is no terminal.',
    ],
    arguments: [
      {
        name: 'TOPIC',
        variadic: true,
        suggests: [...new Set([...others.map(({ name }) => name), ...TOPICS])],
        help: 'a command, options, exit-codes, environment or config',
      },
    ],
    examples: [
      ['filings help token sign', 'about one command'],
      ['filings help exit-codes', 'all exit statuses'],
      ['filings help config', 'the keys of the config file, with an example'],
    ],
    exits: [
      ['0', 'done, also when the reader of stdout went away'],
      ['2', 'there is no such command or topic'],
    ],
    load: async () => (await import('./run.ts')).help(commands(), parse),
  });
}
