import type { Setback } from '../http/retry/attempts.ts';
import type { AccessionNumber } from '../service/accession.ts';
import type { ListedFile } from '../service/listing/listing.ts';
import type { FileProgress } from '../terminal/progress/progress.ts';
import { setbackWait } from '../transfer/report.ts';
import type { Session } from './session.ts';

export interface Listing {
  readonly query?: readonly (readonly [name: string, value: string])[];
  readonly signal: AbortSignal;
  readonly onSetback?: (setback: Setback) => void;
}

/** The files of a filing; each wait for them is shown. Throws as `ServiceClient.listFiles`. */
export async function listFiles(
  { client, progress }: Pick<Session, 'client' | 'progress'>,
  accession: AccessionNumber,
  { query = [], signal, onSetback }: Listing,
): Promise<readonly ListedFile[]> {
  let shown: FileProgress | undefined;
  const wait = (setback: Setback) => {
    onSetback?.(setback);
    shown ??= progress.start({ name: accession, offset: 0 });
    shown.wait(setbackWait(setback));
  };
  try {
    return await client.listFiles(accession, query, signal, wait);
  } finally {
    shown?.finish();
  }
}
