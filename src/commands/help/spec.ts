// Describes `help`: takes the specs of the other commands, and gives the text of a command or of a topic.
import { FilingsError } from '../../errors.ts';
import { helpColumns, stacked } from '../../help/layout.ts';
import { commandNodes } from '../../help/program.ts';
import { type CommandSpec, command, type ParseLine } from '../../spec/command.ts';
import { didYouMean } from '../../spec/nearest.ts';
import { write } from '../../stdio/output.ts';

const TOPIC_NAMES = ['options', 'exit-codes', 'environment', 'config'];

/** Returns the spec of `help`, which knows `others` and itself. `parse` makes the help text of a command. */
export function helpSpec(others: readonly CommandSpec[], parse: ParseLine): CommandSpec {
  const spec: CommandSpec = command({
    name: 'help',
    summary: 'show help about a command or a topic',
    forms: ['[COMMAND...]', 'options | exit-codes | environment | config'],
    description: ["'filings help COMMAND' is 'filings COMMAND --help'; 'filings COMMAND -h' fits on one screen."],
    arguments: [
      {
        name: 'TOPIC',
        variadic: true,
        suggests: TOPIC_NAMES,
        completes: 'topic',
        help: 'a command, options, exit-codes, environment or config',
      },
    ],
    examples: [
      ['filings help token sign', 'about one command'],
      ['filings help exit-codes', 'all exit statuses'],
      ['filings help config', 'the keys of the config file, with an example'],
    ],
    load: async () => ({
      async run({ args }, { stdout, env }) {
        await write(stdout, await helpText(args, helpColumns(stdout, env)));
        return 0;
      },
    }),
  });

  async function helpText(args: readonly string[], columns: number): Promise<string> {
    const { TOPICS } = await import('../../help/topics.ts');
    const commandNames = commandNodes([...others, spec]).map(({ path }) => path.join(' '));
    const name = args.join(' ');
    const topic = Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined;
    const isCommand = args.length === 0 || commandNames.includes(name);
    if (topic === undefined && !isCommand) {
      const hint = didYouMean(name, [...commandNames, ...Object.keys(TOPICS)]) ?? 'see filings --help';
      throw new FilingsError('usage', 'no such command or topic', { subject: { name: `help ${name || "''"}` }, hint });
    }
    const line = isCommand ? parse([...args, '--help']) : undefined;
    // `config` is a topic and a command: the text of the command follows.
    return stacked([topic?.(columns) ?? '', line?.kind === 'help' ? line.text(columns) : '']);
  }

  return spec;
}
