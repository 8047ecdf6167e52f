import type { FilingsError } from '../errors.ts';
import { printableJson } from '../terminal/printable.ts';
import { counted, humanBytes, humanDuration } from '../text.ts';
import { resumableLine } from '../transfer/outcome.ts';
import type { Counts } from './counts.ts';

/** How a batch came out, beside its counts. */
export interface Summary {
  readonly notStarted: number | undefined;
  readonly stoppedBy: FilingsError | undefined;
  readonly exitCode: number;
  /** Milliseconds. */
  readonly ms: number;
  /** Body bytes received and requests sent, listings among them. */
  readonly bytes: number;
  readonly requests: number;
}

const KINDS: Readonly<Record<string, string>> = {
  not_found: 'not found',
  local_io: 'not written',
  temporary: 'worth a retry',
  integrity: 'not intact',
  auth: 'not allowed',
  usage: 'invalid lines',
};

/** As the counts are so far: `3 downloaded (1.2 MB), 1 skipped, 2 failed (1 not found, 1 worth a retry)`. */
export function countsText(counts: Counts): string {
  return partsOf(counts).join(', ');
}

/** One line for a person: `3 downloaded (1.2 MB), 1 skipped, 2 failed (1 not found, 1 worth a retry); 9 requests, 12 s`. */
export function batchSummary(counts: Counts, { notStarted, ms, requests }: Summary): string {
  const parts = partsOf(counts);
  if (notStarted !== undefined && notStarted > 0) parts.push(`${notStarted} not started`);
  if (counts.resumableBytes > 0) parts.push(resumableLine(counts.resumableBytes));
  const retry = counts.retryAt === undefined ? '' : `; not before ${new Date(counts.retryAt).toISOString()}`;
  return `${parts.join(', ')}; ${counted(requests, 'request')}, ${humanDuration(ms)}${retry}`;
}

function partsOf(counts: Counts): string[] {
  const { downloaded, resumed, skipped, planned, failed, unfinished } = counts.files;
  const parts: string[] = [];
  if (planned > 0) {
    const size = counts.plannedBytes > 0 ? ` (${humanBytes(counts.plannedBytes)} as listed)` : '';
    parts.push(`${planned} would be downloaded${size}, with ${counted(planned, 'request')}`);
  } else parts.push(`${downloaded + resumed} downloaded (${humanBytes(counts.bytes)})`);
  if (resumed > 0) parts.push(`${resumed} of them resumed`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  if (failed > 0) parts.push(`${failed} failed${kindsOf(counts)}`);
  if (unfinished > 0) parts.push(`${unfinished} unfinished`);
  if (counts.done > 0) parts.push(`${counted(counts.done, 'filing')} done before`);
  if (counts.unmatched > 0) parts.push(`${counts.unmatched} without a match`);
  return parts;
}

function kindsOf({ failures }: Counts): string {
  const kinds = failures.map(([code, count]) => `${count} ${KINDS[code] ?? code}`);
  return kinds.length === 0 ? '' : ` (${kinds.join(', ')})`;
}

/** A batch's last report line (interface page, `--report`). */
export function reportSummary(counts: Counts, summary: Summary, time: string): string {
  const { notStarted, exitCode, ms, bytes, requests, stoppedBy } = summary;
  const { downloaded, resumed, skipped, planned, failed, unfinished } = counts.files;
  const { done, unmatched, retries } = counts;
  const retryAt = stoppedBy?.retryAt ?? counts.retryAt;
  const told = {
    ...{ downloaded, resumed, skipped, planned, failed, unfinished, done, unmatched },
    not_started: notStarted ?? null,
    ...{ bytes, requests, retries, ms: Math.round(ms), exit_code: exitCode },
    ...(stoppedBy && { stopped_by: stoppedBy.code }),
    ...(retryAt !== undefined && { retry_at: new Date(retryAt).toISOString() }),
  };
  return printableJson({ v: 1, time, summary: told });
}
