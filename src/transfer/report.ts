import { type FilingsError, reasonOf } from '../errors.ts';
import type { RetryEvent } from '../http/retry.ts';
import { printableJson } from '../terminal/printable.ts';
import type { Wait } from '../terminal/progress/bar-line.ts';
import type { Outcome } from './outcome.ts';

/** A report line, version 1 (interface page): one JSON object a file. `errorOf` makes an error's object, redacted. */
export function reportLine(outcome: Outcome, errorOf: (error: FilingsError) => object): string {
  const { wanted, error } = outcome;
  return printableJson({
    v: 1,
    accession_no: wanted.accession,
    file_name: wanted.fileName,
    path: outcome.path,
    result: outcome.result,
    bytes: outcome.bytes,
    ...(outcome.saved > 0 ? { saved_bytes: outcome.saved } : {}),
    ...(outcome.sha256 === undefined ? {} : { sha256: outcome.sha256 }),
    ...(outcome.etag === undefined ? {} : { etag: outcome.etag }),
    verified_length: outcome.verifiedLength,
    attempts: outcome.attempts,
    ms: Math.round(outcome.ms),
    ...(error?.retryAt === undefined ? {} : { retry_at: new Date(error.retryAt).toISOString() }),
    ...(error === undefined ? {} : { error: errorOf(error) }),
  });
}

/** The report line of a listing that failed: of its filing no file is known. */
export function unlistedLine(accession: string, error: FilingsError, errorOf: (error: FilingsError) => object): string {
  return failureLine({ accession_no: accession, file_name: null }, error, errorOf);
}

/** The report line of an input line that can't be used. */
export function badInputLine(line: number, error: FilingsError, errorOf: (error: FilingsError) => object): string {
  return failureLine({ accession_no: null, file_name: null, line }, error, errorOf);
}

function failureLine(what: object, error: FilingsError, errorOf: (error: FilingsError) => object): string {
  return printableJson({
    v: 1,
    ...what,
    path: null,
    result: 'failed',
    bytes: 0,
    verified_length: false,
    attempts: 0,
    ms: 0,
    ...(error.retryAt === undefined ? {} : { retry_at: new Date(error.retryAt).toISOString() }),
    error: errorOf(error),
  });
}

/** What a person reads when a file has ended well. `bytes` shows sizes. */
export function outcomeLine(outcome: Outcome, bytes: (count: number) => string): string {
  const name = outcome.path ?? outcome.wanted.fileName;
  switch (outcome.result) {
    case 'skipped':
      return `${name}: skipped: it is there already`;
    case 'planned':
      return `${name}: would be downloaded${outcome.bytes > 0 ? ` (${bytes(outcome.bytes)})` : ''}`;
    case 'resumed':
      return `${name}: ${bytes(outcome.bytes)}, resumed: ${bytes(outcome.saved)} were there${unverified(outcome)}`;
    default:
      return `${name}: ${bytes(outcome.bytes)}${unverified(outcome)}`;
  }
}

/** What a stop left of a file that had not come whole. */
export function keptLine(kept: number, bytes: (count: number) => string): string {
  return `${bytes(kept)} kept: the same command goes on`;
}

function unverified({ verifiedLength }: Outcome): string {
  return verifiedLength ? '' : ' (the service told no length to check)';
}

/** What a person reads during a wait: why, how long, and which of how many further tries comes next. */
export function retryWait({ error, waitMs, asked, retry, retries }: RetryEvent): Wait {
  const seconds = Math.max(1, Math.round(waitMs / 1000));
  const wait = asked ? `the service asks to wait ${seconds} s` : `trying again in ${seconds} s`;
  return { reason: reasonOf(error), next: `${wait}, ${retry} of ${retries}` };
}
