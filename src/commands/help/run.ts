import { FilingsError } from '../../errors.ts';
import { placed } from '../../reference/describe.ts';
import { helpColumns, helpText } from '../../reference/help-text.ts';
import { configText, environmentText, exitCodesText } from '../../reference/topics.ts';
import type { CommandSpec } from '../../spec/command.ts';
import type { CommandModule } from '../../spec/invocation.ts';
import { didYouMean } from '../../spec/nearest.ts';
import { write } from '../../stdio/output.ts';

const TOPICS: Readonly<Record<string, (columns: number) => string>> = {
  'exit-codes': exitCodesText,
  environment: environmentText,
  config: configText,
};

/** `filings help [COMMAND | exit-codes | environment | config]`. */
export function help(commands: readonly CommandSpec[]): CommandModule {
  return {
    async run({ args }, { stdout }) {
      await write(stdout, textAbout(args, commands, helpColumns(stdout.columns)));
      return 0;
    },
  };
}

function textAbout(words: readonly string[], commands: readonly CommandSpec[], columns: number): string {
  const topic = words.join(' ');
  const known = placed(commands).map(({ path }) => path.join(' '));
  const text = Object.hasOwn(TOPICS, topic) ? TOPICS[topic]?.(columns) : undefined;
  // The command of that name is told about below its topic.
  if (text !== undefined) return known.includes(topic) ? `${text}\n${helpText(commands, words, columns)}` : text;
  if (topic === '' || known.includes(topic)) return helpText(commands, words, columns);
  const hint = didYouMean(topic, [...known, ...Object.keys(TOPICS)]) ?? 'see filings --help';
  throw new FilingsError('usage', `help ${topic}: no such command or topic`, { hint });
}
