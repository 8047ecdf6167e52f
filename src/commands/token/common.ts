// Shared by the token commands: the source of the key and of the token, the text of a decoded token, and the answer to a
// token that is refused.
import { FilingsError } from '../../errors.ts';
import type { KeyFiles } from '../../jwt/keys.ts';
import { MAX_TOKEN, type Refusal } from '../../jwt/token.ts';
import { typedPath } from '../../paths.ts';
import type { Invocation } from '../../spec/command.ts';
import { readStdin, requireOneUser, withPrompt } from '../../stdio/input.ts';
import { write } from '../../stdio/output.ts';
import { printableJson, printableJsonText } from '../../terminal/printable.ts';
import { textOf } from '../../text.ts';
import type { World } from '../../world.ts';
import type { KEY_OPTIONS } from './spec.ts';

/**
 * Returns the key's files, and the bytes of stdin if one of them is `-`. Throws `usage` if something else reads stdin,
 * too: `tokenUser`, or a flag for a key or a token of the service.
 */
export async function keyFilesOf(
  { options, flags }: Pick<Invocation<typeof KEY_OPTIONS>, 'options' | 'flags'>,
  world: World,
  tokenUser?: string | false,
): Promise<KeyFiles> {
  const { key, secretFile, passphraseFile } = options;
  const user = key === '-' ? '--key -' : secretFile === '-' && '--secret-file -';
  const others = [flags.apiKeyFile === '-' && '--api-key-file -', flags.jwtFile === '-' && '--jwt-file -'];
  requireOneUser('stdin', [user, tokenUser, ...others]);
  const read = () => readStdin(world.stdin, String(user), world.interrupt);
  const stdin = user ? await withPrompt(world, `paste what ${user} takes, then press Ctrl-D:`, read) : undefined;
  const absolute = (path: string | undefined) => path && typedPath(path, world);
  return { keyFile: absolute(key), secretFile: absolute(secretFile), passphraseFile: absolute(passphraseFile), stdin };
}

/** Returns whether the argument TOKEN stands for stdin. */
export function isStdin(argument: string | undefined): argument is '-' | undefined {
  return argument === undefined || argument === '-';
}

/** Returns the argument unchanged, or stdin without the line break at its end. */
export async function readTokenInput(argument: string | undefined, world: World): Promise<string> {
  if (!isStdin(argument)) return argument;
  const read = () => readStdin(world.stdin, 'token', world.interrupt, { maxBytes: 2 * MAX_TOKEN, isLine: true });
  const bytes = await withPrompt(world, 'paste the token, then press Enter:', read);
  return textOf(bytes).replace(/\r?\n$/, '');
}

/** Prints a refusal in JSON, if `json` has its other members. Then throws `auth`. */
export async function refuseToken(
  { failedCheck: failed_check, reason, hint }: Refusal,
  verdict: 'cannot be read' | 'is not valid',
  json: object | false,
  world: World,
): Promise<never> {
  if (json) await write(world.stdout, `${printableJson({ ...json, failed_check, reason })}\n`, world.interrupt);
  const fromFile = failed_check === 'format' ? 'a token in a file is read from stdin: - < FILE' : undefined;
  throw new FilingsError('auth', `the token ${verdict} (${failed_check}): ${reason}`, { hint: hint ?? fromFile });
}

/** Returns header and claims of a valid token as JSON texts, exactly as they are signed. */
export function signedTexts(token: string): { readonly header: string; readonly claims: string } {
  const [header = '', claims = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: printableJsonText(header), claims: printableJsonText(claims) };
}
