import { utimes } from 'node:fs/promises';
import type { Ended, Workplace } from '../cli/program.ts';

/**
 * An environment in which one thread makes all large writes and all flushes, because strace counts faults by thread. The directory
 * above was last changed long ago, so that only the file and its directory are flushed.
 */
export async function oneThread({ home }: Workplace): Promise<Record<string, string>> {
  await utimes(home, 0, 0);
  return { UV_THREADPOOL_SIZE: '1' };
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
