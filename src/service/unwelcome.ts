import { errorAbout, type FilingsError, type Subject } from '../errors.ts';
import { isRetriedStatus, retryAfterMs } from '../http/retry.ts';
import { gatherErrorBody } from './bounded.ts';
import type { ClientOptions } from './client-options.ts';
import { clockSkew, serviceTime } from './clock-skew.ts';
import { errorFromAnswer, type UnwelcomeAnswer } from './problem/problem.ts';
import type { ServiceAnswer } from './requests.ts';

/** Reads answers that are not what was asked for. */
export class Unwelcome {
  readonly #options: ClientOptions;
  readonly #clockAhead: () => number | undefined;

  /** `clockAhead`: how far the local clock is ahead of the service's, in milliseconds, where that is known. */
  constructor(options: ClientOptions, clockAhead: () => number | undefined) {
    this.#options = options;
    this.#clockAhead = clockAhead;
  }

  /** What such an answer means (`retryable`, `retryAt` and `retryDue` set). Throws the signal's reason. */
  async errorFrom(answer: ServiceAnswer, subject: Subject, signal: AbortSignal): Promise<FilingsError> {
    const asked = this.#askedToWait(answer);
    const { body, truncated } = await gatherErrorBody(answer, this.#options.retry.sleep, signal);
    this.#options.meter?.came(body.length);
    const unwelcome: UnwelcomeAnswer = {
      status: answer.status,
      headers: answer.headers,
      body,
      truncated,
      subject,
      again: this.#options.again,
      retryable: isRetriedStatus(answer.status),
      ...asked,
      ...(answer.status === 401 && { hint: this.#hintForUnauthorized(answer) }),
      ...(answer.status === 407 ? this.#hintForProxy() : {}),
    };
    return errorFromAnswer(unwelcome, this.#options.secrets);
  }

  /** Throws `integrity` for a success that is coded, and what problem details under a 200 mean. */
  async refuseDisguise(answer: ServiceAnswer, subject: Subject, signal: AbortSignal): Promise<void> {
    const coding = answer.headers['content-encoding'];
    if (isCoded(coding)) {
      answer.discard();
      const why = `the answer came with the content coding ${coding}, which was not asked for`;
      throw errorAbout(subject, 'integrity', why);
    }
    if (/^application\/problem\+json\b/i.test(String(answer.headers['content-type'] ?? ''))) {
      throw await this.errorFrom(answer, subject, signal);
    }
  }

  /**
   * Until when the service asks not to be asked. It holds for all jobs from now on: the
   * body may be long in coming, or be more than the run may take, and nobody may try this one again.
   */
  #askedToWait({ status, headers }: ServiceAnswer): Pick<UnwelcomeAnswer, 'retryAt' | 'retryDue'> | undefined {
    if (!isRetriedStatus(status)) return undefined;
    const { now, monotonic, limiter, maxRetryAfterMs } = this.#options.retry;
    const after = retryAfterMs(headers['retry-after'], serviceTime(now(), this.#clockAhead()));
    if (after === undefined) return undefined;
    if (after <= maxRetryAfterMs) limiter.pause(after);
    return { retryAt: now() + after, retryDue: monotonic() + after };
  }

  /** With a JWT it may be the key, the token, or the time that the token is checked against. */
  #hintForUnauthorized({ address }: ServiceAnswer): string {
    const { baseUrl, credentials } = this.#options;
    const { host, origin } = new URL(address);
    if (origin !== baseUrl.origin) return `${host} says so, where the service has led to: no key is sent there`;
    const { source, token } = credentials;
    const skew = clockSkew(this.#clockAhead(), token !== undefined);
    if (skew !== undefined) return token === undefined ? `check the API key from ${source}; and ${skew}` : skew;
    return token === undefined
      ? `check the API key from ${source}, how it is sent (--key-in), and whether it wants a JWT too: filings config check`
      : `check ${source}: filings token inspect shows the JWT; is its public key imported for this API key?`;
  }

  /** Which proxy it is that refuses; its credentials are not shown. */
  #hintForProxy(): { readonly hint?: string } {
    const proxy = this.#options.connections.proxyOf(this.#options.baseUrl);
    if (proxy === undefined) return {};
    const put = 'put USER:PASSWORD@ before its host in HTTP_PROXY';
    return { hint: `the proxy ${proxy.host} wants a user and a password, or others: ${put}` };
  }
}

/** By what `Content-Encoding` says: a list, in one field or several (RFC 9110 section 8.4). */
function isCoded(coding: string | string[] = ''): boolean {
  return !String(coding)
    .split(',')
    .every((one) => /^(identity)?$/i.test(one.trim()));
}
