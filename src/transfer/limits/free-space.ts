import { statfs } from 'node:fs/promises';
import { diskFailure } from '../../disk/failure.ts';
import { FilingsError } from '../../errors.ts';
import { grouped } from '../../text.ts';

/**
 * Throws `local_io`, which stops a batch, when the disk that a directory is on would have less than `least` bytes free
 * for this user once `needed` more are written: `--min-free`.
 */
export async function requireFree(directory: string, least: number, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory).catch((error) => {
    throw diskFailure(error, directory);
  });
  const free = bavail * bsize;
  if (free - needed >= least) return;
  const count = (bytes: number) => grouped(Math.max(0, bytes));
  throw new FilingsError(
    'local_io',
    `${directory}: --min-free: the disk would have ${count(free - needed)} bytes free, less than ${count(least)}`,
    { hint: 'make room, then run it again: what is complete is kept', stopsRun: true },
  );
}
