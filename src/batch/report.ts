// The counts of a run, and the lines about its files: those of `--report`, `--failed` and a dry run, which other
// programs read, and those on stderr, which people read.
import { findFileMistake } from '../input/lines.ts';
import { withSlashes } from '../paths.ts';
import { toErrorObject } from '../terminal/messages.ts';
import { printableJson } from '../terminal/printable.ts';
import { counted, humanBytes, humanDuration } from '../text.ts';
import type { Outcome } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import type { Counts } from './counts.ts';
import type { Item } from './item.ts';
import { type BatchEnd, describeNotStarted } from './verdict.ts';

const RESUME = 'run the same command to resume';

/** `time` is in RFC 3339 format, in UTC. */
export function formatReportLine(
  item: Item,
  outcome: Outcome,
  time: string,
  { platform, secrets }: Pick<World, 'platform' | 'secrets'>,
): string {
  const { result, bytes, sha256, etag, verifiedLength, attempts, ms, error } = outcome;
  const accession_no = 'accession' in item ? item.accession : null;
  const file_name = 'fileName' in item ? item.fileName : null;
  const path = outcome.path && withSlashes(outcome.path, platform);
  const line = 'number' in item ? item.number : undefined;
  return printableJson({
    ...{ v: 1, time, accession_no, file_name, path },
    ...{ result, bytes, verified_length: verifiedLength, attempts, ms: Math.round(ms), line, sha256 },
    etag: etag && secrets.redact(etag),
    retry_at: error?.retryAt && new Date(error.retryAt).toISOString(),
    error: error && toErrorObject(error, secrets),
  });
}

/** Matches a name without control characters, lone surrogates, line separators, and white space at either end. */
const TEXT_NAME = /^[^\s\p{Cc}\p{Cs}](?:[^\p{Cc}\p{Cs}\u2028\u2029]*[^\s\p{Cc}\p{Cs}])?$/u;

/** Returns a line for `--input`. It is a JSON object if `--input` would read the text differently. */
export function formatInputLine(accession: string, fileName: string | undefined, separator = ' '): string {
  if (fileName === undefined) return accession;
  const canBeText = TEXT_NAME.test(fileName) && findFileMistake(fileName) === undefined;
  if (!canBeText) return JSON.stringify({ accession_no: accession, file_name: fileName });
  // After a space, `#` would begin a comment.
  return `${accession}${fileName.startsWith('#') ? '\t' : separator}${fileName}`;
}

interface Summary extends BatchEnd {
  readonly exitCode: number;
  /** The directory of the files, as the summary on stderr shows it. */
  readonly directory: string;
  readonly isDryRun?: boolean;
}

/** The last line of `--report`. */
export function formatSummaryLine(counts: Counts, summary: Summary, time: string): string {
  const { notStarted, exitCode, stoppedBy } = summary;
  const { byResult, doneFilings, unmatched, retries, requests, receivedBytes: bytes, elapsedMs: ms } = counts;
  const retryAt = stoppedBy?.retryAt ?? counts.retryAt;
  const members = {
    ...{ ...byResult, done: doneFilings, unmatched },
    ...{ not_started: notStarted?.files ?? null, filings_not_started: notStarted?.filings ?? null },
    ...{ bytes, requests, retries, ms: Math.round(ms), exit_code: exitCode },
    ...(stoppedBy && { stopped_by: stoppedBy.code }),
    ...(retryAt !== undefined && { retry_at: new Date(retryAt).toISOString() }),
  };
  return printableJson({ v: 1, time, summary: members });
}

/** Returns `3 downloaded (1.2 MB) to mirror, 1 skipped, 2 failed; 9 requests, 12 s`. */
export function describeBatch(counts: Counts, { notStarted, directory, isDryRun }: Summary): string {
  const { byResult, fileBytes: bytes, doneFilings, unmatched, requests, elapsedMs, keptBytes, retryAt } = counts;
  const { downloaded, resumed, skipped, planned, failed, unfinished } = byResult;
  const size = bytes > 0 ? ` (${humanBytes(bytes)} as listed)` : '';
  const facts = [
    planned > 0 && `${counted(planned, 'file')} would be downloaded${size} with ${counted(planned, 'request')}`,
    downloaded + resumed > 0 && `${downloaded + resumed} downloaded (${humanBytes(bytes)}) to ${directory}`,
    resumed > 0 && `${resumed} of them resumed`,
    skipped > 0 && `${skipped} skipped`,
    failed > 0 && `${failed} failed`,
    unfinished > 0 && `${unfinished} unfinished`,
    doneFilings > 0 && `${counted(doneFilings, 'filing')} already done`,
    unmatched > 0 && `${counted(unmatched, 'filing')} without a matching file`,
  ].filter(Boolean);
  if (facts.length === 0) facts.push(isDryRun ? 'nothing to download' : 'nothing downloaded');
  const leftOver = describeNotStarted(notStarted);
  if (notStarted && leftOver) facts.push(leftOver);
  if (keptBytes > 0) facts.push(`${humanBytes(keptBytes)} kept`);
  const resume = keptBytes > 0 ? `; ${RESUME}` : '';
  // The error that stopped a run is printed with its own retry time. This time comes from failed files.
  const next = retryAt === undefined ? resume : `; run it again after ${new Date(retryAt).toISOString()}`;
  const used = `${counted(requests, 'request')}, ${humanDuration(elapsedMs)}${next}`;
  // A dry run has only requested listings, and none if the files are named.
  if (!isDryRun) return `${facts.join(', ')}; ${used}`;
  return `dry run: ${facts.join(', ')}${requests > 0 ? `; the listings took ${used}` : ''}`;
}

/** For a file that ended without an error. */
export function describeOutcome(fileName: string, outcome: Outcome): string {
  const { path, result, bytes, resumedBytes, verifiedLength, isSame } = outcome;
  const name = path ?? fileName;
  if (isSame) return `${name}: already exists and is identical`;
  if (result === 'skipped') return `${name}: already exists, skipped (--if-exists overwrite replaces it)`;
  const resumed = result === 'resumed' ? `, resumed at ${humanBytes(resumedBytes)}` : '';
  const unverified = verifiedLength ? '' : ' (the service sent no length to check it against)';
  return `${name}: ${humanBytes(bytes)}${resumed}${unverified}`;
}

export function describeResumable(bytes: number): string {
  return `stopped at ${humanBytes(bytes)}; ${RESUME}`;
}
