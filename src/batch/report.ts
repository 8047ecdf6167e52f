// The counts of a run, and the texts made of them: the lines of `--report`, of `--failed`, and the summary on stderr.
import type { FilingsError } from '../errors.ts';
import { withSlashes } from '../paths.ts';
import { printableJson } from '../terminal/printable.ts';
import { counted, humanBytes, humanDuration } from '../text.ts';
import type { Outcome } from '../transfer/outcome.ts';
import { resumableLine } from './outcome-line.ts';
import { type BatchEnd, type FailureKind, failureKind } from './verdict.ts';

/** The subject of a report line: a file, a filing's listing or a line of the input. */
interface ReportSubject {
  readonly accession?: string;
  readonly fileName?: string;
  readonly number?: number | undefined;
}

/** The counts of a run. */
export class Counts {
  readonly files = { downloaded: 0, resumed: 0, skipped: 0, planned: 0, failed: 0, unfinished: 0 };
  /** Number of filings that the done list has. */
  done = 0;
  /** Number of filings without a matching file. */
  unmatched = 0;
  retries = 0;
  /** Bytes of downloaded files; in a dry run, bytes to download according to listings. */
  bytes = 0;
  /**
   * All ended files. `bytes`: their listed sizes, or their own size if none is listed. `unsized`: number of files
   * without a listed size. `unsizedBytes`: the bytes of these.
   */
  readonly ended = { bytes: 0, unsized: 0, unsizedBytes: 0 };
  /** Bytes of unfinished and failed files that the next run resumes from. */
  resumableBytes = 0;
  /** The latest time that the service asked to wait for, in milliseconds since the epoch. */
  retryAt: number | undefined;
  readonly failures = new Map<FailureKind, number>();

  /** Counts the outcome of a file. */
  add({ result, bytes, error }: Outcome): void {
    this.files[result] += 1;
    if (result !== 'skipped') this.bytes += bytes;
    if (result !== 'failed' || error === undefined) return;
    const kind = failureKind(error);
    this.failures.set(kind, (this.failures.get(kind) ?? 0) + 1);
    if (error.retryAt !== undefined) this.retryAt = Math.max(this.retryAt ?? 0, error.retryAt);
  }

  /** Counts an ended file for the progress of the run. `size` is the listed size. */
  addEnded(size: number | undefined, { bytes }: Outcome): void {
    this.ended.bytes += size ?? bytes;
    if (size !== undefined) return;
    this.ended.unsized += 1;
    this.ended.unsizedBytes += bytes;
  }

  /** The number of ended files. */
  get total(): number {
    return Object.values(this.files).reduce((sum, count) => sum + count, 0);
  }
}

/** Most names and paths. They need no escaping in JSON. */
const PLAIN = /^[\w ./+-]*$/;

export interface LineOptions {
  /** Decides how separators of a path become slashes. */
  readonly platform: string;
  /** Returns an error as JSON without secrets. */
  readonly errorOf: (error: FilingsError) => object;
}

/**
 * Returns the line for a file, a listing or an input line, without a line feed. `time` is in RFC 3339 format, in UTC.
 */
export function reportLine(
  { accession, fileName, number }: ReportSubject,
  outcome: Outcome,
  time: string,
  { platform, errorOf }: LineOptions,
): string {
  const { result, bytes, sha256, etag, verifiedLength, attempts, ms, error } = outcome;
  const path = outcome.path && withSlashes(outcome.path, platform);
  const rest = [
    number === undefined ? '' : `,"line":${number}`,
    sha256 === undefined ? '' : `,"sha256":"${sha256}"`,
    etag === undefined ? '' : `,"etag":${json(etag)}`,
    error?.retryAt === undefined ? '' : `,"retry_at":"${new Date(error.retryAt).toISOString()}"`,
    error === undefined ? '' : `,"error":${printableJson(errorOf(error))}`,
  ].join('');
  const subject = `"accession_no":${json(accession)},"file_name":${json(fileName)},"path":${json(path)}`;
  const counts = `"result":"${result}","bytes":${bytes},"verified_length":${verifiedLength},"attempts":${attempts}`;
  return `{"v":1,"time":"${time}",${subject},${counts},"ms":${Math.round(ms)}${rest}}`;
}

