import type { KeyFiles } from '../../jwt/keys.ts';
import { MAX_TOKEN } from '../../jwt/token.ts';
import { typedPath } from '../../paths.ts';
import { stdinUsersOf } from '../../settings/settings.ts';
import type { Invocation } from '../../spec/command.ts';
import { readStdin, requireOneUser, withPrompt } from '../../stdio/input.ts';
import { printableJsonText } from '../../terminal/printable.ts';
import { textOf } from '../../text.ts';
import type { World } from '../../world.ts';
import type { KEY_OPTIONS } from './spec.ts';

// Shared by the token commands: the source of the key and of the token, and the text of a decoded token.

/**
 * Returns the key's files, and the bytes of stdin if one of them is `-`. Throws `usage` if something else reads stdin,
 * too.
 */
export async function keyFilesOf(
  { options, flags }: Pick<Invocation<typeof KEY_OPTIONS>, 'options' | 'flags'>,
  world: World,
  tokenUser?: string | false,
): Promise<KeyFiles> {
  const { key, secretFile, passphraseFile } = options;
  const user = key === '-' ? '--key -' : secretFile === '-' && '--secret-file -';
  requireOneUser('stdin', [user, tokenUser, ...stdinUsersOf(flags, world.env)]);
  const read = () => readStdin(world.stdin, String(user), world.interrupt);
  const stdin = user ? await withPrompt(world, `paste what ${user} takes, then press Ctrl-D:`, read) : undefined;
  const absolute = (path: string | undefined) => path && typedPath(path, world);
  return { keyFile: absolute(key), secretFile: absolute(secretFile), passphraseFile: absolute(passphraseFile), stdin };
}

/** Returns the name of the argument if it reads stdin: TOKEN is absent or `-`. */
export function tokenUserOf(argument: string | undefined): string | false {
  return (argument === undefined || argument === '-') && 'TOKEN';
}

/** Returns the argument unchanged, or stdin without the line break at its end. */
export async function readTokenInput(argument: string | undefined, world: World): Promise<string> {
  if (argument !== undefined && argument !== '-') return argument;
  const read = () => readStdin(world.stdin, 'token', world.interrupt, { maxBytes: 2 * MAX_TOKEN, isLine: true });
  const bytes = await withPrompt(world, 'paste the token, then press Enter:', read);
  return textOf(bytes).replace(/\r?\n$/, '');
}

/** The hint for a text that is no token. */
export const FROM_FILE = 'a token in a file is read from stdin: - < FILE';

/** Returns header and claims of a valid token as JSON texts, exactly as they are signed. */
export function signedTexts(token: string): { readonly header: string; readonly claims: string } {
  const [header = '', claims = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: printableJsonText(header), claims: printableJsonText(claims) };
}
