import { envLayer, flagLayer, winners } from './layers.ts';
import { keyOf, tokenOf } from './read-credentials.ts';
import type { Settings } from './settings.ts';

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
  // Which directory a path is relative to does not matter here.
  const given = winners([flagLayer(flags, '/'), envLayer(env, '/')]);
  return stdinUsers({ key: keyOf(given), token: tokenOf(given) });
}
