import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { KeyFiles } from '../../jwt/key-file.ts';
import { MAX_TOKEN } from '../../jwt/token.ts';
import { rewriteCommand } from '../../settings/hint-command.ts';
import { stdinUsersOf } from '../../settings/settings.ts';
import type { Invocation } from '../../spec/command.ts';
import { readStdin, requireOneUser, withPrompt } from '../../stdio/input.ts';
import { printableJsonText } from '../../terminal/printable.ts';
import { shellWord } from '../../text.ts';
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
  const absolute = (path: string | undefined) => path && resolve(world.cwd, path);
  return { keyFile: absolute(key), secretFile: absolute(secretFile), passphraseFile: absolute(passphraseFile), stdin };
}

/** Returns the name of the argument if it reads stdin: TOKEN is absent or `-`. */
export function tokenUserOf(argument: string | undefined): string | false {
  return (argument === undefined || argument === '-') && 'TOKEN';
}

/** Returns the argument unchanged, or stdin without the line break at its end. */
export async function readTokenInput(argument: string | undefined, world: World): Promise<string> {
  if (argument !== undefined && argument !== '-') return argument;
  const read = () => readStdin(world.stdin, 'token', world.interrupt, { maxBytes: MAX_TOKEN + 2, isLine: true });
  const bytes = await withPrompt(world, 'paste the token, then press Enter:', read);
  // Latin-1 keeps each byte as one character, so that the token reader finds bytes that are not base64url.
  return bytes.toString('latin1').replace(/\r?\n$/, '');
}

/** Returns a hint if the TOKEN argument is the path of a file; its content can be read from stdin. */
export async function fileHint(argument: string | undefined, { argv, cwd }: World): Promise<string | undefined> {
  if (argument === undefined || argument === '-') return undefined;
  const stats = await stat(resolve(cwd, argument)).catch(() => undefined);
  if (!stats?.isFile()) return undefined;
  return `TOKEN is a file; to read it: ${rewriteCommand(argv, new Map([[argument, ['-']]]))} < ${shellWord(argument)}`;
}

/** Returns header and claims of a valid token as JSON texts, exactly as they are signed. */
export function signedTexts(token: string): { readonly header: string; readonly claims: string } {
  const [header = '', claims = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: printableJsonText(header), claims: printableJsonText(claims) };
}
