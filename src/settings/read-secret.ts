import type { ExecFileException } from 'node:child_process';
import { promisify } from 'node:util';
import { childOf } from '../abort.ts';
import { systemReason } from '../disk/failure.ts';
import { readSecretFile } from '../disk/secret-file.ts';
import { FilingsError } from '../errors.ts';
import { readStdin } from '../stdio/input.ts';
import { inSeconds, shortened, textOf } from '../text.ts';
import type { World } from '../world.ts';

export type SecretPlace =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'command'; readonly argv: readonly string[] };

/** A program that asks a person for a password may take this long. */
const PATIENCE_MS = 30_000;
const MAX_KIB = 64;
/** Bytes. */
const MAX_OUTPUT = 1024 * 1024;
/** Of stderr, after it was redacted. UTF-16 units. */
const MAX_COMPLAINT = 500;

/**
 * Less one line break at its end; it is remembered as a secret.
 * @throws FilingsError `config` without a byte of the secret; the signal's reason
 */
export async function readSecret(place: SecretPlace, what: 'API key' | 'JWT', world: World): Promise<string> {
  const { name, text } = await textAt(place, what, world);
  const secret = text.replace(/\r?\n$/, '');
  // Every form of a secret is looked for in whatever is said.
  if (secret.length > MAX_KIB * 1024)
    throw new FilingsError('config', `larger than ${MAX_KIB} KiB`, { subject: { name } });
  world.secrets.add(secret);
  const fault = faultOf(secret);
  if (fault === undefined) return secret;
  throw new FilingsError('config', fault, {
    subject: { name },
    hint: `it must be one line, and nothing but the ${what} itself`,
  });
}

async function textAt(place: SecretPlace, what: string, world: World) {
  if (place.kind === 'value') return { name: what, text: place.value };
  if (place.kind === 'command') {
    const name = `${what} of apiKeyCommand: ${place.argv[0]}`;
    return { name, text: await firstLineOf(place.argv, name, world) };
  }
  if (place.path === '-') return { name: `${what} from stdin`, text: await textFromStdin(what, world) };
  const bytes = await readSecretFile(place.path, `${what} file`, world);
  return { name: `${what} file ${place.path}`, text: textOf(bytes) };
}

/** On a terminal it is a line that is not shown. */
async function textFromStdin(what: string, world: World): Promise<string> {
  if (world.stdin.isTTY) return (await import('../stdio/prompt.ts')).askHidden(what, world);
  return textOf(await readStdin(world.stdin, what, world.interrupt));
}

/** Runs a program without a shell, to its end; the first line of its stdout. */
async function firstLineOf([program = '', ...args]: readonly string[], name: string, world: World): Promise<string> {
  const { execFile } = await import('node:child_process');
  const wrong = (why: string, cause?: unknown) => new FilingsError('config', why, { subject: { name }, cause });
  const { signal, abort, detach } = childOf(world.interrupt);
  const late = () => abort(wrong(`wrote no key within ${inSeconds(PATIENCE_MS)}`));
  world.sleep(PATIENCE_MS, signal).then(late, () => {});
  try {
    signal.throwIfAborted();
    const { cwd, env } = world;
    const running = promisify(execFile)(program, args, { cwd, env: { ...env }, signal, maxBuffer: MAX_OUTPUT });
    running.child.stdin?.end();
    return firstLine((await running).stdout);
  } catch (error) {
    signal.throwIfAborted();
    const { stdout = '', stderr = '', code, signal: endedBy } = error as Partial<ExecFileException>;
    // Before anything is told: a program that fails may repeat on stderr the key that it wrote.
    world.secrets.add(firstLine(stdout).trim());
    if (code === 'ENOENT') throw wrong('no such program', error);
    if (code === 'EINVAL' && /\.(cmd|bat)$/i.test(program)) {
      throw wrong(
        'is a script of cmd.exe, which cannot be run without a shell: name the program that it starts',
        error,
      );
    }
    if (typeof code === 'string') throw wrong(`cannot be run: ${systemReason(error)}`, error);
    const said = shortened(world.secrets.redact(firstLine(stderr.trim())), MAX_COMPLAINT);
    const ended = endedBy ? `was ended by ${endedBy}` : `exited with status ${code}`;
    throw wrong(said === '' ? ended : `${ended}: ${said}`);
  } finally {
    abort(undefined);
    detach();
  }
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/\r$/, '');
}

/** Why a text can't be a credential in a header (RFC 9110 section 5.5). */
export function faultOf(secret: string): string | undefined {
  if (secret === '') return 'is empty';
  if (/[\r\n]/.test(secret)) return 'has a line break inside';
  if (!/^[\t\x20-\x7e]*$/.test(secret)) return 'has a character that no header may hold';
  return /^\s|\s$/.test(secret) ? 'begins or ends with a blank' : undefined;
}
