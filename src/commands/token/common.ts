import type { FilingsError } from '../../errors.ts';
import type { KeyFiles } from '../../jwt/keys.ts';
import { MAX_TOKEN_LENGTH } from '../../jwt/token.ts';
import { resolveUserPath } from '../../paths.ts';
import type { Invocation } from '../../spec/command.ts';
import { readStdin, refuseSharedStream, withPrompt } from '../../stdio/input.ts';
import { write } from '../../stdio/output.ts';
import { printableJson, printableJsonSource } from '../../terminal/printable.ts';
import { decodeText } from '../../text.ts';
import type { World } from '../../world.ts';
import type { KEY_OPTIONS } from './spec.ts';

/**
 * `stdin` has the key or the secret, if it is there. Stdin must not also be given for the token or for a credential of
 * the service, even if the command would not read that credential.
 *
 * @param tokenOnStdin how an error calls the token, such as `TOKEN`, if the token is read from stdin
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
  const read = () => readStdin(world.stdin, String(stdinOption), world.interrupt);
  const prompt = `paste the ${key === '-' ? 'key' : 'secret'}, then press Ctrl-D:`;
  const stdin = stdinOption ? await withPrompt(world, prompt, read) : undefined;
  // The path of a `-` is ignored, because `stdin` is set. `--passphrase-file` never means stdin.
  const absolute = (path: string | undefined) => path && resolveUserPath(path, world);
  return { keyFile: absolute(key), secretFile: absolute(secretFile), passphraseFile: absolute(passphraseFile), stdin };
}

export function isStdin(argument: string | undefined): argument is '-' | undefined {
  return argument === undefined || argument === '-';
}

/** Removes one line break at the end of stdin, but leaves an argument unchanged. */
export async function readTokenInput(argument: string | undefined, world: World): Promise<string> {
  if (!isStdin(argument)) return argument;
  // This is twice the maximum, because PowerShell writes UTF-16. More is cut off, and the token is then refused.
  const maxBytes = 2 * MAX_TOKEN_LENGTH;
  const read = () => readStdin(world.stdin, 'token', world.interrupt, { maxBytes, endsAtLine: true });
  const bytes = await withPrompt(world, 'paste the token, then press Enter:', read);
  return decodeText(bytes).replace(/\r?\n$/, '');
}

/** With `--json`, first prints why a token was refused to stdout. `json` has the other members of that object. */
export async function reportRefusal(error: FilingsError, json: object | false, world: World): Promise<never> {
  const { subcode: failed_check, reason } = error;
  if (json && failed_check)
    await write(world.stdout, `${printableJson({ ...json, failed_check, reason })}\n`, world.interrupt);
  throw error;
}

/**
 * Returns the JSON text that is in the token: parsing it and printing it again would change numbers that JavaScript
 * cannot represent. Use it only for a token that has been signed, verified or inspected.
 */
export function decodeTokenParts(token: string): { readonly header: string; readonly claims: string } {
  const [header = '', claims = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: printableJsonSource(header), claims: printableJsonSource(claims) };
}
