import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorAbout, type FilingsError, type Subject } from '../errors.ts';
import { isRetriedStatus, retryAfterMs } from '../http/retry.ts';
import type { Secrets } from '../secrets.ts';
import { shellWord } from '../text.ts';
import type { ClientOptions } from './client.ts';
import { clockSkew, serviceTime } from './clock-skew.ts';
import { readErrorBody } from './error-body.ts';
import { readErrorBytes } from './read-body.ts';
import type { ServiceAnswer } from './requests.ts';

/** Reads answers that are not what was asked for. */
export class Refusals {
  readonly #options: ClientOptions;
  readonly #clockAhead: () => number | undefined;

  /** `clockAhead`: how far the local clock is ahead of the service's, in milliseconds, where that is known. */
  constructor(options: ClientOptions, clockAhead: () => number | undefined) {
    this.#options = options;
    this.#clockAhead = clockAhead;
  }

  /** What such an answer means (`retryable`, `retryAt` and `retryDue` set). Throws the signal's reason. */
  async errorFrom(answer: ServiceAnswer, subject: Subject, signal: AbortSignal): Promise<FilingsError> {
    const { meter, again, retry, secrets } = this.#options;
    const { status, headers } = answer;
    const asked = this.#askedToWait(answer);
    const { body, truncated } = await readErrorBytes(answer, retry.sleep, signal);
    meter?.came(body.length);
    const hint = this.#hint(answer);
    return errorFromAnswer(
      { status, headers, body, truncated, subject, again, ...asked, ...(hint && { hint }) },
      secrets,
    );
  }

  /** Throws `integrity` for a success that is coded, and what problem details under a 200 mean. */
  async refuseDisguise(answer: ServiceAnswer, subject: Subject, signal: AbortSignal): Promise<void> {
    const codings = String(answer.headers['content-encoding'] ?? '');
    if (!codings.split(',').every((one) => /^(identity)?$/i.test(one.trim()))) {
      answer.discard();
      const why = `the answer came with the content coding ${codings}, which was not asked for`;
      throw errorAbout(subject, 'integrity', why);
    }
    if (/^application\/problem\+json\b/i.test(String(answer.headers['content-type'] ?? ''))) {
      throw await this.errorFrom(answer, subject, signal);
    }
  }

  /**
   * Until when the service asks not to be asked. It holds for all jobs from now on: the
   * body may be long in coming, and nobody may try this one again.
   */
  #askedToWait({ status, headers }: ServiceAnswer): Pick<RefusedAnswer, 'retryAt' | 'retryDue'> | undefined {
    if (!isRetriedStatus(status)) return undefined;
    const { now, monotonic, limiter, maxRetryAfterMs } = this.#options.retry;
    const after = retryAfterMs(headers['retry-after'], serviceTime(now(), this.#clockAhead()));
    if (after === undefined) return undefined;
    if (after <= maxRetryAfterMs) limiter.pause(after);
    return { retryAt: now() + after, retryDue: monotonic() + after };
  }

  /** What is known better than the status alone tells. */
  #hint({ status, address }: ServiceAnswer): string | undefined {
    const { again, baseUrl, credentials } = this.#options;
    if (status !== 401) return undefined;
    const { host, origin } = new URL(address);
    if (origin !== baseUrl.origin) return `${host} says so, where the service has led to: no key is sent there`;
    const { source, token } = credentials;
    // With a JWT it may be the key, the token, or the time that the token is checked against.
    const skew = clockSkew(this.#clockAhead(), token !== undefined);
    if (skew !== undefined) return token === undefined ? `check the API key from ${source}; and ${skew}` : skew;
    return token === undefined
      ? `check the API key from ${source}, how it is sent (--key-in), and whether it wants a JWT too: ${again('filings config check')}`
      : `check ${source}: filings token inspect shows the JWT; is its public key imported for this API key?`;
  }
}

/** An answer that is not the one wanted, as it was received. */
export interface RefusedAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** At most 1 MiB of it. */
  readonly body: Buffer;
  /** The body went on after that, or was not read to its end. */
  readonly truncated?: boolean;
  /** What was asked for. */
  readonly subject: Subject;
  /** When the service said that it may be tried again, in milliseconds since the epoch. */
  readonly retryAt?: number;
  /** The same by a clock that never steps. */
  readonly retryDue?: number;
  /** Known better than what the status alone tells. */
  readonly hint?: string;
  /** A command of this program as this run would give it. */
  readonly again?: (command: string) => string;
}

