import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { KeyFiles } from '../../jwt/key-file.ts';
import { MAX_TOKEN } from '../../jwt/token.ts';
import { retyped } from '../../settings/hint-command.ts';
import { stdinUsersGiven } from '../../settings/settings.ts';
import type { Invocation } from '../../spec/command.ts';
import { readStdin, requireOneUser, withPrompt } from '../../stdio/input.ts';
import { printableJsonText } from '../../terminal/printable.ts';
import { shellWord } from '../../text.ts';
import type { World } from '../../world.ts';
import type { KEY_OPTIONS } from './spec.ts';

/** Stdin is read where one is `-`. Throws `usage`: `tokenUser` or a setting reads it, too. */
export async function keyFilesOf(
  { options, flags }: Pick<Invocation<typeof KEY_OPTIONS>, 'options' | 'flags'>,
  world: World,
  tokenUser?: string | false,
): Promise<KeyFiles> {
  const { key, secretFile, passphraseFile } = options;
  const user = key === '-' ? '--key -' : secretFile === '-' && '--secret-file -';
  requireOneUser('stdin', [user, tokenUser, ...stdinUsersGiven(flags, world.env)]);
  const read = () => readStdin(world.stdin, String(user), world.interrupt);
  const stdin = user ? await withPrompt(world, `paste what ${user} takes, then press Ctrl-D:`, read) : undefined;
  const at = (path: string | undefined) => path && resolve(world.cwd, path);
  return { keyFile: at(key), secretFile: at(secretFile), passphraseFile: at(passphraseFile), stdin };
}

/** Who reads stdin when the TOKEN argument is absent or `-`. */
export function tokenUserOf(argument: string | undefined): string | false {
  return (argument === undefined || argument === '-') && 'TOKEN';
}

/** An argument as it is; otherwise stdin, less one line break at its end. */
export async function readTokenInput(argument: string | undefined, world: World): Promise<string> {
  if (argument !== undefined && argument !== '-') return argument;
  const read = () => readStdin(world.stdin, 'token', world.interrupt, { enough: MAX_TOKEN + 2, isLine: true });
  const bytes = await withPrompt(world, 'paste the token, then press Enter:', read);
  // Latin-1 keeps every byte that is no base64url visible to the strict reader.
  return bytes.toString('latin1').replace(/\r?\n$/, '');
}

/** Returns a hint if the TOKEN argument is the path of a file; its content can be read from stdin. */
export async function fileHint(argument: string | undefined, { argv, cwd }: World): Promise<string | undefined> {
  if (argument === undefined || argument === '-') return undefined;
  const stats = await stat(resolve(cwd, argument)).catch(() => undefined);
  if (!stats?.isFile()) return undefined;
  return `TOKEN is a file; to read it: ${retyped(argv, new Map([[argument, ['-']]]))} < ${shellWord(argument)}`;
}

/** Header and claims of a sound token as JSON texts, exactly as they are signed. */
export function signedTexts(token: string): { readonly header: string; readonly claims: string } {
  const [header = '', claims = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: printableJsonText(header), claims: printableJsonText(claims) };
}
