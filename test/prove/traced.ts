import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ended, Workplace } from '../cli/program.ts';

/** A disk of a type that nobody knows: nothing is waited for by the event loop (src/disk/calls.ts). */
const UNKNOWN_DISK = `const disk = require('node:fs/promises');
const { statfs } = disk;
disk.statfs = async (...args) => ({ ...(await statfs(...args)), type: 0 });`;

/**
 * An environment in which one thread makes all calls for a file: faults are counted by thread. What the workplace is in was
 * last changed long ago: the flushes are those of the file and its directory.
 */
export async function oneThread({ home }: Workplace): Promise<Record<string, string>> {
  const hook = join(home, 'unknown-disk.cjs');
  await writeFile(hook, UNKNOWN_DISK);
  await utimes(home, 0, 0);
  return { UV_THREADPOOL_SIZE: '1', NODE_OPTIONS: `--require ${hook}` };
}

/** Runs the program with one thread for its files under strace, which is told by `options` what to do to its calls; its log, if there is to be one. */
export async function traced(
  place: Workplace,
  options: string,
  args: readonly string[],
  env: Record<string, string> = {},
  log = '/dev/null',
): Promise<Ended> {
  const line = `strace -f -o ${log} ${options} $FILINGS ${args.join(' ')}`;
  return place.shell(line, { ...env, ...(await oneThread(place)) });
}
