import { FilingsError } from '../errors.ts';

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
