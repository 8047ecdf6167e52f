import { FilingsError } from '../../errors.ts';
import { placed } from '../../reference/describe.ts';
import { helpColumns, helpText } from '../../reference/help/text.ts';
import { configText, environmentText, exitCodesText, optionsText } from '../../reference/topics.ts';
import type { CommandSpec } from '../../spec/command.ts';
import type { CommandModule } from '../../spec/invocation.ts';
import { didYouMean } from '../../spec/nearest.ts';
import { write } from '../../stdio/output.ts';
import type { OPTIONS } from './spec.ts';

const TEXTS: Readonly<Record<string, (columns: number) => string>> = {
  options: optionsText,
  'exit-codes': exitCodesText,
  environment: environmentText,
  config: configText,
};

/** `filings help [COMMAND | options | exit-codes | environment | config] [--man]`. */
export function help(commands: readonly CommandSpec[]): CommandModule<typeof OPTIONS> {
  return {
    async run({ args, options }, world) {
      const [words, file] = options.man ? numbered(args) : [args, undefined];
      const text = textAbout(words, commands, helpColumns(world.stdout, world.env));
      if (!options.man) await write(world.stdout, text);
      else await (await import('./manual.ts')).showPage(file ?? pageAbout(words, commands), text, world);
      return 0;
    },
  };
}

/** The manual's section before a name, as man takes it: of a name that is in two, the file's page is in the fifth. */
function numbered(args: readonly string[]): readonly [words: readonly string[], page: string | undefined] {
  const [section, ...words] = args;
  if (section === '5' && words.join(' ') === 'config') return [words, 'filings-config.5'];
  return [section === '1' && words.length > 0 ? words : args, undefined];
}

/** A command's page has its subcommands, the program's all the topics. */
function pageAbout([first = '']: readonly string[], commands: readonly CommandSpec[]): string {
  return commands.some(({ name }) => name === first) ? `filings-${first}.1` : 'filings.1';
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
