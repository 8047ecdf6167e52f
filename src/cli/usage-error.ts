// Turns errors of commander into errors of this program. Commander's messages quote unknown words, and such a word may
// be a key (`-kSECRET`), so only a harmless beginning of it is shown.
import type { Command, CommanderError } from 'commander';
import { FilingsError } from '../errors.ts';
import { didYouMean } from '../spec/nearest.ts';
import { counted, orList } from '../text.ts';

/** The name of a long or short option, or a short word of letters. Keys and tokens do not look like this. */
const HARMLESS_START = /^(--[a-z][\w-]*|-\w|[a-z-]{1,24}$)/i;

/** @param path the full name of the command, such as `filings token sign` */
export function usageError({ code, message }: CommanderError, command: Command, path: string): FilingsError {
  const hint = `see ${path} --help`;
  const subject = { name: path.replace(/^filings /, '') };
  const [, word = ''] = /'(.*?)'/.exec(message) ?? [];
  const [first = '', second = ''] = message.match(/--[a-z][\w-]*/g) ?? [];
  switch (code) {
    case 'commander.unknownCommand':
      return unknownCommand(word, command, path);
    case 'commander.unknownOption':
      return unknownOption(word, command, path);
    case 'commander.conflictingOption':
      return new FilingsError('usage', `${first} cannot be used with ${second}`, { hint });
    case 'commander.optionMissingArgument':
      return new FilingsError('usage', `${first} needs a value`, { hint });
    case 'commander.missingArgument':
      return new FilingsError('usage', `${word} is missing`, { subject, hint });
    case 'commander.invalidArgument': {
      const { argChoices: choices = [] } = command.registeredArguments[0] ?? {};
      const choose = `choose ${orList(choices)}`;
      return unknownWord('SHELL', word, choices, choose);
    }
    case 'commander.excessArguments': {
      const most = command.registeredArguments.length;
      const reason = most === 0 ? 'takes no arguments' : `takes at most ${counted(most, 'argument')}`;
      return new FilingsError('usage', reason, { subject, hint });
    }
    default:
      return new FilingsError('usage', message.replace(/^error: /, ''), { hint });
  }
}

function unknownOption(word: string, command: Command, path: string): FilingsError {
  const options = command.options.map(({ long }) => `${long}`);
  const [name = '', value] = word.split('=');
  if (value === undefined || !options.includes(name)) return unknownWord('option', word, options, `see ${path} --help`);
  return new FilingsError('usage', `${name} takes no value`, { hint: `write ${name} without a value` });
}

export function unknownCommand(word: string, command: Command, path: string): FilingsError {
  const names = command.commands.map((child) => child.name());
  return unknownWord('command', word, names, `see ${path} --help`);
}

function unknownWord(what: string, word: string, known: readonly string[], otherHint: string): FilingsError {
  const shown = HARMLESS_START.exec(word)?.[0] ?? '…';
  return new FilingsError('usage', `unknown ${what} '${shown}'`, {
    hint: didYouMean(shown, known) ?? otherHint,
  });
}