function json(text: string | null = null): string {
  return text !== null && PLAIN.test(text) ? `"${text}"` : printableJson(text);
}

/** Returns a line for `--input`: text if the name is read back unchanged, otherwise a JSON object. */
export function failedLine(accession: string, fileName: string | undefined): string {
  if (fileName === undefined) return accession;
  const isPlain = /^[^\s\p{Cc}\p{Cs}](?:[^\p{Cc}\p{Cs}\u2028\u2029]*[^\s\p{Cc}\p{Cs}])?$/u.test(fileName);
  return isPlain ? `${accession} ${fileName}` : JSON.stringify({ accession_no: accession, file_name: fileName });
}

interface Summary extends BatchEnd {
  readonly exitCode: number;
  /** Milliseconds. */
  readonly ms: number;
  /** Bytes and requests of listings count, too. */
  readonly bytes: number;
  readonly requests: number;
}

/** Returns the last line of the report, without a line feed. */
export function batchSummaryLine(counts: Counts, summary: Summary, time: string): string {
  const { notStarted, exitCode, ms, bytes, requests, stoppedBy } = summary;
  const { files, done, unmatched, retries } = counts;
  const retryAt = stoppedBy?.retryAt ?? counts.retryAt;
  const members = {
    ...{ ...files, done, unmatched, not_started: notStarted ?? null },
    ...{ bytes, requests, retries, ms: Math.round(ms), exit_code: exitCode },
    ...(stoppedBy && { stopped_by: stoppedBy.code }),
    ...(retryAt !== undefined && { retry_at: new Date(retryAt).toISOString() }),
  };
  return printableJson({ v: 1, time, summary: members });
}

/** Returns `3 downloaded (1.2 MB), 1 skipped, 2 failed (1 not found, 1 worth a retry); 9 requests, 12 s`. */
export function batchSummary(counts: Counts, { notStarted, ms, requests }: Summary): string {
  const parts = [countsText(counts)];
  if (notStarted) parts.push(`${notStarted} not started`);
  if (counts.resumableBytes > 0) parts.push(resumableLine(counts.resumableBytes));
  const retry = counts.retryAt === undefined ? '' : `; not before ${new Date(counts.retryAt).toISOString()}`;
  return `${parts.join(', ')}; ${counted(requests, 'request')}, ${humanDuration(ms)}${retry}`;
}

const KINDS: Readonly<Record<string, string>> = {
  not_found: 'not found',
  local_io: 'not written',
  temporary: 'worth a retry',
  certificate: 'with an invalid certificate',
  'too-many-requests': 'refused with 429',
  integrity: 'not intact',
  auth: 'not allowed',
};

function countsText({ files, bytes, failures, done, unmatched }: Counts): string {
  const { downloaded, resumed, skipped, planned, failed, unfinished } = files;
  const parts: string[] = [];
  if (planned > 0) {
    const size = bytes > 0 ? ` (${humanBytes(bytes)} as listed)` : '';
    parts.push(`${planned} would be downloaded${size}, with ${counted(planned, 'request')}`);
  } else if (downloaded + resumed > 0) parts.push(`${downloaded + resumed} downloaded (${humanBytes(bytes)})`);
  if (resumed > 0) parts.push(`${resumed} of them resumed`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  if (failed > 0) {
    const kinds = [...failures]
      .sort(([, a], [, b]) => b - a)
      .map(([code, count]) => (code === 'usage' ? counted(count, 'invalid line') : `${count} ${KINDS[code] ?? code}`));
    parts.push(`${failed} failed (${kinds.join(', ')})`);
  }
  if (unfinished > 0) parts.push(`${unfinished} unfinished`);
  if (done > 0) parts.push(`${counted(done, 'filing')} done before`);
  if (unmatched > 0) parts.push(`${unmatched} without a match`);
  return parts.join(', ') || 'nothing downloaded';
}
