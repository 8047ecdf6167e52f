import { takeTurn } from '../abort.ts';
import { about, errorAbout, FilingsError, type Subject } from '../errors.ts';
import type { Connections } from '../http/connections.ts';
import { type RetryPolicy, type RetryWatcher, retry } from '../http/retry.ts';
import type { Secrets } from '../secrets.ts';
import type { AccessionNumber } from './accession.ts';
import type { Credentials } from './credentials.ts';
import { type ListedFile, type ListingAnswer, type Page, readListing } from './listing/listing.ts';
import { type Ask, type Parameter, readAllPages } from './listing/pages.ts';
import { readAtMost } from './read-body.ts';
import { Refusals } from './refusal.ts';
import { Requests, type ServiceAnswer } from './requests.ts';

/** A listing is metadata; more than this is something else. Bytes. */
const LARGEST_LISTING = 16 << 20;

/** Counts what goes over the wire. */
export interface Meter {
  /** A request is about to go out: a listing, a file, a further try, a redirect. */
  request(): void;
  /** So many bytes of a listing or an error came. */
  came(bytes: number): void;
}

export interface ClientOptions {
  /** Ends in a slash, and not in `/v1/`. */
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  readonly connections: Connections;
  readonly retry: RetryPolicy;
  readonly userAgent: string;
  readonly monotonic: () => number;
  readonly secrets: Secrets;
  /** Told each request and answer, where anybody wants to know. What the service says in it may hold secrets: the teller redacts. */
  readonly trace: ((line: string) => void) | undefined;
  readonly meter?: Meter | undefined;
  /** A command of this program as a hint shows it: so that it asks the same service as this run. */
  readonly again: (command: string) => string;
}

/** What is asked for beside the accession number. */
export interface ListingParameters {
  readonly query: readonly Parameter[];
  /** Records of a page; undefined: as many as the service gives. */
  readonly pageSize: number | undefined;
}

/** The two endpoints of the service (contract part 4). */
export class ServiceClient {
  readonly #options: ClientOptions;
  readonly #requests: Requests;
  readonly #refusals: Refusals;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#requests = new Requests(options);
    this.#refusals = new Refusals(options, () => this.#requests.clockAhead);
  }

  /** The service's address: part of what a file is identified by. */
  get baseUrl(): string {
    return this.#options.baseUrl.href;
  }

  /** A command of this program as a hint shows it: so that it asks the same service. */
  get again(): ClientOptions['again'] {
    return this.#options.again;
  }

  /** The JWT that is sent, where one is. */
  async token(): Promise<string | undefined> {
    return this.#options.credentials.token?.();
  }

  /** How far the local clock is ahead of the last answer's, in milliseconds; undefined when none told its date. */
  get clockAhead(): number | undefined {
    return this.#requests.clockAhead;
  }

  /** How often whatever is asked of the service is tried again. */
  get retry(): RetryPolicy {
    return this.#options.retry;
  }

  /**
   * One GET of a file, redirects followed; `range` holds Range and If-Range or
   * nothing. The answer is one that can be a file: 200, or with a range also 206 and
   * 416. Throws what any other answer means (`retryable`, `retryAt` and `retryDue` set).
   */
  async openFile(
    accession: AccessionNumber,
    fileName: string,
    range: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ServiceAnswer> {
    const url = this.#resource('download', [
      ['accession_no', accession],
      ['file_name', fileName],
    ]);
    const answer = await this.#requests.follow(url, range, signal);
    const welcome = answer.status === 200 || ('range' in range && (answer.status === 206 || answer.status === 416));
    const subject = { accession, fileName };
    if (!welcome) throw await this.#refusals.errorFrom(answer, subject, signal);
    if (answer.status !== 416) await this.#refusals.refuseDisguise(answer, subject, signal);
    return answer;
  }

  /**
   * All files of a filing, each request tried again as a download is. Throws `integrity` for an answer that is no listing,
   * and for a listing that is a part.
   */
  async listFiles(
    accession: AccessionNumber,
    { query, pageSize }: ListingParameters,
    signal: AbortSignal,
    onRetry?: RetryWatcher['onRetry'],
  ): Promise<readonly ListedFile[]> {
    const ask: Ask = (paging, page) => this.listPage(accession, [...query, ...paging], signal, { page, onRetry });
    return readAllPages(ask, pageSize, accession);
  }

  /** What one request brings of a listing, which may be a part. Throws as `listFiles`. */
  async listPage(
    accession: AccessionNumber,
    query: readonly Parameter[],
    signal: AbortSignal,
    { page, onRetry }: { readonly page?: number | undefined; readonly onRetry?: RetryWatcher['onRetry'] } = {},
  ): Promise<Page> {
    const url = this.#resource('filings', [['accession_no', accession], ...query]);
    const subject = { accession };
    const attempt = () =>
      this.#fetchListing(url, subject, signal).catch((error) => {
        throw about(subject, error);
      });
    const answer = await retry(attempt, this.retry, signal, { onRetry });
    try {
      return readListing({ ...answer, page }, accession);
    } catch (error) {
      // Reading may take its time: a signal that came meanwhile is why it ends.
      await takeTurn(signal);
      if (!(error instanceof FilingsError && error.hint)) throw error;
      const hint = error.hint.replace(/filings config (list|check)/, (command) => this.again(command));
      throw error.reworded(error.message, { hint });
    }
  }

  async #fetchListing(url: URL, subject: Subject, signal: AbortSignal): Promise<Omit<ListingAnswer, 'page'>> {
    const answer = await this.#requests.follow(url, {}, signal);
    if (answer.status !== 200) throw await this.#refusals.errorFrom(answer, subject, signal);
    await this.#refusals.refuseDisguise(answer, subject, signal);
    if (answer.headers['content-range'] !== undefined) {
      answer.discard();
      throw errorAbout(subject, 'integrity', 'a part of it came (200 with Content-Range)');
    }
    const body = await readAtMost(answer, LARGEST_LISTING, subject);
    this.#options.meter?.came(body.length);
    return { body, link: answer.headers.link };
  }

  #resource(name: 'download' | 'filings', query: readonly (readonly [string, string])[]): URL {
    const url = new URL(`v1/${name}`, this.#options.baseUrl);
    url.search = query.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&');
    return url;
  }
}
