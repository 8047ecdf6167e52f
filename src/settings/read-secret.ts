// Reads a key or a token from its source: a value, a file, stdin or the output of a program. Gives the bare secret,
// which is registered for redaction first.
import type { ExecFileException } from 'node:child_process';
import { promisify } from 'node:util';
import { childOf } from '../abort.ts';
import { systemReason } from '../disk/failure.ts';
import { readSecretFile } from '../disk/secret-file.ts';
import { FilingsError } from '../errors.ts';
import { readStdin } from '../stdio/input.ts';
import { inSeconds, shortened, textOf } from '../text.ts';
import type { World } from '../world.ts';

/** The source of a key or a token. A path is absolute, or `-` for stdin. */
export type SecretSource =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'command'; readonly argv: readonly string[] };

/** The time limit for `apiKeyCommand`, in milliseconds. The program may have to ask a person for a password. */
const COMMAND_TIMEOUT_MS = 30_000;
/** The maximum size of a secret, in KiB. It bounds the work of redaction. */
const MAX_KIB = 64;
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** The part of stderr in an error message, in UTF-16 units after redaction. */
const MAX_STDERR_LENGTH = 500;

/**
 * Returns the secret without one line break at its end, and registers it for redaction. Throws `config`, whose message
 * has no byte of the secret, and the signal's reason.
 */
export async function readSecret(source: SecretSource, label: 'API key' | 'JWT', world: World): Promise<string> {
  const { name, text } = await readText(source, label, world);
  const secret = text.replace(/\r?\n$/, '');
  if (secret.length > MAX_KIB * 1024)
    throw new FilingsError('config', `larger than ${MAX_KIB} KiB`, { subject: { name } });
  world.secrets.add(secret);
  const fault = findCredentialFault(secret);
  if (fault === undefined) return secret;
  throw new FilingsError('config', fault, {
    subject: { name },
    hint: `it must be one line, and nothing but the ${label} itself`,
  });
}

async function readText(source: SecretSource, label: string, world: World) {
  if (source.kind === 'value') return { name: label, text: source.value };
  if (source.kind === 'command') {
    const name = `${label} of apiKeyCommand: ${source.argv[0]}`;
    return { name, text: await runCommand(source.argv, name, world) };
  }
  if (source.path === '-') return { name: `${label} from stdin`, text: await readFromStdin(label, world) };
  const bytes = await readSecretFile(source.path, `${label} file`, world);
  return { name: `${label} file ${source.path}`, text: textOf(bytes) };
}

/** Returns all of stdin. On a terminal, prompts for one line that is not echoed. */
async function readFromStdin(label: string, world: World): Promise<string> {
  if (world.stdin.isTTY) return (await import('../stdio/prompt.ts')).askHidden(label, world);
  return textOf(await readStdin(world.stdin, label, world.interrupt));
}

/** Runs a program without a shell and waits for its end. Returns the first line of its stdout. */
async function runCommand([program = '', ...args]: readonly string[], name: string, world: World): Promise<string> {
  const { execFile } = await import('node:child_process');
  const commandError = (reason: string, cause?: unknown) =>
    new FilingsError('config', reason, { subject: { name }, cause });
  const { signal, abort, detach } = childOf(world.interrupt);
  const onTimeout = () => abort(commandError(`wrote no key within ${inSeconds(COMMAND_TIMEOUT_MS)}`));
  world.sleep(COMMAND_TIMEOUT_MS, signal).then(onTimeout, () => {});
  try {
    signal.throwIfAborted();
    const { cwd, env } = world;
    const execution = promisify(execFile)(program, args, { cwd, env: { ...env }, signal, maxBuffer: MAX_OUTPUT_BYTES });
    execution.child.stdin?.end();
    return firstLine((await execution).stdout);
  } catch (error) {
    signal.throwIfAborted();
    const { stdout = '', stderr = '', code, signal: endedBy } = error as Partial<ExecFileException>;
    // The key is registered before stderr is used, because a program that fails may repeat its key there.
    world.secrets.add(firstLine(stdout).trim());
    if (code === 'ENOENT') throw commandError('no such program', error);
    if (code === 'EINVAL' && /\.(cmd|bat)$/i.test(program)) {
      throw commandError(
        'is a script of cmd.exe, which cannot be run without a shell: name the program that it starts',
        error,
      );
    }
    if (typeof code === 'string') throw commandError(`cannot be run: ${systemReason(error)}`, error);
    const stderrText = shortened(world.secrets.redact(firstLine(stderr.trim())), MAX_STDERR_LENGTH);
    const reason = endedBy ? `was ended by ${endedBy}` : `exited with status ${code}`;
    throw commandError(stderrText === '' ? reason : `${reason}: ${stderrText}`);
  } finally {
    abort(undefined);
    detach();
  }
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/\r$/, '');
}

/** Returns why a text cannot be sent as a credential in a header (RFC 9110, section 5.5), or undefined. */
export function findCredentialFault(secret: string): string | undefined {
  if (secret === '') return 'is empty';
  if (/[\r\n]/.test(secret)) return 'has a line break inside';
  if (!/^[\t\x20-\x7e]*$/.test(secret)) return 'has a character that no header may hold';
  return /^\s|\s$/.test(secret) ? 'begins or ends with a blank' : undefined;
}
