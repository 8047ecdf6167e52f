import { invited, readSome } from '../../stdio/input.ts';
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
  const read = () => readSome(world.stdin, LONGEST_TOKEN + 2, world.interrupt);
  const bytes = await invited(world, 'paste the token, then press Enter: ', read);
  // Latin-1 keeps every byte that is no base64url visible to the strict reader.
  return bytes.toString('latin1').replace(/\r?\n$/, '');
}
