import type { Command, CommanderError } from 'commander';
import { FilingsError } from '../errors.ts';
import type { CommandPlace } from '../help/program.ts';
import type { CommandSpec } from '../spec/command.ts';
import { nearest } from '../spec/nearest.ts';
import type { NamedOption } from '../spec/option.ts';
import { counted } from '../text.ts';

/** Names that other programs give to an option or a command, and the name here. */
const OTHER_OPTIONS: ReadonlyMap<string, string> = new Map([
  ['O', 'output PATH'],
  ['P', 'directory DIR'],
  ['dir', 'directory DIR'],
  ['output-dir', 'directory DIR'],
  ['out', 'output PATH'],
  ['recursive', 'all'],
  ['f', 'if-exists overwrite'],
  ['force', 'if-exists overwrite'],
  ['overwrite', 'if-exists overwrite'],
  ['dry', 'dry-run'],
  ['parallel', 'jobs N'],
  ['timeout', 'deadline DURATION'],
  ['url', 'base-url URL'],
  ['no-color', 'color never'],
]);

/** Options of other programs that have no equivalent here, each with the hint about it. */
const RESUMES = 'omit it: interrupted downloads are resumed without an option';
const CHECKS_CERTIFICATES =
  'certificate checks cannot be disabled; NODE_EXTRA_CA_CERTS=FILE in the environment adds an authority';
const NO_EQUIVALENT: ReadonlyMap<string, string> = new Map([
  ['c', RESUMES],
  ['C', RESUMES],
  ['continue', RESUMES],
  ['continue-at', RESUMES],
  ['resume', RESUMES],
  ['k', CHECKS_CERTIFICATES],
  ['insecure', CHECKS_CERTIFICATES],
  ['no-check-certificate', CHECKS_CERTIFICATES],
]);

const OTHER_COMMANDS: ReadonlyMap<string, string> = new Map([
  ['ls', 'list'],
  ['get', 'download'],
  ['fetch', 'download'],
  ['check', 'verify'],
  ['jwt', 'token'],
  ['login', 'config set api-key'],
  ['version', 'filings --version'],
]);

interface Position extends CommandPlace {
  readonly command: Command;
  readonly options: readonly NamedOption[];
  /** For a command that runs when none is named: those that could have been. */
  readonly siblings: readonly CommandSpec[] | undefined;
}

/** Commander's error in the words of this program. It echoes nothing that may be a value, because that may be a key. */
export function usageError(error: CommanderError, position: Position): FilingsError {
  const { path, spec, command, options, siblings } = position;
  const [word = ''] = command.args;
  if (error.code === 'commander.unknownOption') return unknownOption(error.message, path, options);
  if (error.code === 'commander.unknownCommand') return unknownCommand(path, word, spec.children ?? []);
  if (error.code === 'commander.excessArguments' && siblings) return unknownCommand(path.slice(0, -1), word, siblings);
  return new FilingsError('usage', messageOf(error, position), { hint: helpHint(path) });
}

function messageOf({ code, message }: CommanderError, { path, spec, command, options }: Position): string {
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
    return new FilingsError('usage', `${flag}: takes no value`, { hint: helpHint(path) });
  }
  const usual = OTHER_OPTIONS.get(word);
  const meant = usual && known.includes(usual.split(' ', 1).join()) ? usual : nearest(word, known);
  const hint = NO_EQUIVALENT.get(word) ?? (meant === undefined ? helpHint(path) : `did you mean --${meant}?`);
  return new FilingsError('usage', `${flag}: no such option`, { hint });
}

/** The error does not echo a text that does not look like a word, because it may be a token or a key. */
export function unknownCommand(path: readonly string[], word: string, known: readonly CommandSpec[]): FilingsError {
  const written = [...path, ...(/^[a-z-]{1,24}$/i.test(word) ? [word] : [])].join(' ');
  const names = known.map(({ name }) => name);
  const meant = (path.length === 0 ? OTHER_COMMANDS.get(word) : undefined) ?? nearest(word, names);
  const hint = meant === undefined ? helpHint(path) : `did you mean ${meant}?`;
  return new FilingsError('usage', `${written || 'the first argument'}: no such command`, { hint });
}

function helpHint(path: readonly string[]): string {
  return `see ${['filings', ...path].join(' ')} --help`;
}
