import type { Command, CommanderError } from 'commander';
import { FilingsError } from '../errors.ts';
import type { CommandPlace } from '../help/program.ts';
import type { CommandSpec } from '../spec/command.ts';
import { nearest } from '../spec/nearest.ts';
import type { NamedOption } from '../spec/option.ts';

/** What other programs call an option or a command, and what it is here. */
const OTHER_OPTIONS: Readonly<Record<string, string>> = {
  O: 'output PATH',
  out: 'output PATH',
  recursive: 'all',
  f: 'if-exists overwrite',
  force: 'if-exists overwrite',
  overwrite: 'if-exists overwrite',
  dry: 'dry-run',
  parallel: 'jobs N',
  timeout: 'deadline DURATION',
  url: 'base-url URL',
  'no-color': 'color never',
};

const OTHER_COMMANDS: Readonly<Record<string, string>> = {
  ls: 'list',
  get: 'download',
  fetch: 'download',
  check: 'verify',
  jwt: 'token',
  login: 'config set api-key',
  version: 'filings --version',
};

interface Position extends CommandPlace {
  readonly command: Command;
  readonly options: readonly NamedOption[];
  /** For a command that runs when none is named: those that could have been. */
  readonly siblings: readonly CommandSpec[] | undefined;
}

/** Commander's complaint, but that nothing is echoed that may be a value, since it may be a key. */
export function usageError(error: CommanderError, { path, spec, command, options, siblings }: Position): FilingsError {
  const [word = ''] = command.args;
  if (error.code === 'commander.unknownOption') return unknownOption(error.message, path, options);
  if (error.code === 'commander.unknownCommand') return unknownCommand(path, word, spec.children ?? []);
  if (error.code === 'commander.excessArguments' && siblings) return unknownCommand(path.slice(0, -1), word, siblings);
  const flags = error.message.match(/--[\w-]+/g) ?? [];
  const said =
    error.code === 'commander.conflictingOption'
      ? flags.join(' cannot be used with ')
      : `${path.join(' ')}: ${error.message.replace(/^error: /, '')}`;
  return new FilingsError('usage', said, { hint: helpHint(path) });
}

function unknownOption(message: string, path: readonly string[], options: readonly NamedOption[]): FilingsError {
  // `--name=value` up to the value, `-xvalue` up to the letter.
  const flag = /'(--[^=']+|-.)/.exec(message)?.[1] ?? '';
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
