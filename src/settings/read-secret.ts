// Reads an API key or a JWT. Every secret is registered for redaction before its characters are checked.
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createChildController, onAbort, startTimer } from '../abort.ts';
import { systemReason } from '../disk/failure.ts';
import { readSecretFile } from '../disk/secret-file.ts';
import { errnoOf, FilingsError, type FilingsErrorDetails, type Subject } from '../errors.ts';
import { readStdin } from '../stdio/input.ts';
import {
  decodeText,
  exactDuration,
  intoNewFile,
  isInQuotes,
  QUOTES_HINT,
  removeLineBreak,
  shellWord,
} from '../text.ts';
import type { World } from '../world.ts';

/** A `value` was given directly. A path is absolute. Only an API key can come from a `command`. */
export type SecretSource =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'stdin' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'command'; readonly argv: readonly string[] };

/** Long, because the program may ask a person for a password. */
const COMMAND_TIMEOUT_MS = 30_000;
/** In characters, which are as many bytes, because a valid secret is ASCII. It bounds the time of redaction. */
const MAX_LENGTH = 8 * 1024;

/** Removes one line break at the end. No message has a byte of the secret. */
export async function readSecret(source: SecretSource, label: 'API key' | 'JWT', world: World): Promise<string> {
  const { subject, text } = await readText(source, label, world);
  const secret = removeLineBreak(text);
  if (secret.length <= MAX_LENGTH) world.secrets.add(secret);
  if (label === 'JWT' && secret !== '') await requireBareToken(secret, source, subject);
  const fault = findCredentialFault(secret);
  if (fault === undefined) return secret;
  const hint = source.kind === 'command' ? 'it must print the key in its first line' : fault.hint;
  throw new FilingsError('config', fault.reason, { subject, hint });
}

async function requireBareToken(text: string, source: SecretSource, subject: Subject): Promise<void> {
  const { findTokenFault } = await import('../jwt/bare-token.ts');
  const fault = findTokenFault(text);
  if (fault === undefined) return;
  const { reason, filter } = fault;
  const extract =
    source.kind === 'file'
      ? `to keep only the token: ${intoNewFile(`${filter} < ${shellWord(source.path)}`, 'bare.jwt')}`
      : `to keep only the token, pipe it through: ${filter}`;
  const hint = filter === '' ? 'make one with filings token sign' : extract;
  throw new FilingsError('config', reason, { subject, hint });
}

async function readText(
  source: SecretSource,
  label: string,
  world: World,
): Promise<{ subject: Subject; text: string }> {
  if (source.kind === 'value') return { subject: { name: label }, text: source.value };
  if (source.kind === 'command') {
    const name = `apiKeyCommand ${source.argv[0]}`;
    return { subject: { name: `${label} from ${name}` }, text: await runCommand(source.argv, name, world) };
  }
  if (source.kind === 'stdin')
    return { subject: { name: `${label} from stdin` }, text: await readSecretFromStdin(label, world) };
  const [name, path] = [`${label} file`, source.path];
  return { subject: { name, path }, text: decodeText(await readSecretFile(path, name, world)) };
}

/** On a terminal, prompts for one line, which is not echoed. */
export async function readSecretFromStdin(label: string, world: World): Promise<string> {
  if (world.stdin.isTTY) return (await import('../stdio/prompt.ts')).askHidden(label, world);
  return decodeText(await readStdin(label, world, 'Ctrl-D'));
}

/** Runs without a shell. `name` is the subject of the errors. */
async function runCommand([program = '', ...args]: readonly string[], name: string, world: World): Promise<string> {
  const { spawn } = await import('node:child_process');
  const { cwd, env, platform, stdin, stderr } = world;
  const hint = 'run that command in a shell to see why';
  const commandError = (reason: string, details: FilingsErrorDetails = {}) =>
    new FilingsError('config', reason, { subject: { name }, hint, ...details });
  const { signal, abort, detach } = createChildController(world.interrupt);
  const onTimeout = () => abort(commandError(`wrote no key within ${exactDuration(COMMAND_TIMEOUT_MS)}`));
  const stopTimer = startTimer(COMMAND_TIMEOUT_MS, world.sleep, onTimeout);
  // A program in its own process group can be ended with all processes that it has started. But a terminal that asks
  // for a password can be read only by the foreground group, so there the program stays in ours.
  const detached = platform !== 'win32' && !stdin.isTTY && !stderr.isTTY;
  let unsubscribe: (() => void) | undefined;
  try {
    signal.throwIfAborted();
    const child = spawn(program, args, { cwd, env: { ...env }, detached, stdio: ['ignore', 'pipe', 'pipe'] });
    const closePipes = () => {
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
    };
    const [firstLine, firstMessage] = [readFirstLine(child.stdout), readFirstLine(child.stderr)];
    unsubscribe = onAbort(signal, () => {
      if (detached && child.pid !== undefined) world.killProcessGroup(child.pid);
      else child.kill();
      closePipes();
    });
    // `once` rejects with the child's `error` event. It does not wait for `close`, because a process that the program
    // leaves behind, such as an agent, may keep the pipes open.
    const [status, endedBy] = await once(child, 'exit', { signal });
    // The exit of any process makes libuv look for others, whose last bytes it may not have read yet. It reads them
    // between these two turns of the event loop.
    await setImmediate();
    await setImmediate();
    closePipes();
    if (status === 0) return firstLine();
    // The error quotes a line of stderr, in which a program that fails may repeat the key.
    world.secrets.add(firstLine().trim());
    throw commandError(endedBy ? `was ended by ${endedBy}` : `exited with status ${status}`, {
      quote: firstMessage() || undefined,
    });
  } catch (error) {
    // After an abort, the error is only that of `once`.
    signal.throwIfAborted();
    if (error instanceof FilingsError || errnoOf(error) === undefined) throw error;
    // Node starts no `.cmd` or `.bat` file without a shell.
    if (platform === 'win32' && /\.(cmd|bat)$/i.test(program))
      throw commandError('is a script of cmd.exe, which needs a shell', { hint: 'use the program that it starts' });
    throw commandError(`cannot be run: ${systemReason(error)}`, { cause: error });
  } finally {
    unsubscribe?.();
    detach();
    stopTimer();
  }
}

/**
 * Reads the stream to its end, because the program would otherwise block. Of a very long line, keeps so much that
 * `readSecret` still refuses it. Returns a function that returns the first line of what has been read.
 */
function readFirstLine(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    if (text.length <= MAX_LENGTH) text += chunk;
  });
  return () => text.split(/\r?\n/, 1)[0] ?? '';
}

/**
 * Accepts what can be sent in a header field (RFC 9110, section 5.5), but no tab: in JSON that a service echoes, it is
 * `\t`, which would not be redacted.
 */
export function findCredentialFault(secret: string): { readonly reason: string; readonly hint: string } | undefined {
  if (isInQuotes(secret)) return { reason: 'is in quotes', hint: QUOTES_HINT };
  const faults = [
    [secret === '', 'is empty'],
    [secret.length > MAX_LENGTH, `larger than ${MAX_LENGTH / 1024} KiB`],
    [/[\r\n]/.test(secret), 'contains a line break'],
    [/\t/.test(secret), 'contains a tab'],
    [/[^\x20-\x7e]/.test(secret), 'contains a character that is not allowed in a header'],
    [/^ | $/.test(secret), 'begins or ends with white space'],
  ] as const;
  const reason = faults.find(([applies]) => applies)?.[1];
  return reason && { reason, hint: 'it must be on one line, with nothing before or behind it' };
}
