// Opens what every command that talks to the service needs: settings, connections, rate limit, client and progress.
// Takes the flags, and gives a session that the command closes.
import { Connections } from '../http/connections.ts';
import { RateLimiter } from '../http/rate-limiter.ts';
import type { RetryEvent } from '../http/retry.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { type Meter, noFilesError, ServiceClient } from '../service/client.ts';
import type { Listing, Parameter } from '../service/listing.ts';
import { type ResolvedSettings, resolveSettings } from '../settings/resolve.ts';
import { listStdinFlags, type Settings } from '../settings/settings.ts';
import type { Flags } from '../spec/command.ts';
import { requireOneUser } from '../stdio/input.ts';
import { createProgress, type FileProgress, type Progress } from '../terminal/progress.ts';
import { describeRetry } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import { openAccess } from './access.ts';

/** The service of one run and its progress. */
export interface Session {
  readonly settings: Settings;
  readonly client: ServiceClient;
  /** Identifies the service in files that outlive the run. The URL of the sandbox is no identity: its port changes. */
  readonly identity: string;
  /** Aborts on a signal of the system or at the deadline. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
  close(): Promise<void>;
}

interface SessionOptions {
  /** The option or argument of the command that reads stdin, as a user writes it. */
  readonly stdinUser?: string | undefined;
  /** Whether data goes to stdout, which may be the terminal that shows the progress. */
  readonly writesStdout?: boolean;
  readonly meter?: Meter;
  /** The settings, if the command has resolved them already. */
  readonly resolved?: ResolvedSettings;
}

/** Returns an open session, and starts the deadline of the settings. Throws `usage`, `config`, `auth` or `local_io`. */
export async function openSession(
  flags: Flags,
  world: World,
  { stdinUser, writesStdout, meter, resolved }: SessionOptions = {},
): Promise<Session> {
  const { settings, rawSettings, originError } = resolved ?? (await resolveSettings(flags, world));
  if (originError) throw originError;
  requireOneUser('stdin', [stdinUser, ...listStdinFlags(rawSettings)]);
  const { secrets, monotonic, now, random, sleep } = world;
  // A bar would overwrite a prompt or the data on the same terminal.
  const isShared = Boolean((stdinUser && world.stdin.isTTY) || (writesStdout && world.stdout.isTTY));
  const progress = await createProgress({ ...settings, isShared }, world);
  const access = await openAccess(settings, world, progress.note).catch((error) => {
    progress.stop();
    throw error;
  });
  const trace = settings.verbose ? progress.trace : undefined;
  const connections = new Connections(settings, world, trace);
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
    trace,
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

/** Returns the listing of a filing. Throws `not_found` if it has no files, and as {@link requestListing} does. */
export async function listFiles(...[session, accession, ...more]: Parameters<typeof requestListing>): Promise<Listing> {
  const listing = await requestListing(session, accession, ...more);
  if (listing.files.length > 0) return listing;
  throw noFilesError(accession, listing.records);
}

/** Returns the listing of a filing, which may have no files. Shows each wait before a retry. Throws as the client does. */
export async function requestListing(
  { client, progress }: Pick<Session, 'client' | 'progress'>,
  accession: AccessionNumber,
  query: readonly Parameter[],
  signal: AbortSignal,
  onRetry?: () => void,
): Promise<Listing> {
  let progressRow: FileProgress | undefined;
  const showWait = (event: RetryEvent) => {
    onRetry?.();
    progressRow ??= progress.start(accession);
    progressRow.wait(describeRetry(event));
  };
  try {
    return await client.listFiles(accession, query, signal, showWait);
  } finally {
    progressRow?.finish();
  }
}
