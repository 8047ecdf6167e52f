import type { Ended, Workplace } from '../cli/program.ts';

/**
 * Runs the program under strace. One thread makes all large writes and all flushes, because strace counts faults by
 * thread. `options` tell strace which calls to change. The log is discarded by default.
 */
export function traced(
  place: Workplace,
  options: string,
  args: readonly string[],
  env: Record<string, string> = {},
  log = '/dev/null',
): Promise<Ended> {
  const line = `strace -f -o ${log} ${options} $FILINGS ${args.join(' ')}`;
  return place.shell(line, { ...env, UV_THREADPOOL_SIZE: '1' });
}
