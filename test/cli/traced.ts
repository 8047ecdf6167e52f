import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { BIN, type Ended, NODE, type Workplace } from './program.ts';

/** Whether this machine has strace, and lets it look at processes. */
export const strace = await promisify(execFile)('strace', ['-f', '-o', '/dev/null', 'true']).then(
  () => true,
  () => false,
);

/** Faults are counted by thread: the pool must have one only. */
export const ONE_THREAD = { UV_THREADPOOL_SIZE: '1' };

/** Runs the program with one thread in its pool under strace, which is told by `options` what to do to its calls. */
export function traced(
  place: Workplace,
  options: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<Ended> {
  const line = `strace -f -o /dev/null ${options} ${NODE} ${BIN} ${args.join(' ')}`;
  return place.shell(line, { ...env, ...ONE_THREAD });
}
