import { about, errorAbout, FilingsError, type Subject } from '../errors.ts';
import type { Connections } from '../http/connection/connections.ts';
import { get } from '../http/exchange/exchange.ts';
import type { Answer } from '../http/exchange/messages.ts';
import { isRedirect, nextHop } from '../http/redirect.ts';
import { type Meanwhile, type RetryPolicy, retrying } from '../http/retry/attempts.ts';
import { isRetriedStatus, retryAfterMs } from '../http/retry/retry.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { AccessionNumber } from './accession.ts';
import { gatherErrorBody, readAtMost } from './bounded.ts';
import { clockAhead, clockSkew, serviceTime } from './clock-skew.ts';
import { type Credentials, carry, withoutCredentials } from './credentials.ts';
import { type ListedFile, readLongListing } from './listing/listing.ts';
import { errorFromAnswer, repeated, type UnwelcomeAnswer } from './problem/problem.ts';
import { answerLines, requestLines, withoutTellingValidators } from './trace.ts';

/** A listing is metadata; more than this is something else. Bytes. */
const LARGEST_LISTING = 16 << 20;

/** Counts what goes over the wire; may refuse more. */
export interface Meter {
  /** A request is about to go out: a listing, a file, a further try, a redirect. Throws what keeps it from going. */
  request(): void;
  /** So many bytes of a listing or an error came. Throws what ends the run. */
  came(bytes: number): void;
}

export interface ClientOptions {
  /** Ends in a slash, and not in `/v1/`. */
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  readonly connections: Connections;
  readonly retry: RetryPolicy;
  readonly userAgent: string;
  /** Milliseconds. */
  readonly idleTimeout: number;
  readonly monotonic: () => number;
  readonly secrets: Secrets;
  /** Told each request and answer, for `--verbose`. What the service says in it may hold secrets: the teller redacts. */
  readonly trace: (line: string) => void;
  readonly meter?: Meter | undefined;
  /** A command of this program as a hint shows it: so that it asks the same service as this run. */
  readonly again: (command: string) => string;
}

/** A request of its own: a redirect is another. */
interface Sending {
  readonly url: URL;
  /** Undefined: they may not go there. */
  readonly credentials: Credentials | undefined;
  readonly fields: Readonly<Record<string, string>>;
  readonly onSend: () => Promise<void>;
}

/** The two endpoints of the service (contract part 4). */
export class ServiceClient {
  readonly #options: ClientOptions;
  #clockAhead: number | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** The service's address: part of what a file is identified by. */
  get baseUrl(): string {
    return this.#options.baseUrl.href;
  }

  /** A command of this program as a hint shows it: so that it asks the same service. */
  get again(): ClientOptions['again'] {
    return this.#options.again;
  }

  /** How far the local clock is ahead of the last answer's, in milliseconds; undefined when none told its date. */
  get clockAhead(): number | undefined {
    return this.#clockAhead;
  }

  /** Waits until another request may go out. Throws what the run was stopped for, the signal's reason. */
  turn(signal: AbortSignal): Promise<void> {
    return this.#options.retry.pace.turn(signal);
  }

  /** Tries anything that is asked of the service again, as this run's policy says. Throws the last failure, the signal's reason. */
  retrying<T>(attempt: () => Promise<T>, signal: AbortSignal, meanwhile?: Meanwhile): Promise<T> {
    return retrying(attempt, this.#options.retry, signal, meanwhile);
  }

  /**
   * One GET of a file, redirects followed; `range` holds Range and If-Range or
   * nothing. The answer is one that can be a file: 200, or with a range also 206 and
   * 416. Throws what any other answer means (`retryable` and `retryAt` set).
   */
  async openFile(
    accession: AccessionNumber,
    fileName: string,
    range: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Answer> {
    const url = this.#resource('download', [
      ['accession_no', accession],
      ['file_name', fileName],
    ]);
    const answer = await this.#follow(url, range, signal);
    const welcome = answer.status === 200 || ('range' in range && (answer.status === 206 || answer.status === 416));
    const subject = { accession, fileName };
    if (!welcome) throw await this.#unwelcome(answer, subject, signal);
    if (answer.status !== 416) await this.#refuseDisguise(answer, subject, signal);
    return answer;
  }

