import { onAbort } from '../abort.ts';
import { systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { InputStream, OutputStream } from '../world.ts';
import { write } from './output.ts';

/** Nothing that is read whole is larger. Bytes. */
const MAX_BYTES = 1024 * 1024;
const LINE_BREAK = 0x0a;

/**
 * Stdin to its end.
 * @param what for errors: `API key`
 * @param enough bytes; one more is given, by which whoever reads it sees that it is longer
 * @param isLine from a terminal it is one line
 */
export async function readStdin(
  stdin: InputStream,
  what: string,
  signal: AbortSignal,
  { enough = MAX_BYTES, isLine = false }: { readonly enough?: number; readonly isLine?: boolean } = {},
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Destroyed by the signal, and when the loop ends early: an open stdin would keep the program alive.
  const forget = onAbort(signal, (reason) => stdin.destroy(reason as Error));
  try {
    signal.throwIfAborted();
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      length += bytes.length;
      if (length > enough || (isLine && stdin.isTTY && bytes.includes(LINE_BREAK))) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new FilingsError('config', `stdin cannot be read: ${systemReason(error)}`, {
      subject: { name: what },
      cause: error,
    });
  } finally {
    forget();
  }
  const read = Buffer.concat(chunks).subarray(0, enough + 1);
  if (read.length > MAX_BYTES)
    throw new FilingsError('config', 'larger than 1 MiB', { subject: { name: `${what} from stdin` } });
  return read;
}

/** Says to whoever sits at the terminal what is read from it. */
export async function withPrompt(
  { stdin, stderr }: { readonly stdin: InputStream; readonly stderr: OutputStream },
  text: string,
  read: () => Promise<Buffer>,
): Promise<Buffer> {
  if (!stdin.isTTY) return read();
  await write(stderr, `${text}\n`);
  return read().catch(async (error) => {
    // The terminal has shown Ctrl-C at the end of a line.
    await write(stderr, '\n');
    throw error;
  });
}

/** Fails with `usage` if two of `users`, which are absent where they are not strings, would use the same stream. */
export function requireOneUser(stream: 'stdin' | 'stdout', users: readonly (string | false | undefined)[]): void {
  const [first, second] = users.filter((user) => typeof user === 'string');
  if (second === undefined) return;
  const use = stream === 'stdin' ? 'read stdin' : 'write to stdout';
  throw new FilingsError('usage', `${first} and ${second} cannot both ${use}`, {
    hint: 'use a file for all but one of them',
  });
}
