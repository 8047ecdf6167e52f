import { onAbort } from '../abort.ts';
import { systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { write } from './output.ts';

/** What is longer is cut off. It is refused anyway, because every key, secret and token has a lower limit. */
const MAX_BYTES = 1024 * 1024;

/**
 * @param what is read, such as `key`
 * @param endKey ends the input on a terminal, which is asked for it first
 */
export async function readStdin(
  what: string,
  { stdin, stderr, interrupt }: Pick<World, 'stdin' | 'stderr' | 'interrupt'>,
  endKey: 'Enter' | 'Ctrl-D',
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // An open stdin would keep the program alive: it is destroyed here on abort, and by `for await` after `break`.
  const unsubscribe = onAbort(interrupt, (reason) => stdin.destroy(reason as Error));
  try {
    interrupt.throwIfAborted();
    if (stdin.isTTY) await write(stderr, `paste the ${what}, then press ${endKey}:\n`);
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      length += bytes.length;
      if (length > MAX_BYTES || (endKey === 'Enter' && stdin.isTTY && bytes.includes('\n'))) break;
    }
  } catch (error) {
    // After Ctrl-C, the message about the error must not follow the ^C that the terminal has printed.
    if (stdin.isTTY) await write(stderr, '\n');
    interrupt.throwIfAborted();
    throw new FilingsError('config', `stdin cannot be read: ${systemReason(error)}`, {
      subject: { name: what },
      cause: error,
    });
  } finally {
    unsubscribe();
  }
  return Buffer.concat(chunks);
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
