import { errnoOf, FilingsError } from '../../errors.ts';
import type { World } from '../../world.ts';
import { LONGEST_TOKEN } from './strict-token.ts';

type InputWorld = Pick<World, 'stdin' | 'stderr' | 'interrupt' | 'secrets'>;

/** Anything shorter is no token, and may be a word of a message. */
const SHORTEST_TOKEN = 20;

/**
 * A token given as an argument, as it is; without one or as `-` from stdin, less one line break at its end.
 * On a terminal it is asked for. Remembered as a secret: no message may hold it.
 *
 * @throws FilingsError `local_io`: stdin can't be read; the signal's reason
 */
export async function readTokenInput(argument: string | undefined, world: InputWorld): Promise<string> {
  const token = isFromStdin(argument) ? await readPiped(world) : argument;
  if (token.length >= SHORTEST_TOKEN && token.length <= LONGEST_TOKEN) world.secrets.add(token);
  return token;
}

/** Whether the TOKEN argument means stdin. */
export function isFromStdin(argument: string | undefined): argument is undefined | '-' {
  return argument === undefined || argument === '-';
}

async function readPiped(world: InputWorld): Promise<string> {
  if (world.stdin.isTTY) world.stderr.write('paste the token, then press Enter: ');
  const bytes = await readSome(world, LONGEST_TOKEN + 2);
  // Latin-1 keeps every byte that is no base64url visible to the strict reader.
  return bytes.toString('latin1').replace(/\r?\n$/, '');
}

/** Stdin to its end, or from a terminal to the end of a line; little more than `enough` bytes of it. */
async function readSome({ stdin, interrupt }: InputWorld, enough: number): Promise<Buffer> {
  const stop = () => stdin.destroy(interrupt.reason);
  interrupt.addEventListener('abort', stop, { once: true });
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    interrupt.throwIfAborted();
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      length += bytes.length;
      if (length > enough || (stdin.isTTY === true && bytes.includes(0x0a))) break;
    }
  } catch (cause) {
    if (interrupt.aborted) throw interrupt.reason;
    throw new FilingsError('local_io', `stdin: cannot be read (${errnoOf(cause) ?? 'unknown error'})`, { cause });
  } finally {
    interrupt.removeEventListener('abort', stop);
  }
  return Buffer.concat(chunks);
}
