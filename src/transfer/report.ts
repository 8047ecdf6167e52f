import type { FilingsError } from '../errors.ts';
import type { Setback } from '../http/retry/attempts.ts';
import { printableJson } from '../terminal/printable.ts';
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

/** What a person reads when a file has ended well. `bytes` shows sizes. */
export function outcomeLine(outcome: Outcome, bytes: (count: number) => string): string {
  const name = outcome.path ?? outcome.wanted.fileName;
  switch (outcome.result) {
    case 'skipped':
      return `${name}: skipped: it is there already`;
    case 'resumed':
      return `${name}: ${bytes(outcome.bytes)}, resumed: ${bytes(outcome.saved)} were there${unverified(outcome)}`;
    default:
      return `${name}: ${bytes(outcome.bytes)}${unverified(outcome)}`;
  }
}

function unverified({ verifiedLength }: Outcome): string {
  return verifiedLength ? '' : ' (the service told no length to check)';
}

/** What a person reads during a wait: why, how long, and which of how many further tries comes next; the longest part last. */
export function setbackLine({ error, waitMs, asked, retry, retries }: Setback): string {
  const seconds = Math.max(1, Math.round(waitMs / 1000));
  const wait = asked ? `the service asks to wait ${seconds} s` : `trying again in ${seconds} s`;
  const status = error.problem?.status;
  return status === undefined
    ? `${wait}; ${retry} of ${retries}: ${error.message}`
    : `${status}: ${wait}; ${retry} of ${retries}`;
}

/** The counts of a run. */
export class Tally {
  readonly #counts = { downloaded: 0, resumed: 0, skipped: 0, failed: 0 };
  #bytes = 0;
  #saved = 0;
  #onlyTemporary = true;

  add(outcome: Outcome): void {
    this.#counts[outcome.result] += 1;
    this.#bytes += outcome.moved;
    this.#saved += outcome.saved;
    if (outcome.error && outcome.error.code !== 'temporary') this.#onlyTemporary = false;
  }

  get failed(): number {
    return this.#counts.failed;
  }

  get total(): number {
    const { downloaded, resumed, skipped, failed } = this.#counts;
    return downloaded + resumed + skipped + failed;
  }

  /** Whether running it again later may mend every failure there was. */
  get onlyTemporary(): boolean {
    return this.#onlyTemporary;
  }

  /** One line: `3 downloaded (1.2 MB), 1 skipped, 1 failed`. */
  summary(undone: number, bytes: (count: number) => string): string {
    const { downloaded, resumed, skipped, failed } = this.#counts;
    const parts = [`${downloaded + resumed} downloaded (${bytes(this.#bytes)})`];
    if (resumed > 0) parts.push(`${resumed} of them resumed (${bytes(this.#saved)} saved)`);
    if (skipped > 0) parts.push(`${skipped} skipped`);
    if (failed > 0) parts.push(`${failed} failed`);
    if (undone > 0) parts.push(`${undone} left undone`);
    return parts.join(', ');
  }
}
