import { expect, test } from 'vitest';
import { stdinUsersGiven } from '../../src/settings/credentials.ts';
import { requireOneUser } from '../../src/stdio/one-user.ts';

test.each<[Record<string, string>, Record<string, string>, string[]]>([
  [{}, {}, []],
  [{ apiKeyFile: '-' }, {}, ['--api-key-file -']],
  [{}, { FILINGS_API_KEY_FILE: '-' }, ['--api-key-file -']],
  [{ jwtFile: '-' }, { FILINGS_API_KEY_FILE: '-' }, ['--api-key-file -', '--jwt-file -']],
  [{ apiKeyFile: 'key' }, { FILINGS_API_KEY_FILE: '-' }, []],
  // A flag replaces the variables of its group.
  [{ apiKey: 'k' }, { FILINGS_API_KEY_FILE: '-' }, []],
  // That is a file of this name.
  [{ config: '-' }, {}, []],
])('with flags %j and variables %j stdin has the users %j', (flags, env, users) =>
  expect(stdinUsersGiven(flags, env)).toEqual(users),
);

test('a second user is refused', () => {
  expect(() => requireOneUser('stdin', ['--input -', false, undefined])).not.toThrow();
  expect(() => requireOneUser('stdin', ['--input -', '--jwt-file -'])).toThrow(
    expect.objectContaining({ code: 'usage', message: '--input - and --jwt-file -: stdin has one user' }),
  );
});
