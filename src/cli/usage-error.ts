// Turns errors of commander into errors of this program. Takes commander's error and the position in the tree of
// commands, and gives an error with a hint, also for names that users know from other programs.
import type { Command, CommanderError } from 'commander';
import { FilingsError } from '../errors.ts';
import type { CommandNode } from '../help/program.ts';
import type { CommandSpec } from '../spec/command.ts';
import { nearest } from '../spec/nearest.ts';
import type { NamedOption } from '../spec/option.ts';
import { counted } from '../text.ts';

/** Rows of an own option or command, followed by its names in other programs. */
type OtherNames = readonly (readonly [own: string, ...others: string[]])[];

const OTHER_OPTIONS: OtherNames = [
  ['output PATH', 'O', 'out'],
  ['directory DIR', 'P', 'dir', 'output-dir'],
  ['all', 'recursive'],
  ['if-exists overwrite', 'f', 'force', 'overwrite'],
  ['dry-run', 'dry'],
  ['jobs N', 'parallel'],
  ['deadline DURATION', 'timeout'],
  ['base-url URL', 'url'],
  ['color never', 'no-color'],
];

const OTHER_COMMANDS: OtherNames = [
  ['list', 'ls'],
  ['download', 'get', 'fetch'],
  ['verify', 'check'],
  ['token', 'jwt'],
  ['config set api-key', 'login'],
  ['filings --version', 'version'],
];

/** Rows of a hint, followed by options of other programs that this program does not have. */
const NO_EQUIVALENT: OtherNames = [
  ['omit it: interrupted downloads are resumed without an option', 'c', 'C', 'continue', 'continue-at', 'resume'],
  [
    'certificate checks cannot be disabled; NODE_EXTRA_CA_CERTS=FILE in the environment adds an authority',
    ...['k', 'insecure', 'no-check-certificate'],
  ],
];

function findOwnName(names: OtherNames, word: string): string | undefined {
  return names.find(([, ...others]) => others.includes(word))?.[0];
}

/** The command at which parsing failed. */
interface FailedCommand extends CommandNode {
  readonly command: Command;
  readonly options: readonly NamedOption[];
  /** The commands beside a default command. One of them may have been meant. */
  readonly siblings: readonly CommandSpec[] | undefined;
}

/**
 * Returns commander's error in the words of this program. The message echoes no word that may be a value, because the
 * value may be a key.
 */
export function usageError(error: CommanderError, failedCommand: FailedCommand): FilingsError {
  const { path, spec, command, options, siblings } = failedCommand;
  const [word = ''] = command.args;
  if (error.code === 'commander.unknownOption') return unknownOption(error.message, path, options);
  if (error.code === 'commander.unknownCommand') return unknownCommandError(path, word, spec.children ?? []);
  if (error.code === 'commander.excessArguments' && siblings)
    return unknownCommandError(path.slice(0, -1), word, siblings);
  return new FilingsError('usage', reasonFor(error, failedCommand), { hint: helpHint(path) });
}

function reasonFor({ code, message }: CommanderError, { path, spec, command, options }: FailedCommand): string {
  const [flag = '', other = ''] = message.match(/--[\w-]+/g) ?? [];
  const name = path.join(' ');
  switch (code) {
    case 'commander.conflictingOption':
      return `${flag} cannot be used with ${other}`;
    case 'commander.optionMissingArgument':
      return `${flag}: ${options.find((option) => `--${option.flag}` === flag)?.value} is missing`;
    case 'commander.missingArgument':
      return `${name}: ${/'(.+)'/.exec(message)?.[1]} is missing`;
    case 'commander.excessArguments': {
      const allowed = spec.arguments?.length ?? 0;
      return `${name} takes ${allowed === 0 ? 'no arguments' : `${counted(allowed, 'argument')}, not ${command.args.length}`}`;
    }
    default:
      return `${name}: ${message.replace(/^error: /, '')}`;
  }
}

function unknownOption(message: string, path: readonly string[], options: readonly NamedOption[]): FilingsError {
  // The flag is `--name` of `--name=value`, and `-x` of `-xvalue`.
  const flag = /'(--[^=']+|-.)/.exec(message)?.[1] ?? '';
  const word = flag.replace(/^--?/, '');
  const known = [...options.map((option) => option.flag), 'help', ...(path.length === 0 ? ['version'] : [])];
  if (flag.startsWith('--') && known.includes(word)) {
    return new FilingsError('usage', 'takes no value', { subject: { name: flag }, hint: helpHint(path) });
  }
  const ownName = findOwnName(OTHER_OPTIONS, word);
  const suggestion = ownName && known.includes(ownName.split(' ', 1).join()) ? ownName : nearest(word, known);
  const otherHint = suggestion === undefined ? helpHint(path) : `did you mean --${suggestion}?`;
  const hint = findOwnName(NO_EQUIVALENT, word) ?? otherHint;
  return new FilingsError('usage', 'no such option', { subject: { name: flag }, hint });
}

/** Returns the error for an unknown command. A text that does not look like a word is not echoed: it may be a key. */
export function unknownCommandError(
  path: readonly string[],
  word: string,
  known: readonly CommandSpec[],
): FilingsError {
  const name = [...path, ...(/^[a-z-]{1,24}$/i.test(word) ? [word] : [])].join(' ');
  const names = known.map((spec) => spec.name);
  const suggestion = (path.length === 0 ? findOwnName(OTHER_COMMANDS, word) : undefined) ?? nearest(word, names);
  const hint = suggestion === undefined ? helpHint(path) : `did you mean ${suggestion}?`;
  return new FilingsError('usage', 'no such command', { subject: { name: name || 'the first argument' }, hint });
}

function helpHint(path: readonly string[]): string {
  return `see ${['filings', ...path].join(' ')} --help`;
}
