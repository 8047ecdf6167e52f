import { type CommandSpec, command } from '../../spec/command.ts';
import { SWITCH } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

/** What `filings help` tells about besides the commands. */
export const TOPICS = ['options', 'exit-codes', 'environment', 'config'] as const;

export const OPTIONS = options({
  man: {
    kind: SWITCH,
    help: 'open the manual page, also where npm did not install it',
    more: "Of a command, of all when none is named, with '5 config' of the config file. Off a terminal it is plain text. Where man and mandoc are missing, what --help says.",
  },
});

/** `others` are the commands that it tells about, `commands` gives these and itself. */
export function helpSpec(others: readonly CommandSpec[], commands: () => readonly CommandSpec[]): CommandSpec {
  return command({
    name: 'help',
    summary: 'tell about a command or a topic, or open the manual',
    forms: ['[COMMAND...]', 'options | exit-codes | environment | config', '--man [COMMAND | 5 config]'],
    description: [
      "'filings help COMMAND' is 'filings COMMAND --help'; 'filings COMMAND -h' is shorter, one screen.",
      'Its lines are as long as COLUMNS says, or as the terminal has columns: from 40 to 120, and 80 where there is none.',
    ],
    arguments: [
      {
        name: 'TOPIC',
        variadic: true,
        suggests: [...new Set([...others.map(({ name }) => name), ...TOPICS])],
        after: Object.fromEntries(
          others.flatMap(({ name, children }) =>
            children ? [[name, { choices: children.map((one) => one.name) }]] : [],
          ),
        ),
        help: 'a command, options, exit-codes, environment or config',
      },
    ],
    options: OPTIONS,
    examples: [
      ['filings help token sign', 'about one command'],
      ['filings help exit-codes', 'what a script can tell from the exit status'],
      ['filings help --man download', 'the manual page of a command'],
      ['filings help --man 5 config', 'the manual page of the config file'],
    ],
    exits: [
      ['0', 'done, also when the reader of stdout went away'],
      ['2', 'there is no such command, topic or page'],
    ],
    load: async () => (await import('./run.ts')).help(commands()),
  });
}
