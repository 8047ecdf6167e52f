import type { Flags } from '../spec/command.ts';
import { shellWord } from '../text.ts';
import { SHARED_OPTIONS } from './table.ts';

/** They choose the service and its credentials, beside the settings that say so themselves. */
const CHOOSING = ['config', 'profile', 'sandbox'];

/**
 * With the flags that choose the service, so that it works when it is pasted. No secret is among
 * them, nor what was read from stdin.
 */
export function hintCommand(command: string, flags: Flags): string {
  const words = SHARED_OPTIONS.flatMap(({ key, flag, service, secret }) => {
    const value = flags[key];
    if (secret || !(service || CHOOSING.includes(key)) || value === '-') return [];
    if (value === true) return [`--${flag}`];
    return typeof value === 'string' ? [`--${flag}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}`] : [];
  });
  return [command, ...words].join(' ');
}

/** As {@link hintCommand}, for a command that changes the config file: where it is, and which profile of it. */
export function configCommand(command: string, { config, profile }: Flags): string {
  return hintCommand(command, { config, profile });
}

/**
 * Returns this run's own command line with some of its words replaced, as it can be pasted, without a typed key.
 * @param replaced for a word, the words that replace it; there may be none
 * @param added words that follow at the end
 */
export function retyped(
  argv: readonly string[],
  replaced: ReadonlyMap<string, readonly string[]>,
  added: readonly string[] = [],
): string {
  const isSecret = (word = '') => SHARED_OPTIONS.some(({ flag, secret }) => secret && word === `--${flag}`);
  const words = argv.filter((word, index) => !isSecret(word.split('=', 1)[0]) && !isSecret(argv[index - 1]));
  return ['filings', ...words.flatMap((word) => replaced.get(word) ?? [word]), ...added].map(shellWord).join(' ');
}
