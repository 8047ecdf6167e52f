import { onTestFinished } from 'vitest';
import { started, until } from '../cli/program.ts';
import { listens } from '../servers/scripted.ts';

/** Starts a server in the foreground and waits until it listens. It stops at the end of the test, if not before. */
export async function startDaemon(command: readonly string[], port: number) {
  // Debian keeps servers outside the PATH of a user.
  const { ended, kill, stderr } = started(command, { env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` } });
  /** Its children end as well, unlike after SIGKILL. */
  const stop = async () => {
    kill('SIGTERM');
    await ended;
  };
  onTestFinished(stop);
  const over = ended.then(() => Promise.reject(new Error(`${command[0]} ended: ${stderr()}`)));
  over.catch(() => {});
  await Promise.race([over, until(() => listens(port), stderr)]);
  return { kill, stop };
}
