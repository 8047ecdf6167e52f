// Commander's messages quote unknown words. Such a word may be a key (`-kSECRET`), so only a harmless beginning of it
// is shown.
import type { Command, CommanderError } from 'commander';
import { FilingsError } from '../errors.ts';
import { asAccession } from '../service/accession.ts';
import { didYouMean } from '../spec/nearest.ts';
import { counted, orList } from '../text.ts';

/**
 * The name of an option at the beginning of a word, or a word of a few letters. Keys and tokens do not look like this.
 */
const HARMLESS_START = /^(--[a-z][\w-]*|-\w|[a-z-]{1,24}$)/i;

/** Errors without a hint get that of the command line. */
export function usageError({ code, message }: CommanderError, command: Command, argv: readonly string[]): FilingsError {
  // `config get: KEY is missing`.
  const subject = { name: pathOf(command).replace(/^filings ?/, '') };
  // An error of commander has no fields for the words that it is about, so they are taken from the message.
  const [, word = ''] = /'(.*?)'/.exec(message) ?? [];
  const [first = '', second = ''] = message.match(/--[a-z][\w-]*/g) ?? [];
  switch (code) {
    // Commander shows the help as an error.
    case 'commander.help': {
      const choose = `choose ${orList(listCommands(command))}`;
      return new FilingsError('usage', 'a command is missing', { subject, hint: `${choose}, or ${helpHint(command)}` });
    }
    case 'commander.unknownCommand':
      return unknownCommand(word, command);
    case 'commander.unknownOption':
      return unknownOption(word, command, argv);
    case 'commander.conflictingOption':
      return new FilingsError('usage', `${first} cannot be used with ${second}`);
    case 'commander.optionMissingArgument':
      return new FilingsError('usage', `${first} needs a value`);
    case 'commander.missingArgument':
      return new FilingsError('usage', `${word} is missing`, { subject });
    case 'commander.invalidArgument': {
      // Only SHELL of `completion` has choices. Those of options are checked later.
      const { argChoices: choices = [] } = command.registeredArguments[0] ?? {};
      const choose = `choose ${orList(choices)}`;
      return unknownWord('SHELL', word, choices, choose);
    }
    case 'commander.excessArguments': {
      // For `filings token sgn`, commander runs the default command `sign`, with `sgn` as an argument too many.
      if (command.parent && !argv.includes(command.name()))
        return unknownCommand(command.args[0] ?? '', command.parent);
      const most = command.registeredArguments.length;
      const reason = most === 0 ? 'takes no arguments' : `takes at most ${counted(most, 'argument')}`;
      return new FilingsError('usage', reason, { subject });
    }
    // Errors about features of commander that this program does not use.
    default:
      return new FilingsError('usage', message.replace(/^error: /, ''));
  }
}

function unknownOption(word: string, command: Command, argv: readonly string[]): FilingsError {
  // Commander also calls a known switch unknown if it has a value: `--json=true`.
  const options = listOptions(command);
  // Commander reads `-all` as `-a -l -l`, and complains about a part of it.
  const long = argv.find((arg) => arg.endsWith(word.slice(1)) && options.includes(`-${arg}`));
  if (long) return new FilingsError('usage', `unknown option '${long}'`, { hint: `did you mean -${long}?` });
  const [name = '', value] = word.split('=');
  if (value === undefined || !options.includes(name))
    return unknownWord('option', word, [...options, ...listCommands(command)], helpHint(command));
  return new FilingsError('usage', `${name} takes no value`, { hint: `write ${name} without a value` });
}

function unknownCommand(word: string, command: Command): FilingsError {
  const names = listCommands(command);
  const accession = asAccession(word);
  // Only the program itself has a command `download`.
  if (accession !== undefined && names.includes('download')) {
    const hint = `did you mean filings list ${accession}, or filings download ${accession} FILE?`;
    return new FilingsError('usage', `${accession} is an accession number, not a command`, { hint });
  }
  return unknownWord('command', word, [...names, ...listOptions(command)], helpHint(command));
}

/** Such as `filings token sign`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

export function helpHint(command: Command): string {
  return `see ${pathOf(command)} --help`;
}

function listOptions({ options }: Command): readonly string[] {
  return [...options.map(({ long }) => `${long}`), '--help'];
}

/** The command `help`, which program.ts replaces, is not among those of commander. */
function listCommands({ commands, parent }: Command): readonly string[] {
  return [...commands.map((child) => child.name()), ...(parent === null ? ['help'] : [])];
}

/** `otherHint` is used if no known word is similar. */
function unknownWord(what: string, word: string, known: readonly string[], otherHint: string): FilingsError {
  const shown = HARMLESS_START.exec(word)?.[0] ?? '…';
  return new FilingsError('usage', `unknown ${what} '${shown}'`, {
    hint: didYouMean(shown, known) ?? otherHint,
  });
}
