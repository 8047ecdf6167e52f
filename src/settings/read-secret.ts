import { readSecretFile } from '../disk/secret-file.ts';
import { FilingsError } from '../errors.ts';
import { requireSecretSize } from '../secrets.ts';
import { readStdin } from '../stdio/input.ts';
import type { World } from '../world.ts';
import type { SecretPlace } from './credentials.ts';

/**
 * A secret from where the settings say it is, less one line break at its end. Remembered as one.
 * @throws FilingsError `config` without a byte of the secret
 */
export async function readSecret(
  place: SecretPlace,
  what: 'API key' | 'JWT',
  world: World,
  signal: AbortSignal = world.interrupt,
): Promise<string> {
  const { name, text } = await textAt(place, what, world, signal);
  const secret = text.replace(/\r?\n$/, '');
  requireSecretSize(secret, name);
  world.secrets.add(secret);
  // What `token sign --header` prints would be sent as `Bearer Bearer ...`.
  const isHeader = what === 'JWT' && /^(?:authorization\s*:|bearer\s)/i.test(secret);
  const fault = faultOf(secret) ?? (isHeader ? 'is a header, not a token alone' : undefined);
  if (fault === undefined) return secret;
  throw new FilingsError('config', `${name}: ${fault}`, {
    hint: `it must be one line, and nothing but the ${what} itself`,
  });
}

async function textAt(place: SecretPlace, what: string, world: World, signal: AbortSignal) {
  if (place.kind === 'value') return { name: what, text: place.value };
  if (place.kind === 'command') {
    const { firstLineOf } = await import('./key-command.ts');
    return { name: `${what} of apiKeyCommand`, text: await firstLineOf(place.argv, what, world, signal) };
  }
  const { path } = place;
  if (path === '-') {
    return { name: `${what} from stdin`, text: (await readStdin(world.stdin, what, signal)).toString() };
  }
  const bytes = await readSecretFile(path, `${what} file`, { uid: world.uid, env: world.env, interrupt: signal });
  return { name: `${what} file ${path}`, text: bytes.toString() };
}

/** Why a text can't be a credential in a header (RFC 9110 section 5.5), or undefined. */
export function faultOf(secret: string): string | undefined {
  if (secret === '') return 'is empty';
  if (/[\r\n]/.test(secret)) return 'has a line break inside';
  if (!/^[\t\x20-\x7e]*$/.test(secret)) return 'has a character that no header may hold';
  return /^\s|\s$/.test(secret) ? 'begins or ends with a blank' : undefined;
}
