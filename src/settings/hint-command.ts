// Makes commands for hints. Takes the flags or the command line of this run, and gives a line that can be pasted into a
// shell. A typed key never appears in it.
import type { Flags } from '../spec/command.ts';
import { shellWord } from '../text.ts';
import { SHARED_OPTIONS } from './table.ts';

/** Settings that choose the service and its credentials, in addition to those that the table marks with `service`. */
const SERVICE_SELECTORS = ['config', 'profile', 'sandbox'];

/**
 * Returns the command with the flags that choose the service, so that the command works when it is pasted. Flags with a
 * secret and flags that read stdin are omitted.
 */
export function hintCommand(command: string, flags: Flags): string {
  const words = SHARED_OPTIONS.flatMap(({ key, flag, service, secret }) => {
    const value = flags[key];
    if (secret || !(service || SERVICE_SELECTORS.includes(key)) || value === '-') return [];
    if (value === true) return [`--${flag}`];
    return typeof value === 'string' ? [`--${flag}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}`] : [];
  });
  return [command, ...words].join(' ');
}

/** Returns a command that changes the config file, with `--config` and `--profile` of this run. */
export function configCommand(command: string, { config, profile }: Flags): string {
  return hintCommand(command, { config, profile });
}

/**
 * Returns the command line of this run with some words replaced and without a typed key, quoted for a shell.
 * @param replacements the words that replace a word; an empty list removes it
 * @param addedWords words that are appended
 */
export function rewriteCommand(
  argv: readonly string[],
  replacements: ReadonlyMap<string, readonly string[]>,
  addedWords: readonly string[] = [],
): string {
  const isSecret = (word = '') => SHARED_OPTIONS.some(({ flag, secret }) => secret && word === `--${flag}`);
  const words = argv.filter((word, index) => !isSecret(word.split('=', 1)[0]) && !isSecret(argv[index - 1]));
  const rewritten = words.flatMap((word) => replacements.get(word) ?? [word]);
  return ['filings', ...rewritten, ...addedWords].map(shellWord).join(' ');
}
