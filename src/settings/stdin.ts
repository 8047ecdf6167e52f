import { FilingsError } from '../errors.ts';
import { envLayer, flagLayer, winners } from './layers.ts';
import type { Settings } from './settings.ts';
import { keyOf, tokenOf } from './typed-credentials.ts';

/** Who among the settings reads stdin, as a person would write it. */
export function stdinUsers({ key, token }: Pick<Settings, 'key' | 'token'>): readonly string[] {
  const users: string[] = [];
  if (key?.kind === 'file' && key.path === '-') users.push('--api-key-file -');
  if (token?.kind === 'file' && token.path === '-') users.push('--jwt-file -');
  return users;
}

/** The same from flags and environment alone, for commands that resolve no settings. Throws `usage`: two of one secret. */
export function stdinUsersGiven(
  flags: Readonly<Record<string, string | boolean | undefined>>,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  // Which folder a path is relative to does not matter here.
  const given = winners([flagLayer(flags, '/'), envLayer(env, '/')]);
  return stdinUsers({ key: keyOf(given), token: tokenOf(given) });
}

/**
 * Standard streams have one user each. Whoever does not ask for it may be given as false or undefined:
 * `requireOneUser('stdin', [...stdinUsers(settings), input === '-' && '--input -'])`.
 * @throws FilingsError `usage`
 */
export function requireOneUser(stream: 'stdin' | 'stdout', users: readonly (string | false | undefined)[]): void {
  const [first, second] = users.filter((user) => typeof user === 'string');
  if (second === undefined) return;
  throw new FilingsError('usage', `${first} and ${second}: ${stream} has one user`, {
    hint: 'use a file for all but one of them',
  });
}
