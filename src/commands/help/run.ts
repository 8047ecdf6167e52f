import { FilingsError } from '../../errors.ts';
import { placed } from '../../help/describe.ts';
import { helpColumns, helpText } from '../../help/text.ts';
import { configText, environmentText, exitCodesText, optionsText } from '../../help/topics.ts';
import type { CommandSpec } from '../../spec/command.ts';
import type { CommandModule } from '../../spec/invocation.ts';
import { didYouMean } from '../../spec/nearest.ts';
import { write } from '../../stdio/output.ts';

const TEXTS: Readonly<Record<string, (columns: number) => string>> = {
  options: optionsText,
  'exit-codes': exitCodesText,
  environment: environmentText,
  config: configText,
};

/** `filings help [COMMAND | options | exit-codes | environment | config]`. */
export function help(commands: readonly CommandSpec[]): CommandModule {
  return {
    async run({ args }, world) {
      await write(world.stdout, textAbout(args, commands, helpColumns(world.stdout, world.env)));
      return 0;
    },
  };
}

/** @throws FilingsError `usage` when there is nothing of that name */
function textAbout(words: readonly string[], commands: readonly CommandSpec[], columns: number): string {
  const topic = words.join(' ');
  const known = placed(commands).map(({ path }) => path.join(' '));
  const text = Object.hasOwn(TEXTS, topic) ? TEXTS[topic]?.(columns) : undefined;
  const ofCommand = () => helpText(commands, { path: words, brief: false, missing: false }, columns);
  // The command of that name is told about below its topic.
  if (text !== undefined) return known.includes(topic) ? `${text}\n${ofCommand()}` : text;
  if (words.length === 0 || known.includes(topic)) return ofCommand();
  const hint = didYouMean(topic, [...known, ...Object.keys(TEXTS)]) ?? 'see filings --help';
  throw new FilingsError('usage', `help ${topic || "''"}: no such command or topic`, { hint });
}
