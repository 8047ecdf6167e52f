import type { Command, CommanderError } from 'commander';
import { FilingsError } from '../errors.ts';
import type { CommandPlace } from '../help/program.ts';
import type { CommandSpec } from '../spec/command.ts';
import { nearest } from '../spec/nearest.ts';
import type { NamedOption } from '../spec/option.ts';

/** What other programs call an option, and what it is here. */
const OTHER_OPTIONS: Readonly<Record<string, string>> = {
  O: 'output PATH',
  out: 'output PATH',
  dir: 'directory DIR',
  'output-dir': 'directory DIR',
  recursive: 'all',
  f: 'if-exists overwrite',
  force: 'if-exists overwrite',
  overwrite: 'if-exists overwrite',
  'no-clobber': 'if-exists skip',
  dry: 'dry-run',
  parallel: 'jobs N',
  concurrency: 'jobs N',
  timeout: 'deadline DURATION',
  'max-time': 'deadline DURATION',
  url: 'base-url URL',
  silent: 'quiet',
  'no-color': 'color never',
  'no-progress': 'progress none',
};

/** What other programs call a command, and what it is here. */
const OTHER_COMMANDS: Readonly<Record<string, string>> = {
  ls: 'list',
  get: 'download',
  fetch: 'download',
  check: 'verify',
  jwt: 'token',
  login: 'config set api-key',
  man: 'help',
  version: 'filings --version',
};

/** Where on the command line it went wrong. */
interface Position {
  readonly place: CommandPlace;
  readonly command: Command;
  readonly options: readonly NamedOption[];
  /** For a command that runs when none is named: those that could have been. */
  readonly siblings: readonly CommandSpec[] | undefined;
}

/** Commander's complaint in our words: nothing that may be a value is echoed, since it may be a key. */
export function usageError(error: CommanderError, { place, command, options, siblings }: Position): FilingsError {
  const { path, spec } = place;
  const [word = ''] = command.args;
  const quoted = /'([^']*)'/.exec(error.message)?.[1] ?? '';
  const flags = error.message.match(/--[\w-]+/g) ?? [];
  const said = (what: string) => new FilingsError('usage', what, { hint: helpHint(path) });
  switch (error.code) {
    case 'commander.unknownOption':
      return unknownOption(quoted, path, options);
    case 'commander.unknownCommand':
      return unknownCommand(path, word, spec.children ?? []);
    case 'commander.missingArgument':
      return said(`${path.join(' ')}: ${quoted} is missing`);
    case 'commander.invalidArgument':
      return said(error.message.replace(/^.*argument '(\w+)'\. Allowed choices are (.*)\.$/, '$1: must be one of $2'));
    case 'commander.optionMissingArgument':
      return said(`${flags[0]}: a value is missing`);
    case 'commander.excessArguments':
      return siblings
        ? unknownCommand(path.slice(0, -1), word, siblings)
        : said(`${path.join(' ')}: too many arguments`);
    case 'commander.conflictingOption':
      return said(flags.join(' cannot be used with '));
    default:
      return said(`${path.join(' ') || 'filings'}: ${error.message.replace(/^error: /, '')}`);
  }
}

function unknownOption(written: string, path: readonly string[], options: readonly NamedOption[]): FilingsError {
  const flag = written.startsWith('--') ? written.split('=', 1).join() : written.slice(0, 2);
  const word = flag.replace(/^--?/, '');
  const known = [...options.map((option) => option.flag), 'help', ...(path.length === 0 ? ['version'] : [])];
  if (flag.startsWith('--') && known.includes(word)) {
    return new FilingsError('usage', `${flag}: takes no value`, { hint: helpHint(path) });
  }
  const usual = OTHER_OPTIONS[word];
  const meant = usual && known.includes(usual.split(' ', 1).join()) ? usual : nearest(word, known);
  const hint = meant === undefined ? helpHint(path) : `did you mean --${meant}?`;
  return new FilingsError('usage', `${flag}: no such option`, { hint });
}

/** What does not look like a word may be a token or a key. */
export function unknownCommand(path: readonly string[], word: string, known: readonly CommandSpec[]): FilingsError {
  const written = [...path, ...(/^[a-z-]{1,24}$/i.test(word) ? [word] : [])].join(' ');
  const names = known.map(({ name }) => name);
  const meant = (path.length === 0 ? OTHER_COMMANDS[word] : undefined) ?? nearest(word, names);
  const hint = meant === undefined ? helpHint(path) : `did you mean ${meant}?`;
  return new FilingsError('usage', `${written || 'the first argument'}: no such command`, { hint });
}

function helpHint(path: readonly string[]): string {
  return `see ${['filings', ...path].join(' ')} --help`;
}
