import { onAbort } from '../abort.ts';
import { systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { InputStream, OutputStream } from '../world.ts';
import { write } from './output.ts';

const MAX_BYTES = 1024 * 1024;
const LINE_BREAK = 0x0a;

/**
 * @param name what is read, such as `API key`, for errors
 * @param maxBytes if stdin has more, `maxBytes + 1` bytes are returned, so that the caller can refuse them
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
  // An open stdin would keep the program alive: it is destroyed here on abort, and by `for await` after `break`.
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

/** If stdin is a terminal, asks for the input first. */
export async function withPrompt(
  { stdin, stderr }: { readonly stdin: InputStream; readonly stderr: OutputStream },
  text: string,
  read: () => Promise<Buffer>,
): Promise<Buffer> {
  if (!stdin.isTTY) return read();
  await write(stderr, `${text}\n`);
  return read().catch(async (error) => {
    // After Ctrl-C, the message about the error must not follow the ^C that the terminal has printed.
    await write(stderr, '\n');
    throw error;
  });
}

/** `users` are the options that use the stream. `false` and `undefined` stand for options that do not. */
export function refuseSharedStream(stream: 'stdin' | 'stdout', users: readonly (string | false | undefined)[]): void {
  const [first, second] = users.filter((user) => typeof user === 'string');
  if (second === undefined) return;
  const use = stream === 'stdin' ? 'read stdin' : 'write to stdout';
  throw new FilingsError('usage', `${first} and ${second} cannot both ${use}`, {
    hint: 'use a file for one of them',
  });
}
