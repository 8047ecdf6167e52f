// The counts of a run, and the lines about files and runs: those of `--report` and `--failed`, and those on stderr.
import { mistakeInFile } from '../input/lines.ts';
import { withSlashes } from '../paths.ts';
import { errorObject } from '../terminal/messages.ts';
import { printableJson } from '../terminal/printable.ts';
import { counted, humanBytes, humanDuration } from '../text.ts';
import type { Outcome } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import { type BatchEnd, isTemporary } from './verdict.ts';

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
  /** The bytes of all ended files: the listed size, otherwise the real one. */
  endedBytes = 0;
  /** Bytes of unfinished and failed files that the next run resumes from. */
  resumableBytes = 0;
  /** The latest time that the service asked to wait for, in milliseconds since the epoch. */
  retryAt: number | undefined;
  /** The number of failed files that running it again would not mend. */
  permanent = 0;

  /** Counts the outcome of a file. */
  add({ result, bytes, error }: Outcome): void {
    this.files[result] += 1;
    if (result !== 'skipped') this.bytes += bytes;
    if (result !== 'failed' || error === undefined) return;
    if (!isTemporary(error)) this.permanent += 1;
    if (error.retryAt !== undefined) this.retryAt = Math.max(this.retryAt ?? 0, error.retryAt);
  }

  /** The number of ended files. */
  get total(): number {
    return Object.values(this.files).reduce((sum, count) => sum + count, 0);
  }
}

/** Most names and paths. They need no escaping in JSON. */
const PLAIN = /^[\w ./+-]*$/;

/**
 * Returns the line for a file, a listing or an input line, without a line feed. `time` is in RFC 3339 format, in UTC.
 */
export function reportLine(
  { accession, fileName, number }: ReportSubject,
  outcome: Outcome,
  time: string,
  { platform, secrets }: Pick<World, 'platform' | 'secrets'>,
): string {
  const { result, bytes, sha256, etag, verifiedLength, attempts, ms, error } = outcome;
  const path = outcome.path && withSlashes(outcome.path, platform);
  const rest = [
    number === undefined ? '' : `,"line":${number}`,
    sha256 === undefined ? '' : `,"sha256":"${sha256}"`,
    etag === undefined ? '' : `,"etag":${json(secrets.redact(etag))}`,
    error?.retryAt === undefined ? '' : `,"retry_at":"${new Date(error.retryAt).toISOString()}"`,
    error === undefined ? '' : `,"error":${printableJson(errorObject(error, { secrets }))}`,
  ].join('');
  const subject = `"accession_no":${json(accession)},"file_name":${json(fileName)},"path":${json(path)}`;
  const counts = `"result":"${result}","bytes":${bytes},"verified_length":${verifiedLength},"attempts":${attempts}`;
  return `{"v":1,"time":"${time}",${subject},${counts},"ms":${Math.round(ms)}${rest}}`;
}

function json(text: string | null = null): string {
  return text !== null && PLAIN.test(text) ? `"${text}"` : printableJson(text);
}

/** No white space at either end, no control characters, and nothing that is no character. */
const PLAIN_NAME = /^[^\s\p{Cc}\p{Cs}](?:[^\p{Cc}\p{Cs}\u2028\u2029]*[^\s\p{Cc}\p{Cs}])?$/u;

/** Returns a line for `--input`: text if the name is read back unchanged, otherwise a JSON object. */
export function inputLine(accession: string, fileName: string | undefined, separator = ' '): string {
  if (fileName === undefined) return accession;
  const isPlain = PLAIN_NAME.test(fileName) && mistakeInFile(fileName) === undefined;
  if (!isPlain) return JSON.stringify({ accession_no: accession, file_name: fileName });
  // After a space, it would be a comment.
  return `${accession}${fileName.startsWith('#') ? '\t' : separator}${fileName}`;
}

interface Summary extends BatchEnd {
  readonly exitCode: number;
  /** The directory of the files. */
  readonly place: string;
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

/** Returns `3 downloaded (1.2 MB) to mirror, 1 skipped, 2 failed; 9 requests, 12 s`. */
export function batchSummary(counts: Counts, { notStarted, ms, requests, place }: Summary): string {
  const { files, bytes, done, unmatched } = counts;
  const { downloaded, resumed, skipped, planned, failed, unfinished } = files;
  const size = bytes > 0 ? ` (${humanBytes(bytes)} as listed)` : '';
  const parts = [
    planned > 0 &&
      `${planned} would be downloaded${size} with ${planned} more ${planned === 1 ? 'request' : 'requests'}`,
    downloaded + resumed > 0 && `${downloaded + resumed} downloaded (${humanBytes(bytes)}) to ${place}`,
    resumed > 0 && `${resumed} of them resumed`,
    skipped > 0 && `${skipped} skipped`,
    failed > 0 && `${failed} failed`,
    unfinished > 0 && `${unfinished} unfinished`,
    done > 0 && `${counted(done, 'filing')} done before`,
    unmatched > 0 && `${counted(unmatched, 'filing')} without a matching file`,
  ].filter(Boolean);
  if (parts.length === 0) parts.push('nothing downloaded');
  if (notStarted) parts.push(`${notStarted} not started`);
  if (counts.resumableBytes > 0) parts.push(resumableLine(counts.resumableBytes));
  const retry = counts.retryAt === undefined ? '' : `; not before ${new Date(counts.retryAt).toISOString()}`;
  return `${parts.join(', ')}; ${counted(requests, 'request')}, ${humanDuration(ms)}${retry}`;
}

/** Returns the line on stderr for a file that has ended without an error. */
export function outcomeLine(fileName: string, outcome: Outcome): string {
  const { path, result, bytes, resumedBytes, verifiedLength, isSame } = outcome;
  const name = path ?? fileName;
  if (isSame) return `${name}: already exists, with the same bytes`;
  if (result === 'skipped') return `${name}: already exists, skipped (--if-exists overwrite replaces it)`;
  const resumed = result === 'resumed' ? `, resumed at ${humanBytes(resumedBytes)}` : '';
  const unverified = verifiedLength ? '' : ' (the service gave no length to check)';
  return `${name}: ${humanBytes(bytes)}${resumed}${unverified}`;
}

/** Returns the note on bytes that the next run resumes from. */
export function resumableLine(bytes: number): string {
  return `stopped at ${humanBytes(bytes)}; run the same command to resume`;
}
