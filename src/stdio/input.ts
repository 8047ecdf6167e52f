// Reads all of stdin, for keys, tokens and passphrases, and ensures that only one option uses it.
import { onAbort } from '../abort.ts';
import { systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { InputStream, OutputStream } from '../world.ts';
import { write } from './output.ts';

const MAX_BYTES = 1024 * 1024;
const LINE_BREAK = 0x0a;

/**
 * Reads stdin to its end. Throws `config` if that fails or it is larger than 1 MiB, and the signal's reason.
 * @param name what is read, such as `API key`, for errors
 * @param maxBytes the caller refuses longer input, so reading stops after one byte more
 * @param isLine whether input that is typed on a terminal ends with the first line
 */
export async function readStdin(
  stdin: InputStream,
  name: string,
  signal: AbortSignal,
  { maxBytes = MAX_BYTES, isLine = false }: { readonly maxBytes?: number; readonly isLine?: boolean } = {},
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // An open stdin would keep the program alive. On abort it is destroyed here. After `break`, `for await` destroys it.
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

/** Prints a line that asks for the input if stdin is a terminal. */
export async function withPrompt(
  { stdin, stderr }: { readonly stdin: InputStream; readonly stderr: OutputStream },
  text: string,
  read: () => Promise<Buffer>,
): Promise<Buffer> {
  if (!stdin.isTTY) return read();
  await write(stderr, `${text}\n`);
  return read().catch(async (error) => {
    // After Ctrl-C the cursor stands behind the ^C that the terminal has printed.
    await write(stderr, '\n');
    throw error;
  });
}

/** Throws `usage` if two of the options would use the same stream. Options that are not strings are ignored. */
export function refuseSharedStream(stream: 'stdin' | 'stdout', options: readonly (string | false | undefined)[]): void {
  const [first, second] = options.filter((option) => typeof option === 'string');
  if (second === undefined) return;
  const use = stream === 'stdin' ? 'read stdin' : 'write to stdout';
  throw new FilingsError('usage', `${first} and ${second} cannot both ${use}`, {
    hint: 'use a file for one of them',
  });
}
