import { Connections } from '../http/connections.ts';
import { RateLimiter } from '../http/retry.ts';
import type { Meter } from '../service/client.ts';
import { ServiceClient } from '../service/client.ts';
import { hintCommand } from '../settings/hint-command.ts';
import { type Resolved, resolveSettings } from '../settings/resolve.ts';
import { type Settings, stdinUsers } from '../settings/settings.ts';
import type { Invocation } from '../spec/invocation.ts';
import { requireOneUser } from '../stdio/input.ts';
import { createProgress, type Progress } from '../terminal/progress.ts';
import { derived, type World } from '../world.ts';
import { openAccess } from './access.ts';
import { startDeadline } from './deadline.ts';

/** What a command that asks the service works with. */
export interface Session {
  readonly settings: Settings;
  readonly client: ServiceClient;
  /** See `Access`. */
  readonly identity: string;
  /** Aborted by a signal of the system or by the deadline. */
  readonly signal: AbortSignal;
  /** All that is said on stderr meanwhile. */
  readonly progress: Progress;
  close(): Promise<void>;
}

/** What a command wants of its session. */
export interface SessionOptions {
  /** What of the command reads stdin, as a person would write it. */
  readonly stdinUser?: string | undefined;
  /** Data goes to stdout, which may be the terminal that shows the progress. */
  readonly writesStdout?: boolean;
  readonly meter?: Meter;
  /** What the flags come to, where it is known already: a config file that is a pipe is read once. */
  readonly resolved?: Resolved;
}

/**
 * Opens the service that the command line and its settings describe: the real one,
 * or with `--sandbox` a stand-in inside the process. Throws `usage`, `config`, `auth`, `local_io`.
 */
export async function openSession(
  flags: Invocation['flags'],
  world: World,
  { stdinUser, writesStdout, meter, resolved }: SessionOptions = {},
): Promise<Session> {
  const known = resolved ?? (await resolveSettings(flags, world));
  const { settings, foreign } = known;
  for (const { error } of foreign) throw error;
  requireOneUser('stdin', [stdinUser, ...stdinUsers(known.given)]);
  const deadline = startDeadline(known, world);
  const { secrets, monotonic, now, random } = world;
  // No bar is drawn over what a person types, nor between the lines of the data.
  const isShared = (stdinUser !== undefined && world.stdin.isTTY) || (writesStdout && world.stdout.isTTY);
  const shown = isShared && settings.progress !== 'none' ? 'plain' : settings.progress;
  const progress = await createProgress({ ...settings, progress: shown }, world);
  const bounded = derived(world, { interrupt: deadline.signal });
  const access = await openAccess(settings, flags, bounded, progress.note).catch((error) => {
    progress.stop();
    deadline.stop();
    throw error;
  });
  const connections = new Connections(settings, world);
  const limiter = new RateLimiter(settings.rate, world);
  const client = new ServiceClient({
    ...access,
    connections,
    retry: {
      retries: settings.retries,
      maxRetryAfterMs: settings.maxRetryAfter,
      limiter,
      monotonic,
      now,
      random,
      sleep: world.sleep,
    },
    userAgent: `filings/${world.version}`,
    meter,
    secrets,
    trace: settings.verbose ? (line) => progress.trace(line) : undefined,
    again: (command) => hintCommand(command, { ...flags, sandbox: settings.sandbox }),
  });
  return {
    settings,
    client,
    identity: access.identity,
    signal: deadline.signal,
    progress,
    async close() {
      deadline.stop();
      progress.stop();
      connections.close();
      await access.close();
    },
  };
}
