import { resolve } from 'node:path';
import { FilingsError } from '../../errors.ts';
import type { KeyFiles } from '../../jwt/key-file.ts';
import { LONGEST_TOKEN } from '../../jwt/strict-token.ts';
import { presentationOf } from '../../session/presentation.ts';
import { stdinUsersGiven } from '../../settings/credentials.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { invited, readAll, readSome, requireOneUser } from '../../stdio/input.ts';
import { guardStream } from '../../stdio/output.ts';
import { createTeller } from '../../terminal/messages.ts';
import { printableJsonText } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';
import type { KEY_OPTIONS } from './spec.ts';

/** What several of the token commands take. */

/**
 * The files that `--key`, `--secret-file` and `--passphrase-file` name, stdin read where one of them is `-`.
 *
 * @param tokenUser who reads the token from stdin
 * @throws FilingsError `usage`: a key and a secret, or two users of stdin
 */
export async function keyFilesOf(
  { options, flags }: Pick<Invocation<typeof KEY_OPTIONS>, 'options' | 'flags'>,
  world: World,
  tokenUser?: string,
): Promise<KeyFiles> {
  const { key: keyFile, secretFile, passphraseFile } = options;
  if (secretFile !== undefined && passphraseFile !== undefined) {
    throw new FilingsError('usage', '--passphrase-file: a secret file has no passphrase');
  }
  const users = [
    keyFile === '-' && '--key -',
    secretFile === '-' && '--secret-file -',
    passphraseFile === '-' && '--passphrase-file -',
  ].filter((user) => user !== false);
  requireOneUser('stdin', [...users, tokenUser, ...stdinUsersGiven(flags, world.env)]);
  const stdin = users[0] === undefined ? undefined : await readKeyFromStdin(users[0], world);
  const at = (path: string | undefined) => (path && path !== '-' ? resolve(world.cwd, path) : path);
  return { keyFile: at(keyFile), secretFile: at(secretFile), passphraseFile: at(passphraseFile), stdin };
}

/** Anything shorter is no token, and may be a word of a message. */
const SHORTEST_TOKEN = 20;

/**
 * A token given as an argument, as it is; without one or as `-` from stdin, less one line break at its end.
 * On a terminal it is asked for. Remembered as a secret: no message may hold it.
 *
 * @throws FilingsError `local_io`: stdin can't be read; the signal's reason
 */
export async function readTokenInput(argument: string | undefined, world: World): Promise<string> {
  const token = isFromStdin(argument) ? await readPiped(world) : argument;
  if (token.length >= SHORTEST_TOKEN && token.length <= LONGEST_TOKEN) world.secrets.add(token);
  return token;
}

/** Whether the TOKEN argument means stdin. */
export function isFromStdin(argument: string | undefined): argument is undefined | '-' {
  return argument === undefined || argument === '-';
}

async function readPiped(world: World): Promise<string> {
  const read = () => readSome(world.stdin, LONGEST_TOKEN + 2, world.interrupt);
  const bytes = await invited(world, 'paste the token, then press Enter:', read);
  // Latin-1 keeps every byte that is no base64url visible to the strict reader.
  return bytes.toString('latin1').replace(/\r?\n$/, '');
}

/** Header and claims of a sound token as JSON texts, exactly as they are signed. */
export function signedTexts(token: string): { readonly header: string; readonly claims: string } {
  const [header = '', claims = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: printableJsonText(header), claims: printableJsonText(claims) };
}

/** Who reads stdin when the TOKEN argument is absent or `-`, as a person would write it. */
export function tokenOnStdin(argument: string | undefined): string {
  return argument === '-' ? 'TOKEN -' : 'no TOKEN (it is read from stdin)';
}

/** Says on stderr what a person should know, or mind. */
export async function tell(
  kind: 'note' | 'warning',
  lines: readonly (string | undefined)[],
  { flags }: Pick<Invocation, 'flags'>,
  world: World,
): Promise<void> {
  const given = lines.filter((line) => line !== undefined);
  if (given.length === 0) return;
  const { stderr, secrets } = world;
  guardStream(stderr);
  const { errorFormat, quiet } = await presentationOf(flags, world);
  const teller = createTeller({ errorFormat, quiet, secrets }, (line) => stderr.write(line));
  for (const line of given) teller(kind, line);
}

function readKeyFromStdin(user: string, world: World): Promise<Buffer> {
  const read = () => readAll(world.stdin, user, world.interrupt);
  return invited(world, `paste what ${user} takes, then press Ctrl-D:`, read);
}
