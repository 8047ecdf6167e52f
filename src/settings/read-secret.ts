import { readSecretFile } from '../disk/secret-file.ts';
import { FilingsError } from '../errors.ts';
import { requireSecretSize } from '../secrets.ts';
import { readAll } from '../stdio/input.ts';
import type { World } from '../world.ts';
import type { SecretPlace } from './credentials.ts';

const TOKEN = 'JWT';

/**
 * The API key from where the settings say it is. Remembered as a secret.
 * @throws FilingsError `config` without a byte of the key
 */
export function readKey(source: SecretPlace, world: World, signal: AbortSignal = world.interrupt): Promise<string> {
  return readSecret(source, 'API key', world, signal);
}

/**
 * The JWT that is sent as it is. Remembered as a secret.
 * @throws FilingsError `config` without a byte of the token
 */
export function readJwt(place: SecretPlace, world: World, signal: AbortSignal = world.interrupt): Promise<string> {
  return readSecret(place, TOKEN, world, signal);
}

async function readSecret(source: SecretPlace, what: string, world: World, signal: AbortSignal): Promise<string> {
  const secret = (await rawSecret(source, what, world, signal)).replace(/\r?\n$/, '');
  requireSecretSize(secret, nameOf(source, what));
  world.secrets.add(secret);
  const fault = faultOf(secret) ?? (what === TOKEN && isHeader(secret) ? 'is a header, not a token alone' : undefined);
  if (fault === undefined) return secret;
  throw new FilingsError('config', `${nameOf(source, what)}: ${fault}`, {
    hint: `it must be one line, and nothing but the ${what} itself`,
  });
}

/** What `token sign --header` prints, or a part of it: it would be sent as `Bearer Bearer ...`. */
function isHeader(token: string): boolean {
  return /^(?:authorization\s*:|bearer\s)/i.test(token);
}

async function rawSecret(source: SecretPlace, what: string, world: World, signal: AbortSignal): Promise<string> {
  switch (source.kind) {
    case 'value':
      return source.value;
    case 'command': {
      const { firstLineOf } = await import('./key-command.ts');
      return firstLineOf(source.argv, what, world, signal);
    }
    case 'file': {
      const { path } = source;
      const bytes =
        path === '-'
          ? await readAll(world.stdin, what, signal)
          : await readSecretFile(path, `${what} file`, { uid: world.uid, env: world.env, interrupt: signal });
      return bytes.toString();
    }
  }
}

function nameOf(source: SecretPlace, what: string): string {
  switch (source.kind) {
    case 'value':
      return what;
    case 'command':
      return `${what} of apiKeyCommand`;
    case 'file':
      return source.path === '-' ? `${what} from stdin` : `${what} file ${source.path}`;
  }
}

/** Why a text can't be a credential in a header (RFC 9110 section 5.5), or undefined. */
export function faultOf(secret: string): string | undefined {
  if (secret === '') return 'is empty';
  if (/[\r\n]/.test(secret)) return 'has a line break inside';
  if (!/^[\t\x20-\x7e]*$/.test(secret)) return 'has a character that no header may hold';
  return /^\s|\s$/.test(secret) ? 'begins or ends with a blank' : undefined;
}
