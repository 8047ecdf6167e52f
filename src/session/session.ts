// Opens what every command that sends requests needs: settings, credentials, connections, rate limit, client and
// progress.
import { Connections } from '../http/connections.ts';
import { RateLimiter } from '../http/rate-limiter.ts';
import type { RetryEvent } from '../http/retry.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { type Meter, noFilesError, ServiceClient } from '../service/client.ts';
import type { Listing, Parameter } from '../service/listing.ts';
import { type ResolvedSettings, resolveSettings } from '../settings/resolve.ts';
import { listStdinFlags, type Settings } from '../settings/settings.ts';
import type { Flags } from '../spec/command.ts';
import { refuseSharedStream } from '../stdio/input.ts';
import { createProgress, type FileProgress, type Progress } from '../terminal/progress.ts';
import { describeRetry } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import { openAccess } from './access.ts';

/** The command must close it. */
export interface Session {
  readonly settings: Settings;
  readonly client: ServiceClient;
  /** Identifies the service in files that outlive the run: its base URL, or `sandbox`, whose port differs in each run. */
  readonly identity: string;
  /** Aborts on SIGINT, SIGTERM or SIGHUP, and at the deadline. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
  close(): Promise<void>;
}

interface SessionOptions {
  /** The option of the command that reads stdin, such as `--input -`. */
  readonly stdinOption?: string | undefined;
  /** Whether the command writes data to stdout, which may be the terminal that shows the progress. */
  readonly writesStdout?: boolean;
  readonly meter?: Meter;
  /** Set if the command has resolved the settings already. */
  readonly resolved?: ResolvedSettings;
}

/**
 * Resolving the settings starts a deadline that the config file sets. One from a flag or the environment has started
 * already. Throws `usage`, `config`, `auth` or `local_io`.
 */
export async function openSession(
  flags: Flags,
  world: World,
  { stdinOption, writesStdout, meter, resolved }: SessionOptions = {},
): Promise<Session> {
  const { settings, rawSettings, originError } = resolved ?? (await resolveSettings(flags, world));
  // A credential of the config file belongs to another origin. Commands that send no request do not mind.
  if (originError) throw originError;
  refuseSharedStream('stdin', [stdinOption, ...listStdinFlags(rawSettings)]);
  const { secrets, monotonic, now, random, sleep } = world;
  // A progress bar would overwrite a prompt or the data on the same terminal.
  const sharesTerminal = Boolean((stdinOption && world.stdin.isTTY) || (writesStdout && world.stdout.isTTY));
  const progress = await createProgress({ ...settings, sharesTerminal }, world);
  const access = await openAccess(settings, world, progress.note).catch((error) => {
    progress.stop();
    throw error;
  });
  const trace = settings.verbose ? progress.trace : undefined;
  const connections = new Connections(settings, world, trace);
  const { retries: maxRetries, maxRetryAfter: maxRetryAfterMs } = settings;
  const client = new ServiceClient({
    ...access,
    connections,
    limiter: new RateLimiter(settings.rate, world),
    retry: { maxRetries, maxRetryAfterMs, monotonic, random, sleep },
    now,
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

/** Like {@link requestListing}, but throws `not_found` if the filing has no files. */
export async function listFiles(...[session, accession, ...more]: Parameters<typeof requestListing>): Promise<Listing> {
  const listing = await requestListing(session, accession, ...more);
  if (listing.files.length > 0) return listing;
  throw noFilesError(accession, listing.records);
}

/** Returns the listing of a filing, which may be empty. Prints a note for each retry: why, and how long it waits. */
export async function requestListing(
  { client, progress }: Pick<Session, 'client' | 'progress'>,
  accession: AccessionNumber,
  query: readonly Parameter[],
  signal: AbortSignal,
  onRetry?: () => void,
): Promise<Listing> {
  // A listing appears in the progress only if it must be retried.
  let progressRow: FileProgress | undefined;
  const showWait = (event: RetryEvent) => {
    onRetry?.();
    progressRow ??= progress.addFile(accession);
    progressRow.noteWait(describeRetry(event));
  };
  try {
    return await client.listFiles(accession, query, signal, showWait);
  } finally {
    progressRow?.finish();
  }
}
