import { FilingsError } from '../../errors.ts';
import { helpColumns, stacked } from '../../help/layout.ts';
import { commandPlaces } from '../../help/program.ts';
import { TOPICS } from '../../help/topics.ts';
import type { CommandSpec } from '../../spec/command.ts';
import type { CommandModule, ParseLine } from '../../spec/invocation.ts';
import { didYouMean } from '../../spec/nearest.ts';
import { write } from '../../stdio/output.ts';

/** `filings help [COMMAND | options | exit-codes | environment | config]`: of a command, what its `--help` prints. */
export function help(commands: readonly CommandSpec[], parse: ParseLine): CommandModule {
  const known = commandPlaces(commands).map(({ path }) => path.join(' '));
  return {
    async run({ args }, { stdout, env }) {
      const columns = helpColumns(stdout, env);
      const name = args.join(' ');
      const topic = Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined;
      const isCommand = args.length === 0 || known.includes(name);
      if (topic === undefined && !isCommand) {
        const hint = didYouMean(name, [...known, ...Object.keys(TOPICS)]) ?? 'see filings --help';
        throw new FilingsError('usage', `help ${name || "''"}: no such command or topic`, { hint });
      }
      const line = isCommand ? parse([...args, '--help']) : undefined;
      // The command of that name comes below its topic.
      await write(stdout, stacked([topic?.(columns) ?? '', line?.kind === 'help' ? line.text(columns) : '']));
      return 0;
    },
  };
}
