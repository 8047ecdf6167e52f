import type { RetryEvent } from '../http/retry.ts';
import type { AccessionNumber } from '../service/accession.ts';
import type { ListedFile } from '../service/listing.ts';
import type { Parameter } from '../service/listing-pages.ts';
import type { FileProgress } from '../terminal/progress.ts';
import { retryWait } from '../transfer/outcome.ts';
import type { Session } from './session.ts';

export interface Listing {
  readonly query: readonly Parameter[];
  readonly signal: AbortSignal;
  readonly onRetry?: (event: RetryEvent) => void;
}

/** All files of a filing; each wait for them is shown. Throws as `ServiceClient.listFiles`. */
export async function listFiles(
  { client, progress, settings }: Pick<Session, 'client' | 'progress' | 'settings'>,
  accession: AccessionNumber,
  { query, signal, onRetry }: Listing,
): Promise<readonly ListedFile[]> {
  let shown: FileProgress | undefined;
  const wait = (event: RetryEvent) => {
    onRetry?.(event);
    shown ??= progress.start(accession);
    shown.wait(retryWait(event));
  };
  try {
    return await client.listFiles(accession, { query, pageSize: settings.pageSize }, signal, wait);
  } finally {
    shown?.finish();
  }
}
