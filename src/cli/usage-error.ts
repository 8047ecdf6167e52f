import type { Command, CommanderError } from 'commander';
import { FilingsError } from '../errors.ts';
import type { CommandPlace } from '../help/program.ts';
import { accessionIn } from '../service/accession.ts';
import type { CommandSpec } from '../spec/command.ts';
import { nearest } from '../spec/nearest.ts';
import type { NamedOption } from '../spec/option.ts';
import { shellWord } from '../text.ts';

/** Where on the command line it went wrong. */
export interface Position {
  readonly place: CommandPlace;
  readonly command: Command;
  readonly options: readonly NamedOption[];
  /** For a command that runs when none is named: those that could have been. */
  readonly siblings?: readonly CommandSpec[] | undefined;
}

/** Commander's complaint in our words: nothing that may be a value is echoed, since it may be a key. */
export function usageError(error: CommanderError, position: Position): FilingsError {
  const { path, spec } = position.place;
  const { args } = position.command;
  const command = path.join(' ') || 'filings';
  const quoted = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  const help = helpHint(path);
  switch (error.code) {
    case 'commander.unknownOption':
      return unknownOption(quoted, position);
    case 'commander.unknownCommand':
      return unknownCommand(path, args, spec.children ?? []);
    case 'commander.missingArgument':
      return new FilingsError('usage', `${command}: ${quoted} is missing`, { hint: help });
    case 'commander.optionMissingArgument':
      return new FilingsError('usage', `${/--[\w-]+/.exec(quoted)?.[0]}: a value is missing`, { hint: help });
    case 'commander.excessArguments':
      return position.siblings === undefined
        ? new FilingsError('usage', `${command}: too many arguments`, { hint: help })
        : unknownCommand(path.slice(0, -1), args, position.siblings);
    case 'commander.conflictingOption':
      return new FilingsError('usage', flagsIn(error.message).join(' cannot be used with '), {
        hint: help,
      });
    default:
      return new FilingsError('usage', `${command}: ${error.message.replace(/^error: /, '')}`, { hint: help });
  }
}

/** The long flags that a complaint of commander's names: `option '-o, --output <VALUE>' cannot be used with ...`. */
function flagsIn(message: string): readonly string[] {
  return message.match(/--[\w-]+/g) ?? [];
}

function unknownOption(written: string, { options, place: { path } }: Position): FilingsError {
  const help = helpHint(path);
  const flag = written.startsWith('--') ? written.split('=', 1).join() : written.slice(0, 2);
  if (options.some((option) => `--${option.flag}` === flag)) {
    return new FilingsError('usage', `${flag}: takes no value`, { hint: help });
  }
  const known = [...options.map((option) => option.flag), 'help', ...(path.length === 0 ? ['version'] : [])];
  const word = flag.replace(/^--?/, '');
  const usual = OTHER_NAMES[word];
  const meant =
    usual && known.includes(usual.split(' ', 1).join()) ? usual : (beginningWith(word, known) ?? nearest(word, known));
  const hint = meant === undefined ? help : `did you mean --${meant}?`;
  return new FilingsError('usage', `${flag}: no such option`, { hint });
}

/** What other programs call an option, and what it is here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  O: 'output PATH',
  out: 'output PATH',
  'output-document': 'output PATH',
  'output-dir': 'directory DIR',
  dest: 'directory DIR',
  pattern: 'include GLOB',
  recursive: 'all',
  r: 'all',
  f: 'if-exists overwrite',
  force: 'if-exists overwrite',
  overwrite: 'if-exists overwrite',
  clobber: 'if-exists overwrite',
  'no-clobber': 'if-exists skip',
  'skip-existing': 'if-exists skip',
  concurrency: 'jobs N',
  parallel: 'jobs N',
  threads: 'jobs N',
  'max-time': 'deadline DURATION',
  timeout: 'deadline DURATION',
  url: 'base-url URL',
  token: 'jwt-file FILE',
  s: 'quiet',
  silent: 'quiet',
  'no-color': 'color never',
  'no-colour': 'color never',
  'no-progress': 'progress none',
};

/** What other programs call a command, and what it is here. */
const OTHER_COMMANDS: Readonly<Record<string, string>> = {
  ls: 'list',
  dir: 'list',
  get: 'download',
  fetch: 'download',
  pull: 'download',
  check: 'verify',
  jwt: 'token',
  login: 'config set api-key',
  auth: 'config set api-key',
  configure: 'config',
  init: 'config',
  man: 'help',
  version: 'filings --version',
};

/** The one flag that begins so: other programs take it for the whole. */
function beginningWith(word: string, known: readonly string[]): string | undefined {
  const found = known.filter((flag) => flag.startsWith(word));
  return word.length > 2 && found.length === 1 ? found[0] : undefined;
}

function helpHint(path: readonly string[]): string {
  return `see ${['filings', ...path].join(' ')} --help`;
}

/** What does not look like a word may be a token or a key. */
export function unknownCommand(
  path: readonly string[],
  args: readonly string[],
  known: readonly CommandSpec[],
): FilingsError {
  const [word = ''] = args;
  if (path.length === 0 && accessionIn(word)) {
    const end = args.findIndex((one) => one.startsWith('-'));
    const named = end < 0 ? args : args.slice(0, end);
    const meant = `filings ${named.length === 1 ? 'list' : 'download'} ${named.map(shellWord).join(' ')}`;
    return new FilingsError('usage', 'the first argument: a command is wanted', { hint: `did you mean: ${meant}` });
  }
  const written = [...path, ...(/^[a-z-]{1,24}$/i.test(word) ? [word] : [])].join(' ');
  const names = known.map(({ name }) => name);
  const meant = (path.length === 0 ? OTHER_COMMANDS[word] : undefined) ?? nearest(word, names);
  const hint = meant === undefined ? helpHint(path) : `did you mean ${meant}?`;
  return new FilingsError('usage', `${written || 'the first argument'}: no such command`, { hint });
}

/** Whether an option took what looks like another option for its value: `--api-key --json`. */
export function looksLikeOption(value: string, spec: NamedOption, argv: readonly string[]): boolean {
  if (!/^-./.test(value)) return false;
  const isFlag = (word: string) =>
    word === `--${spec.flag}` || (spec.short !== undefined && /^-[^-]/.test(word) && word.endsWith(spec.short));
  return argv.some((word, index) => word === value && index > 0 && isFlag(argv[index - 1] ?? ''));
}
