import type { FilingsError } from '../../errors.ts';
import type { KeyFiles } from '../../jwt/keys.ts';
import { resolveUserPath } from '../../paths.ts';
import type { Invocation } from '../../spec/command.ts';
import { readStdin, refuseSharedStream } from '../../stdio/input.ts';
import { write } from '../../stdio/output.ts';
import { printableJson, printableJsonSource } from '../../terminal/printable.ts';
import { decodeText } from '../../text.ts';
import type { World } from '../../world.ts';
import type { KEY_OPTIONS } from './spec.ts';

/**
 * Stdin must not also be given for the token or, by a flag, for a credential of the service, even if the command would
 * not read that credential.
 *
 * @param tokenOnStdin how an error calls the token, such as `TOKEN`, if the token is read from stdin
 */
export function resolveKeyFiles(
  { options, flags }: Pick<Invocation<typeof KEY_OPTIONS>, 'options' | 'flags'>,
  world: World,
  tokenOnStdin?: string | false,
): KeyFiles {
  const { key, secretFile, passphraseFile } = options;
  refuseSharedStream('stdin', [
    key === '-' && '--key -',
    secretFile === '-' && '--secret-file -',
    tokenOnStdin,
    flags.apiKeyFile === '-' && '--api-key-file -',
    flags.jwtFile === '-' && '--jwt-file -',
  ]);
  const absolute = (path: string | undefined) => path && resolveUserPath(path, world);
  const absoluteOrStdin = (path: string | undefined) => (path === '-' ? path : absolute(path));
  return {
    keyFile: absoluteOrStdin(key),
    secretFile: absoluteOrStdin(secretFile),
    passphraseFile: absolute(passphraseFile),
  };
}

export function isStdin(argument: string | undefined): argument is '-' | undefined {
  return argument === undefined || argument === '-';
}

/** Removes one line break at the end of stdin, but leaves an argument unchanged. */
export async function readTokenInput(argument: string | undefined, world: World): Promise<string> {
  if (!isStdin(argument)) return argument;
  return decodeText(await readStdin('token', world, 'Enter')).replace(/\r?\n$/, '');
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
