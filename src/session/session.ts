// What every command that sends requests needs.
import { Connections } from '../http/connections.ts';
import { RateLimiter } from '../http/rate-limiter.ts';
import { describeRetry, type RetryEvent } from '../http/retry.ts';
import type { AccessionNumber } from '../service/accession.ts';
import { type Meter, ServiceClient } from '../service/client.ts';
import type { Listing, QueryParameter } from '../service/listing.ts';
import { type ResolvedSettings, resolveSettings } from '../settings/resolve.ts';
import { listStdinFlags, type Settings } from '../settings/settings.ts';
import type { Flags } from '../spec/command.ts';
import { refuseSharedStream } from '../stdio/input.ts';
import { createProgress, type FileProgress, type Progress } from '../terminal/progress.ts';
import type { World } from '../world.ts';
import { openAccess } from './access.ts';
import { addFlagsToHint } from './presentation.ts';

/** The command must close it. */
export interface Session {
  readonly settings: Settings;
  readonly client: ServiceClient;
  readonly progress: Progress;
  close(): Promise<void>;
}

interface SessionOptions {
  /** The `--input` of the command. */
  readonly input?: string | undefined;
  /** Output of the command may go to the terminal that shows the progress. */
  readonly writesTerminal?: boolean | undefined;
  readonly meter?: Meter;
  /** Set if the command has resolved them already. */
  readonly resolved?: ResolvedSettings;
}

/** May prompt for the key or start the sandbox, but sends no request. */
export async function openSession(
  flags: Flags,
  world: World,
  { input, writesTerminal, meter = { requests: 0, retries: 0, receivedBytes: 0 }, resolved }: SessionOptions = {},
): Promise<Session> {
  const { settings, rawSettings, accessError } = resolved ?? (await resolveSettings(flags, world));
  if (accessError) throw accessError;
  refuseSharedStream('stdin', [
    input === '-' && '--input -',
    ...listStdinFlags((name) => rawSettings.get(name)?.value),
  ]);
  // On the same terminal, a progress bar would overwrite what the user types as input, or the data that is printed.
  const sharesTerminal = writesTerminal || (input === '-' && world.stdin.isTTY === true);
  const progress = await createProgress({ ...settings, sharesTerminal }, world);
  const access = await openAccess(settings, world, progress.warn).catch((error) => {
    progress.stop();
    throw error;
  });
  const trace = settings.verbose ? progress.trace : undefined;
  const connections = new Connections(settings, world, trace);
  const client = new ServiceClient({
    ...access,
    connections,
    limiter: new RateLimiter(settings.rate, world),
    retryPolicy: settings,
    world,
    userAgent: `filings/${world.version}`,
    meter,
    listingDescription: settings.listing,
    trace,
  });
  return {
    settings,
    client,
    // Adds flags such as --profile to the commands in hints, as report-error.ts does for the error of the run.
    progress: {
      ...progress,
      reportFailure: (error) => progress.reportFailure(addFlagsToHint(error, flags, settings.profile)),
    },
    async close() {
      progress.stop();
      connections.close();
      await access.close();
    },
  };
}

export async function listFiles(
  session: Session,
  accession: AccessionNumber,
  query: readonly QueryParameter[],
  signal: AbortSignal,
): Promise<Listing> {
  const listing = await requestListing(session, accession, query, signal);
  if (listing.files.length > 0) return listing;
  throw session.client.noFilesError(accession, listing);
}

/** The listing may be empty. Prints a note for each retry. */
export async function requestListing(
  { client, progress }: Session,
  accession: AccessionNumber,
  query: readonly QueryParameter[],
  signal: AbortSignal,
): Promise<Listing> {
  // A listing gets a row in the progress only when it must be retried.
  let progressRow: FileProgress | undefined;
  const showWait = (event: RetryEvent) => {
    progressRow ??= progress.addFile(accession);
    progressRow.noteWait(describeRetry(event));
  };
  try {
    return await client.fetchListing(accession, query, signal, showWait);
  } finally {
    progressRow?.finish();
  }
}