/**
 * The error for an answer that is no file and no listing. The HTTP status alone decides
 * on the code (RFC 9457, section 3.1.2: the body's own `status` is advisory); the body
 * is read for whatever it can tell, in whichever shape it came, and is clear of `secrets`. Throws nothing.
 */
export function errorFromAnswer(answer: RefusedAnswer, secrets: Secrets): FilingsError {
  const { status, headers, subject, retryAt, retryDue } = answer;
  const code = codeOf(status);
  // The body of a success that is refused for another reason is content, and tells nothing about the error.
  const isContent = status < 300 && !/json/i.test(String(headers['content-type'] ?? ''));
  const { said, problem, foreign } = readErrorBody(isContent ? { ...answer, body: Buffer.alloc(0) } : answer, secrets);
  const phrase = STATUS_CODES[status];
  const shown = phrase === undefined ? `${status}` : `${status} ${phrase}`;
  const parts = [status < 300 ? `${shown} is not the answer that was asked for` : shown];
  if (said !== undefined && plain(said) !== plain(phrase ?? '')) parts.push(said);
  return errorAbout(subject, code, parts.join(': '), {
    hint: answer.hint ?? hintFor(answer, code, said ?? ''),
    problem: { ...problem, status },
    retryable: isRetriedStatus(status),
    // A wrong key is wrong for every file, and so is a proxy that refuses; a 403 may be about one.
    stopsRun: status === 401 || status === 407,
    ...(foreign && { fault: 'foreign' as const }),
    ...(retryAt !== undefined && { retryAt }),
    ...(retryDue !== undefined && { retryDue }),
  });
}

/** The interface's table of exit codes, by HTTP status. */
function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'auth';
  if (status === 404 || status === 410) return 'not_found';
  if (status === 408 || status === 425 || status === 429) return 'temporary';
  if (status >= 500 && status <= 599) return 'temporary';
  if (status >= 400 && status <= 499) return 'rejected';
  return 'integrity';
}

function hintFor(
  { status, subject, again = (command) => command }: RefusedAnswer,
  code: ErrorCode,
  said: string,
): string {
  const { accession, fileName } = subject;
  if (status === 429 || (status === 403 && /\brate\b|too many|threshold/i.test(said)))
    return 'wait, then run it again with fewer requests: --rate 1/s, --jobs 1';
  if (status === 403)
    return 'the key may not be allowed this; some archives answer so for a name that does not exist, too';
  if (status === 407) return 'the proxy wants a user and a password: put USER:PASSWORD@ before its host in HTTP_PROXY';
  if (code === 'auth') return `check the API key: ${again('filings config check')}`;
  if (code === 'temporary') return 'run it again later';
  if (code === 'rejected') return 'check the accession number and the name against what the service says';
  if (code === 'integrity') return `is the base URL the right one? See: ${again('filings config list')}`;
  if (fileName === undefined) return `check the accession number, and the base URL: ${again('filings config list')}`;
  const pattern = `filings download ${accession} --include ${shellWord(fileName)}`;
  return /[*?]|\[.+\]|\{.*,.*\}/.test(fileName)
    ? `a pattern chooses with --include: ${again(pattern)}`
    : `see which files there are: ${again(`filings list ${accession}`)}`;
}

/** For telling whether two phrases say the same. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
