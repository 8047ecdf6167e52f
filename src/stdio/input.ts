import { onAbort } from '../abort.ts';
import { systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { InputStream, OutputStream } from '../world.ts';
import { write } from './output.ts';

// Reads stdin as a whole, for keys and tokens, and ensures that only one option uses it.

/** The most bytes that are read from stdin as a whole. */
const MAX_BYTES = 1024 * 1024;
const LINE_BREAK = 0x0a;

/**
 * Returns the bytes of stdin to its end, or at most `maxBytes + 1`: the additional byte shows that the input is longer.
 * With `isLine`, input from a terminal ends with its first line. `name` (`API key`) is the subject of errors. Throws
 * `config` if stdin cannot be read or is larger than 1 MiB, and the signal's reason.
 */
export async function readStdin(
  stdin: InputStream,
  name: string,
  signal: AbortSignal,
  { maxBytes = MAX_BYTES, isLine = false }: { readonly maxBytes?: number; readonly isLine?: boolean } = {},
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // An open stdin would keep the program alive. A loop that ends early destroys stdin, too.
  const unsubscribe = onAbort(signal, (reason) => stdin.destroy(reason as Error));
  try {
    signal.throwIfAborted();
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      length += bytes.length;
      if (length > maxBytes || (isLine && stdin.isTTY && bytes.includes(LINE_BREAK))) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new FilingsError('config', `stdin cannot be read: ${systemReason(error)}`, {
      subject: { name },
      cause: error,
    });
  } finally {
    unsubscribe();
  }
  const input = Buffer.concat(chunks).subarray(0, maxBytes + 1);
  if (input.length > MAX_BYTES)
    throw new FilingsError('config', 'larger than 1 MiB', { subject: { name: `${name} from stdin` } });
  return input;
}

/** Prints the text as a prompt if stdin is a terminal. Returns the input that `read` returns. */
export async function withPrompt(
  { stdin, stderr }: { readonly stdin: InputStream; readonly stderr: OutputStream },
  text: string,
  read: () => Promise<Buffer>,
): Promise<Buffer> {
  if (!stdin.isTTY) return read();
  await write(stderr, `${text}\n`);
  return read().catch(async (error) => {
    // The terminal has printed ^C, so that the error begins a new line.
    await write(stderr, '\n');
    throw error;
  });
}

/** Throws `usage` if two of `users` would use the same stream. A user that is not a string is absent. */
export function requireOneUser(stream: 'stdin' | 'stdout', users: readonly (string | false | undefined)[]): void {
  const [first, second] = users.filter((user) => typeof user === 'string');
  if (second === undefined) return;
  const use = stream === 'stdin' ? 'read stdin' : 'write to stdout';
  throw new FilingsError('usage', `${first} and ${second} cannot both ${use}`, {
    hint: 'use a file for all but one of them',
  });
}
