import { shellWord } from '../text.ts';
import { SHARED_OPTIONS } from './table.ts';

/** What chooses the service and its credentials beside the settings that say so themselves. */
const CHOOSING = ['config', 'profile', 'sandbox'];

/**
 * A command of this program as a hint shows it: with those flags of this run that choose the service, so that it works
 * when it is pasted. No secret is among them, nor what was read from stdin.
 */
export function hintCommand(command: string, flags: Readonly<Record<string, unknown>>): string {
  const words = SHARED_OPTIONS.flatMap(({ key, flag, service, secret }) => {
    const value = flags[key];
    if (secret || !(service || CHOOSING.includes(key)) || value === '-') return [];
    if (value === true) return [`--${flag}`];
    return typeof value === 'string' ? [flagWith(flag, value)] : [];
  });
  return [command, ...words].join(' ');
}

function flagWith(flag: string, value: string): string {
  return value.startsWith('-') ? `--${flag}=${shellWord(value)}` : `--${flag} ${shellWord(value)}`;
}
