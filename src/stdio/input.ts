import { errnoOf, FilingsError } from '../errors.ts';
import type { InputStream } from '../world.ts';

/** Nothing that is read whole is larger. Bytes. */
const LARGEST = 1024 * 1024;

/**
 * All of stdin, 1 MiB at most.
 * @param what what it is, for errors: `API key`
 * @throws FilingsError `config`; the signal's reason
 */
export async function readAll(stdin: InputStream, what: string, signal: AbortSignal): Promise<Buffer> {
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
      if (length > LARGEST) throw new FilingsError('config', `${what} from stdin: larger than 1 MiB`);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof FilingsError) throw error;
    throw new FilingsError('config', `${what}: stdin cannot be read (${errnoOf(error) ?? 'unknown error'})`, {
      cause: error,
    });
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return Buffer.concat(chunks);
}
