import { Connections } from '../http/connections.ts';
import { RateLimiter } from '../http/rate-limiter.ts';
import type { RetryEvent } from '../http/retry.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { type Meter, ServiceClient } from '../service/client.ts';
import type { Listing, Parameter } from '../service/listing-pages.ts';
import { hintCommand } from '../settings/hint-command.ts';
import { type Resolved, resolveSettings } from '../settings/resolve.ts';
import { type Settings, stdinUsers } from '../settings/settings.ts';
import type { Flags } from '../spec/command.ts';
import { requireOneUser } from '../stdio/input.ts';
import { createProgress, type FileProgress, type Progress } from '../terminal/progress.ts';
import { retryWait } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import { openAccess } from './access.ts';
import { hintOf } from './hints.ts';

export interface Session {
  readonly settings: Settings;
  readonly client: ServiceClient;
  /** What files that outlive this run know the service by; the sandbox has another port in every run. */
  readonly identity: string;
  /** Aborted by a signal of the system or by the deadline. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
  close(): Promise<void>;
}

interface SessionOptions {
  /** Who reads stdin, as a person would write it. */
  readonly stdinUser?: string | undefined;
  /** Data goes to stdout, which may be the terminal that shows the progress. */
  readonly writesStdout?: boolean;
  readonly meter?: Meter;
  /** What the flags come to, where that is known: a config file that is a pipe is read once. */
  readonly resolved?: Resolved;
}

/** Throws `usage`, `config`, `auth`, `local_io`. */
export async function openSession(
  flags: Flags,
  world: World,
  { stdinUser, writesStdout, meter, resolved }: SessionOptions = {},
): Promise<Session> {
  const known = resolved ?? (await resolveSettings(flags, world));
  const { settings, foreign } = known;
  for (const { error } of foreign) throw error;
  requireOneUser('stdin', [stdinUser, ...stdinUsers(known.given)]);
  world.setDeadline(settings.deadline);
  const { secrets, monotonic, now, random, sleep } = world;
  // No bar is drawn over what a person types, nor between the lines of the data.
  const isShared = Boolean((stdinUser && world.stdin.isTTY) || (writesStdout && world.stdout.isTTY));
  const shown = isShared && settings.progress !== 'none' ? 'plain' : settings.progress;
  const progress = await createProgress({ ...settings, progress: shown, isShared, hintOf }, world);
  const access = await openAccess(settings, flags, world, progress.note).catch((error) => {
    progress.stop();
    throw error;
  });
  const connections = new Connections(settings, world);
  const limiter = new RateLimiter(settings.rate, world);
  const { retries, maxRetryAfter: maxRetryAfterMs } = settings;
  const client = new ServiceClient({
    ...access,
    connections,
    retry: { retries, maxRetryAfterMs, limiter, monotonic, now, random, sleep },
    userAgent: `filings/${world.version}`,
    meter,
    secrets,
    listing: settings.sandbox ? undefined : settings.listing,
    warn: progress.note,
    trace: settings.verbose ? progress.trace : undefined,
    again: (command) => hintCommand(command, { ...flags, sandbox: settings.sandbox }),
  });
  return {
    settings,
    client,
    identity: settings.sandbox ? 'sandbox' : access.baseUrl.href,
    signal: world.interrupt,
    progress,
    async close() {
      progress.stop();
      connections.close();
      await access.close();
    },
  };
}

/** All files of a filing; each wait for them is shown. */
export async function listFiles(
  { client, progress, settings }: Pick<Session, 'client' | 'progress' | 'settings'>,
  accession: AccessionNumber,
  query: readonly Parameter[],
  signal: AbortSignal,
  onRetry?: () => void,
): Promise<Listing> {
  let shown: FileProgress | undefined;
  const wait = (event: RetryEvent) => {
    onRetry?.();
    shown ??= progress.start(accession);
    shown.wait(retryWait(event));
  };
  try {
    return await client.listFiles(accession, { query, pageSize: settings.pageSize }, signal, wait);
  } finally {
    shown?.finish();
  }
}
