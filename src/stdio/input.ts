import { systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { InputStream, OutputStream } from '../world.ts';
import { write } from './output.ts';

/** Nothing that is read whole is larger. Bytes. */
const LARGEST = 1024 * 1024;
const LINE_BREAK = 0x0a;

/**
 * All of stdin, 1 MiB at most.
 * @param what what it is, for errors: `API key`
 * @throws FilingsError `config`; the signal's reason
 */
export async function readAll(stdin: InputStream, what: string, signal: AbortSignal): Promise<Buffer> {
  const bytes = await taken(stdin, signal, (length) => length > LARGEST).catch((error) => {
    if (error === signal.reason) throw error;
    throw new FilingsError('config', `${what}: stdin cannot be read: ${systemReason(error)}`, {
      cause: error,
    });
  });
  if (bytes.length > LARGEST) throw new FilingsError('config', `${what} from stdin: larger than 1 MiB`);
  return bytes;
}

/**
 * Stdin to its end, or from a terminal to the end of a line; little more than `enough` bytes of it.
 * @throws FilingsError `local_io`; the signal's reason
 */
export async function readSome(stdin: InputStream, enough: number, signal: AbortSignal): Promise<Buffer> {
  const isEnough = (length: number, last: Buffer) =>
    length > enough || (stdin.isTTY === true && last.includes(LINE_BREAK));
  return taken(stdin, signal, isEnough).catch((error) => {
    if (error === signal.reason) throw error;
    throw new FilingsError('local_io', `stdin: cannot be read: ${systemReason(error)}`, {
      cause: error,
    });
  });
}

/** Says to whoever sits at the terminal what is read from it. Throws what `read` throws. */
export async function invited(
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

/** Stdin until its end or until that is enough. Throws the signal's reason, or the system's own error. */
async function taken(
  stdin: InputStream,
  signal: AbortSignal,
  isEnough: (length: number, last: Buffer) => boolean,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Destroyed by the signal, and when the loop ends early: an open stdin would keep the program alive.
  const stop = () => stdin.destroy(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      length += bytes.length;
      if (isEnough(length, bytes)) break;
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return Buffer.concat(chunks);
}

/**
 * Standard streams have one user each. Whoever does not ask for it may be given as false or undefined:
 * `requireOneUser('stdin', [...stdinUsers(settings), input === '-' && '--input -'])`.
 * @throws FilingsError `usage`
 */
export function requireOneUser(stream: 'stdin' | 'stdout', users: readonly (string | false | undefined)[]): void {
  const [first, second] = users.filter((user) => typeof user === 'string');
  if (second === undefined) return;
  throw new FilingsError('usage', `${first} and ${second}: ${stream} has one user`, {
    hint: 'use a file for all but one of them',
  });
}
