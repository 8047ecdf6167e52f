import { type CommandSpec, command } from '../../spec/command.ts';

/** What `filings help` tells about besides the commands. */
export const TOPICS = ['exit-codes', 'environment', 'config'] as const;

/** `others` are the commands that it tells about, `commands` gives these and itself. */
export function helpSpec(others: readonly CommandSpec[], commands: () => readonly CommandSpec[]): CommandSpec {
  return command({
    name: 'help',
    summary: 'tell about a command, or about exit-codes, environment or config',
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
        help: 'a command, exit-codes, environment or config',
      },
    ],
    examples: [
      ['filings help token sign', 'about one command'],
      ['filings help exit-codes', 'what a script can tell from the exit status'],
    ],
    load: async () => (await import('./run.ts')).help(commands()),
  });
}