  /** The files of a filing, tried again as a download is. Throws `integrity` for an answer that is no listing. */
  async listFiles(
    accession: AccessionNumber,
    query: readonly (readonly [name: string, value: string])[],
    signal: AbortSignal,
    onSetback?: Meanwhile['onSetback'],
  ): Promise<readonly ListedFile[]> {
    const url = this.#resource('filings', [['accession_no', accession], ...query]);
    const subject = { accession };
    const attempt = () =>
      this.#fetchListing(url, subject, signal).catch((error) => {
        throw about(subject, error);
      });
    const body = await this.retrying(attempt, signal, { onSetback });
    return readLongListing(body, accession, signal).catch((error) => {
      if (!(error instanceof FilingsError && error.hint)) throw error;
      throw error.reworded(error.message, { hint: repeated(error.hint, this.#options.again) });
    });
  }

  async #fetchListing(url: URL, subject: Subject, signal: AbortSignal): Promise<Buffer> {
    const answer = await this.#follow(url, {}, signal);
    if (answer.status !== 200) throw await this.#unwelcome(answer, subject, signal);
    await this.#refuseDisguise(answer, subject, signal);
    const body = await readAtMost(answer, LARGEST_LISTING, subject);
    this.#options.meter?.came(body.length);
    return body;
  }

  #resource(name: 'download' | 'filings', query: readonly (readonly [string, string])[]): URL {
    const url = new URL(`v1/${name}`, this.#options.baseUrl);
    url.search = query.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&');
    return url;
  }

  /** Redirects by hand: once another origin is entered, no credential goes along any more. */
  async #follow(resource: URL, fields: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer> {
    let credentials: Credentials | undefined = this.#options.credentials;
    let url = resource;
    let first = true;
    const onSend = async () => {
      // Whoever tries has waited for the turn of the first; a redirect, and the same once more on another connection, has its own.
      if (!first) await this.turn(signal);
      first = false;
      this.#options.meter?.request();
    };
    for (let hop = 0; ; hop += 1) {
      const answer = await this.#send({ url, credentials, fields, onSend }, signal);
      if (!isRedirect(answer.status)) return answer;
      answer.discard();
      const to = nextHop(url, answer.headers.location, hop + 1);
      if (to.origin !== url.origin) credentials = undefined;
      url = this.#withoutSecrets(to);
    }
  }

  async #send({ url, credentials, fields, onSend }: Sending, signal: AbortSignal): Promise<Answer> {
    const { connections, idleTimeout, monotonic, retry, secrets, userAgent, trace } = this.#options;
    const bare = { url, headers: {} };
    const carried = credentials ? await carry(url, credentials) : { ...bare, shown: bare };
    const own = {
      'user-agent': userAgent,
      accept: '*/*',
      'accept-encoding': 'identity',
      ...fields,
    };
    for (const line of requestLines(own, carried)) trace(line);
    const headers = { ...own, ...carried.headers };
    const sent = retry.now();
    const answer = await get(connections, { url: carried.url, headers, idleTimeout, signal, monotonic, onSend });
    this.#clockAhead = clockAhead(answer.headers.date, { sent, received: retry.now() });
    for (const line of answerLines(answer, carried)) trace(line);
    return withoutTellingValidators(answer, secrets);
  }

  /** A service may copy our key into its Location; it is put on anew where it may go. */
  #withoutSecrets(to: URL): URL {
    const clean = withoutCredentials(to, this.#options.credentials.key);
    if (this.#options.secrets.redact(clean.href) === clean.href) return clean;
    throw new FilingsError('integrity', `${to.host}: a redirect that carries a credential is not followed`);
  }

  async #unwelcome(answer: Answer, subject: Subject, signal: AbortSignal): Promise<FilingsError> {
    const retryAt = this.#askedToWait(answer);
    const { body, truncated } = await gatherErrorBody(answer, signal);
    this.#options.meter?.came(body.length);
    const unwelcome: UnwelcomeAnswer = {
      status: answer.status,
      headers: answer.headers,
      body,
      truncated,
      subject,
      again: this.#options.again,
      retryable: isRetriedStatus(answer.status),
      ...(retryAt === undefined ? {} : { retryAt }),
      ...(answer.status === 401 ? this.#hintForUnauthorized() : {}),
      ...(answer.status === 407 ? this.#hintForProxy() : {}),
    };
    return errorFromAnswer(unwelcome, this.#options.secrets);
  }

  /**
   * Until when the service asks not to be asked, in milliseconds since the epoch. It holds for all jobs from now on: the
   * body may be long in coming, or be more than the run may take, and nobody may try this one again.
   */
  #askedToWait({ status, headers }: Answer): number | undefined {
    if (!isRetriedStatus(status)) return undefined;
    const { now, pace, maxRetryAfterMs } = this.#options.retry;
    const after = retryAfterMs(headers['retry-after'], serviceTime(now(), this.#clockAhead));
    if (after === undefined) return undefined;
    if (after <= maxRetryAfterMs) pace.pause(after);
    return now() + after;
  }

  /** With a JWT it may be the key, the token, or the time that the token is checked against. */
  #hintForUnauthorized(): { readonly hint?: string } {
    const withToken = this.#options.credentials.token !== undefined;
    const skew = clockSkew(this.#clockAhead, withToken);
    if (!withToken) return skew === undefined ? {} : { hint: `check the API key; and ${skew}` };
    const check = 'check the API key, and the JWT: filings token inspect; is its public key imported for this API key?';
    return { hint: skew ?? check };
  }

  /** Which proxy it is that refuses; its credentials are not shown. */
  #hintForProxy(): { readonly hint?: string } {
    const proxy = this.#options.connections.proxyOf(this.#options.baseUrl);
    if (proxy === undefined) return {};
    const put = 'put USER:PASSWORD@ before its host in HTTP_PROXY';
    return { hint: `the proxy ${proxy.host} wants a user and a password, or others: ${put}` };
  }

  /** A success that is no file: coded, or problem details under a 200. */
  async #refuseDisguise(answer: Answer, subject: Subject, signal: AbortSignal): Promise<void> {
    const coding = answer.headers['content-encoding'];
    // A list, in one field or several (RFC 9110 section 8.4).
    if (
      !String(coding ?? '')
        .split(',')
        .every((one) => /^(identity)?$/i.test(one.trim()))
    ) {
      answer.discard();
      const why = `the answer came with the content coding ${coding}, which was not asked for`;
      throw errorAbout(subject, 'integrity', why);
    }
    if (/^application\/problem\+json\b/i.test(String(answer.headers['content-type'] ?? ''))) {
      throw await this.#unwelcome(answer, subject, signal);
    }
  }
}
