import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ended, Workplace } from '../cli/program.ts';

/**
 * Reports an unknown type for every file system, so that the event loop makes no synchronous calls (src/disk/calls.ts).
 */
const UNKNOWN_DISK = `const disk = require('node:fs/promises');
const { statfs } = disk;
disk.statfs = async (...args) => ({ ...(await statfs(...args)), type: 0 });`;

/**
 * An environment in which one thread makes all calls for a file, because strace counts faults by thread. The directory
 * above was last changed long ago, so that only the file and its directory are flushed.
 */
export async function oneThread({ home }: Workplace): Promise<Record<string, string>> {
  const hook = join(home, 'unknown-disk.cjs');
  await writeFile(hook, UNKNOWN_DISK);
  await utimes(home, 0, 0);
  return { UV_THREADPOOL_SIZE: '1', NODE_OPTIONS: `--require ${hook}` };
}

/**
 * Runs the program with one thread for its files under strace. `options` tell strace which calls to change. The log is
 * discarded by default.
 */
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
