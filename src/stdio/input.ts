// Reads all of stdin, for keys, tokens and passphrases, and asks for it on a terminal. Also refuses a command line with
// two options that would both use stdin, or both stdout.
import { onAbort } from '../abort.ts';
import { systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { InputStream, OutputStream } from '../world.ts';
import { write } from './output.ts';

const MAX_BYTES = 1024 * 1024;
const LINE_BREAK = 0x0a;

/**
 * Reads stdin to its end. Throws `config` if stdin cannot be read or has more than 1 MiB. Throws the signal's reason if
 * it aborts.
 * @param name what is read, such as `API key`, for errors
 * @param maxBytes a limit lower than 1 MiB. If stdin has more bytes, nothing is thrown: the first `maxBytes + 1` bytes
 *   are returned, so that the caller can see that there are more and refuse them
 * @param endsAtLine whether the first line break ends the input on a terminal
 */
export async function readStdin(
  stdin: InputStream,
  name: string,
  signal: AbortSignal,
  { maxBytes = MAX_BYTES, endsAtLine = false }: { readonly maxBytes?: number; readonly endsAtLine?: boolean } = {},
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // An open stdin would keep the program alive, so it is destroyed: here on abort, and by `for await` after `break`.
  const unsubscribe = onAbort(signal, (reason) => stdin.destroy(reason as Error));
  try {
    signal.throwIfAborted();
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      length += bytes.length;
      if (length > maxBytes || (endsAtLine && stdin.isTTY && bytes.includes(LINE_BREAK))) break;
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

/** Calls `read`. If stdin is a terminal, prints `text` first, which asks for the input. */
export async function withPrompt(
  { stdin, stderr }: { readonly stdin: InputStream; readonly stderr: OutputStream },
  text: string,
  read: () => Promise<Buffer>,
): Promise<Buffer> {
  if (!stdin.isTTY) return read();
  await write(stderr, `${text}\n`);
  return read().catch(async (error) => {
    // After Ctrl-C, the most frequent error, the cursor stands behind the ^C that the terminal has printed. The message
    // about the error must begin on its own line. After another error, this is only an empty line.
    await write(stderr, '\n');
    throw error;
  });
}

/**
 * Throws `usage` if two options would use the same stream.
 * @param users the names of the options that use it. `false` and `undefined` stand for options that do not
 */
export function refuseSharedStream(stream: 'stdin' | 'stdout', users: readonly (string | false | undefined)[]): void {
  const [first, second] = users.filter((user) => typeof user === 'string');
  if (second === undefined) return;
  const use = stream === 'stdin' ? 'read stdin' : 'write to stdout';
  throw new FilingsError('usage', `${first} and ${second} cannot both ${use}`, {
    hint: 'use a file for one of them',
  });
}
