// Shared by the token commands: reading the key and the token, decoding a token that is valid, and reporting one that
// is not.
import { FilingsError } from '../../errors.ts';
import type { KeyFiles } from '../../jwt/keys.ts';
import { MAX_TOKEN_LENGTH, type Refusal } from '../../jwt/token.ts';
import { resolveUserPath } from '../../paths.ts';
import type { Invocation } from '../../spec/command.ts';
import { readStdin, refuseSharedStream, withPrompt } from '../../stdio/input.ts';
import { write } from '../../stdio/output.ts';
import { printableJson, printableJsonSource } from '../../terminal/printable.ts';
import { decodeText } from '../../text.ts';
import type { World } from '../../world.ts';
import type { KEY_OPTIONS } from './spec.ts';

/**
 * Returns the absolute paths of the files of `--key`, `--secret-file` and `--passphrase-file`, and the bytes of stdin
 * if it is the key or the secret. Throws `usage` if stdin is also given for the token or for a credential of the
 * service, even if the command would not read that credential.
 * @param tokenOnStdin how that error calls the token, such as `TOKEN`, if the token is read from stdin. Otherwise
 * false.
 */
export async function resolveKeyFiles(
  { options, flags }: Pick<Invocation<typeof KEY_OPTIONS>, 'options' | 'flags'>,
  world: World,
  tokenOnStdin?: string | false,
): Promise<KeyFiles> {
  const { key, secretFile, passphraseFile } = options;
  const stdinOption = key === '-' ? '--key -' : secretFile === '-' && '--secret-file -';
  const others = [flags.apiKeyFile === '-' && '--api-key-file -', flags.jwtFile === '-' && '--jwt-file -'];
  refuseSharedStream('stdin', [stdinOption, tokenOnStdin, ...others]);
  // Called only if `stdinOption` is a string.
  const read = () => readStdin(world.stdin, String(stdinOption), world.interrupt);
  const prompt = `paste the ${key === '-' ? 'key' : 'secret'}, then press Ctrl-D:`;
  const stdin = stdinOption ? await withPrompt(world, prompt, read) : undefined;
  // Turns `-` into the path of a file named `-`. For the key or the secret it is ignored, because `stdin` is set.
  // `--passphrase-file` never means stdin.
  const absolute = (path: string | undefined) => path && resolveUserPath(path, world);
  return { keyFile: absolute(key), secretFile: absolute(secretFile), passphraseFile: absolute(passphraseFile), stdin };
}

/** Returns whether the token is read from stdin, and not from this argument. */
export function isStdin(argument: string | undefined): argument is '-' | undefined {
  return argument === undefined || argument === '-';
}

/** Returns the token: the argument unchanged, or all of stdin except one line break at its end. */
export async function readTokenInput(argument: string | undefined, world: World): Promise<string> {
  if (!isStdin(argument)) return argument;
  // Twice the maximum, because PowerShell writes UTF-16, with two bytes for each character. More is cut off, and the
  // token is then refused when it is decoded. `endsAtLine`: on a terminal, Enter is enough, and Ctrl-D is not needed.
  const maxBytes = 2 * MAX_TOKEN_LENGTH;
  const read = () => readStdin(world.stdin, 'token', world.interrupt, { maxBytes, endsAtLine: true });
  const bytes = await withPrompt(world, 'paste the token, then press Enter:', read);
  return decodeText(bytes).replace(/\r?\n$/, '');
}

/**
 * Always throws: the `auth` error about a token that was refused. With `--json`, first prints an object with the reason
 * to stdout.
 * @param json the other members of that object, or false without `--json`
 */
export async function reportRefusal(
  { failedCheck: failed_check, reason, hint }: Refusal,
  verdict: 'cannot be read' | 'is not valid',
  json: object | false,
  world: World,
): Promise<never> {
  if (json) await write(world.stdout, `${printableJson({ ...json, failed_check, reason })}\n`, world.interrupt);
  // The user may have passed the name of a file.
  const fileHint =
    failed_check === 'format' ? 'if you passed the name of a file, pass its contents instead: - < FILE' : undefined;
  throw new FilingsError('auth', `the token ${verdict} (${failed_check}): ${reason}`, { hint: hint ?? fileHint });
}

/**
 * Returns the header and the claims of a token as the JSON text that is in the token. Parsing it and printing it again
 * would change numbers that JavaScript cannot represent. Checks nothing, so call it only for a token that this program
 * has just signed or verified.
 */
export function decodeSignedParts(token: string): { readonly header: string; readonly claims: string } {
  const [header = '', claims = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: printableJsonSource(header), claims: printableJsonSource(claims) };
}
