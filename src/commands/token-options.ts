import { FilingsError } from '../errors.ts';
import { type Algorithm, algorithmFault, findAlgorithm } from '../jwt/algorithms.ts';
import type { KeyFiles } from '../jwt/key-file.ts';
import { presentationOf } from '../settings/presentation.ts';
import { requireOneUser } from '../settings/stdin.ts';
import { readAll } from '../terminal/input.ts';
import { guardStream } from '../terminal/output.ts';
import { printable, printableJson } from '../terminal/printable.ts';
import type { World } from '../world.ts';
import type { Invocation } from './invocation.ts';

/** What several of the token commands take. */

type Options = Invocation['options'];

/** An option's value, given once. */
export function textOf(value: Options[string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A repeatable option's values. */
export function textsOf(value: Options[string]): readonly string[] {
  return Array.isArray(value) ? value : [];
}

/**
 * The files that `--key`, `--secret-file` and `--passphrase-file` name, stdin read where one of them is `-`.
 *
 * @param otherUser who else reads stdin
 * @throws FilingsError `usage`: a key and a secret, or two users of stdin
 */
export async function keyFilesOf(options: Options, world: World, otherUser?: string): Promise<KeyFiles> {
  const [keyFile, secretFile, passphraseFile] = ['key', 'secretFile', 'passphraseFile'].map((name) =>
    textOf(options[name]),
  );
  if (keyFile !== undefined && secretFile !== undefined) {
    throw new FilingsError('usage', '--key and --secret-file: they exclude each other');
  }
  if (secretFile !== undefined && passphraseFile !== undefined) {
    throw new FilingsError('usage', '--passphrase-file: a secret file has no passphrase');
  }
  const users = [
    keyFile === '-' && '--key -',
    secretFile === '-' && '--secret-file -',
    passphraseFile === '-' && '--passphrase-file -',
  ].filter((user) => user !== false);
  requireOneUser('stdin', [...users, otherUser]);
  const stdin = users[0] === undefined ? undefined : await readKeyFromStdin(users[0], world);
  return {
    ...(keyFile !== undefined && { keyFile }),
    ...(secretFile !== undefined && { secretFile }),
    ...(passphraseFile !== undefined && { passphraseFile }),
    ...(stdin !== undefined && { stdin }),
  };
}

/**
 * An algorithm of the service.
 *
 * @throws FilingsError `usage`
 */
export function algorithmOf(name: string): Algorithm {
  const algorithm = findAlgorithm(name);
  if (algorithm !== undefined) return algorithm;
  const { reason, hint } = algorithmFault(name);
  throw new FilingsError('usage', `--alg ${name}: ${reason}`, { hint });
}

/** A warning for a person on stderr; an object where errors are. */
export async function warn(text: string, { flags }: Invocation, world: World): Promise<void> {
  if (flags.quiet) return;
  guardStream(world.stderr);
  const line = printable(world.secrets.redact(`warning: ${text}`));
  const { errorFormat } = await presentationOf(flags, world);
  world.stderr.write(errorFormat === 'json' ? `${printableJson({ log: line })}\n` : `filings: ${line}\n`);
}

async function readKeyFromStdin(user: string, world: World): Promise<Buffer> {
  if (world.stdin.isTTY) world.stderr.write(`paste what ${user} takes, then press Ctrl-D:\n`);
  return readAll(world.stdin, user, world.interrupt);
}
