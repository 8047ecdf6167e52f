import type { FilingsError } from '../../errors.ts';
import { printableJson } from '../../terminal/printable.ts';
import { humanBytes } from '../../terminal/units.ts';
import { counted, humanDuration } from '../../text.ts';
import { keptLine } from '../report.ts';
import type { Tally } from './tally.ts';

/** How a batch came out, beside its counts. */
export interface BatchEnd {
  readonly undone: number | undefined;
  readonly stoppedBy: FilingsError | undefined;
  readonly exitCode: number;
  /** Milliseconds. */
  readonly ms: number;
  /** Body bytes received and requests sent, listings among them. */
  readonly bytes: number;
  readonly requests: number;
}

const KINDS: Readonly<Record<string, string>> = {
  not_found: 'not there',
  local_io: 'not written',
  temporary: 'worth another run',
  integrity: 'not sound',
  auth: 'not allowed',
  interrupted: 'broken off',
};

/** One line for a person: `3 downloaded (1.2 MB), 1 skipped, 2 failed (1 not there, 1 worth another run); 12 s`. */
export function summaryText(tally: Tally, { undone, ms, requests }: BatchEnd): string {
  const { downloaded, resumed, skipped, planned, failed } = tally.files;
  const parts: string[] = [];
  if (planned > 0) {
    const size = tally.plannedBytes > 0 ? ` (${humanBytes(tally.plannedBytes)} as listed)` : '';
    parts.push(`${planned} would be downloaded${size}, with ${counted(planned, 'request')}`);
  } else parts.push(`${downloaded + resumed} downloaded (${humanBytes(tally.moved)})`);
  if (resumed > 0) parts.push(`${resumed} of them resumed (${humanBytes(tally.saved)} saved)`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  if (failed > 0) parts.push(`${failed} failed${kindsOf(tally)}`);
  if (tally.done > 0) parts.push(`${counted(tally.done, 'filing')} done before`);
  if (tally.unmatched > 0) parts.push(`${tally.unmatched} without a match`);
  if (undone !== undefined && undone > 0) parts.push(`${undone} left undone`);
  if (tally.kept > 0) parts.push(keptLine(tally.kept, humanBytes));
  const retry = tally.retryAt === undefined ? '' : `; not before ${new Date(tally.retryAt).toISOString()}`;
  return `${parts.join(', ')}; ${counted(requests, 'request')}, ${humanDuration(ms)}${retry}`;
}

function kindsOf({ failures }: Tally): string {
  const kinds = failures.map(([code, count]) => `${count} ${KINDS[code] ?? code}`);
  return kinds.length === 0 ? '' : ` (${kinds.join(', ')})`;
}

/** A batch's last report line (interface page, `--report`). */
export function summaryReport(tally: Tally, end: BatchEnd): string {
  const { downloaded, resumed, skipped, planned, failed } = tally.files;
  const retryAt = end.stoppedBy?.retryAt ?? tally.retryAt;
  const summary = {
    downloaded,
    resumed,
    skipped,
    planned,
    failed,
    done: tally.done,
    unmatched: tally.unmatched,
    undone: end.undone ?? null,
    bytes: end.bytes,
    requests: end.requests,
    retries: tally.retries,
    ms: Math.round(end.ms),
    exit_code: end.exitCode,
    ...(end.stoppedBy && { stopped_by: end.stoppedBy.code }),
    ...(retryAt !== undefined && { retry_at: new Date(retryAt).toISOString() }),
  };
  return printableJson({ v: 1, summary });
}
