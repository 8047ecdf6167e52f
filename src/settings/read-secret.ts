// Reads a key or a token from its source: a value, a file, stdin or the output of a program. Gives the bare secret,
// which is registered for redaction first.
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { childOf, onAbort } from '../abort.ts';
import { systemReason } from '../disk/failure.ts';
import { readSecretFile } from '../disk/secret-file.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { readStdin } from '../stdio/input.ts';
import { inSeconds, intoNewFile, shellWord, textOf } from '../text.ts';
import type { World } from '../world.ts';

/** The source of a key or a token. A path is absolute, or `-` for stdin. */
export type SecretSource =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'command'; readonly argv: readonly string[] };

/** The time limit for `apiKeyCommand`, in milliseconds. The program may have to ask a person for a password. */
const COMMAND_TIMEOUT_MS = 30_000;
/** The maximum size of a secret, in KiB. It bounds the work of redaction. */
const MAX_KIB = 8;

/**
 * Returns the secret without one line break at its end, and registers it for redaction. Throws `config`, whose message
 * has no byte of the secret, and the signal's reason.
 */
export async function readSecret(source: SecretSource, label: 'API key' | 'JWT', world: World): Promise<string> {
  const { name, text } = await readText(source, label, world);
  const secret = withoutLineBreak(text);
  const subject = { name };
  if (secret.length > MAX_KIB * 1024) throw new FilingsError('config', `larger than ${MAX_KIB} KiB`, { subject });
  world.secrets.add(secret);
  if (label === 'JWT') await requireBareToken(secret, source, subject);
  const fault = findCredentialFault(secret);
  if (fault === undefined) return secret;
  const hint = `it must be one line, and nothing but the ${label} itself`;
  throw new FilingsError('config', fault, { subject, hint });
}

/**
 * Returns the text without one line break at its end, and without a byte-order mark. A carriage return alone remains of
 * a Windows file that a shell has read: FILINGS_API_KEY="$(cat key)".
 */
export function withoutLineBreak(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/(?:\r\n|\n|\r)$/, '');
}

/** Throws `config` for anything but a bare token, with the command that extracts the token. */
async function requireBareToken(text: string, source: SecretSource, subject: { readonly name: string }): Promise<void> {
  const { findTokenFault } = await import('../jwt/bare-token.ts');
  const fault = findTokenFault(text);
  if (fault === undefined) return;
  const { reason, filter } = fault;
  const hint =
    source.kind === 'file' && source.path !== '-'
      ? `to keep only the token: ${intoNewFile(`${filter} < ${shellWord(source.path)}`, 'bare.jwt')}`
      : `to keep only the token, pipe it through: ${filter}`;
  throw new FilingsError('config', reason, { subject, hint });
}

async function readText(source: SecretSource, label: string, world: World) {
  if (source.kind === 'value') return { name: label, text: source.value };
  if (source.kind === 'command') {
    const name = `${label} of apiKeyCommand: ${source.argv[0]}`;
    return { name, text: await runCommand(source.argv, name, world) };
  }
  if (source.path === '-') return { name: `${label} from stdin`, text: await readSecretFromStdin(label, world) };
  const bytes = await readSecretFile(source.path, `${label} file`, world);
  return { name: `${label} file ${source.path}`, text: textOf(bytes) };
}

/** Returns all of stdin. On a terminal, prompts for one line that is not echoed. */
export async function readSecretFromStdin(label: string, world: World): Promise<string> {
  if (world.stdin.isTTY) return (await import('../stdio/prompt.ts')).askHidden(label, world);
  return textOf(await readStdin(world.stdin, label, world.interrupt));
}

/** Runs a program without a shell and waits for its end. Returns the first line of its stdout. */
async function runCommand([program = '', ...args]: readonly string[], name: string, world: World): Promise<string> {
  const { spawn } = await import('node:child_process');
  const { cwd, env, platform, stdin, stderr } = world;
  const failed = (reason: string, quote?: string) =>
    new FilingsError('config', reason, { subject: { name }, quote: quote || undefined });
  const { signal, abort, detach } = childOf(world.interrupt);
  const onTimeout = () => abort(failed(`wrote no key within ${inSeconds(COMMAND_TIMEOUT_MS)}`));
  world.sleep(COMMAND_TIMEOUT_MS, signal).then(onTimeout, () => {});
  // In its own process group the program can be ended together with what it has started. On a terminal it stays in
  // ours, because it could not ask for a password otherwise.
  const detached = platform !== 'win32' && !stdin.isTTY && !stderr.isTTY;
  let unsubscribe: (() => void) | undefined;
  try {
    signal.throwIfAborted();
    const child = spawn(program, args, { cwd, env: { ...env }, detached, stdio: ['ignore', 'pipe', 'pipe'] });
    unsubscribe = onAbort(signal, () => {
      if (detached && child.pid !== undefined) world.endGroup(child.pid);
      else child.kill();
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
    });
    const output = [firstLine(child.stdout), firstLine(child.stderr)] as const;
    const [line, message, [status, endedBy]] = await Promise.all([...output, once(child, 'close')]);
    if (status === 0) return line;
    // A program that fails may repeat its key on stderr.
    world.secrets.add(line.trim());
    throw failed(endedBy ? `was ended by ${endedBy}` : `exited with status ${status}`, message);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FilingsError || errnoOf(error) === undefined) throw error;
    if (platform === 'win32' && /\.(cmd|bat)$/i.test(program))
      throw failed('is a script of cmd.exe, which needs a shell: name the program that it starts');
    throw failed(`cannot be run: ${systemReason(error)}`);
  } finally {
    unsubscribe?.();
    detach();
    // Ends the timer.
    abort(undefined);
  }
}

/** Returns the beginning of a stream's first line, and reads the stream to its end. */
async function firstLine(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) if (text.length <= MAX_KIB * 1024) text += chunk;
  return text.split(/\r?\n/, 1)[0] ?? '';
}

/** Returns why a text cannot be sent as a credential in a header (RFC 9110, section 5.5), or undefined. */
export function findCredentialFault(secret: string): string | undefined {
  if (secret === '') return 'is empty';
  if (/[\r\n]/.test(secret)) return 'contains a line break';
  if (!/^[\t\x20-\x7e]*$/.test(secret)) return 'contains a character that is not allowed in a header';
  return /^\s|\s$/.test(secret) ? 'begins or ends with white space' : undefined;
}
