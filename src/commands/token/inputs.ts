import type { JwtKeySource } from '../../jwt/keys.ts';
import { resolveUserPath } from '../../paths.ts';
import { listStdinFlags } from '../../settings/settings.ts';
import type { Invocation } from '../../spec/command.ts';
import { readStdin, refuseSharedStream } from '../../stdio/input.ts';
import { decodeText, removeLineBreak } from '../../text.ts';
import type { World } from '../../world.ts';
import type { KEY_OPTIONS } from './spec.ts';

/**
 * Stdin must not also be given for the token or, by a flag, for a credential of the service, even if the command would
 * not read that credential.
 *
 * @param tokenOnStdin how an error calls the token, such as `TOKEN`, if the token is read from stdin
 */
export function readKeyOptions(
  { options, flags }: Pick<Invocation<typeof KEY_OPTIONS>, 'options' | 'flags'>,
  world: World,
  tokenOnStdin?: string | false,
) {
  const { key, secretFile, passphraseFile } = options;
  refuseSharedStream('stdin', [
    key === '-' && '--key -',
    secretFile === '-' && '--secret-file -',
    tokenOnStdin,
    ...listStdinFlags((name) => flags[name]),
  ]);
  const given = secretFile ?? key;
  const kind: JwtKeySource['kind'] = secretFile === undefined ? 'key' : 'secret';
  const path = given === '-' ? undefined : given && resolveUserPath(given, world);
  return {
    key: given === undefined ? undefined : { kind, path },
    passphraseFile: passphraseFile && resolveUserPath(passphraseFile, world),
  };
}

export function isStdin(argument: string | undefined): argument is '-' | undefined {
  return argument === undefined || argument === '-';
}

/** Removes one line break at the end of stdin, but leaves an argument unchanged. */
export async function readTokenInput(argument: string | undefined, world: World): Promise<string> {
  if (!isStdin(argument)) return argument;
  return removeLineBreak(decodeText(await readStdin('token', world, 'Enter')));
}
