import { errorAbout, type FilingsError, type Hint, type Resource, withResource } from '../errors.ts';
import type { Connections } from '../http/connections.ts';
import { type RetryPolicy, type RetryWatcher, retry } from '../http/retry.ts';
import type { Secrets } from '../secrets.ts';
import type { AccessionNumber } from './accession.ts';
import { clockSkew } from './clock-skew.ts';
import type { Credentials } from './credentials.ts';
import { CHECK_NUMBER_AND_URL, errorFromResponse } from './error-response.ts';
import { type ListingDescription, type Page, readListing } from './listing.ts';
import { type Listing, type PagingMemory, type Parameter, readAllPages } from './listing-pages.ts';
import { readAtMost, readErrorBytes } from './read-body.ts';
import { withHosts } from './redirect.ts';
import { Requests, type ServiceResponse } from './requests.ts';

// The client of the service: opens files and lists filings, with retries. Turns every unexpected response into an
// error.

/** The most bytes of a listing, which is more than any filing needs. */
const MAX_LISTING_BYTES = 16 << 20;

/** Counts of a run, for its limits. */
export interface Meter {
  /** The requests that were sent: listings, files, retries and redirects. */
  requests: number;
  /** The body bytes of listings and errors. Downloads count their bytes themselves. */
  bytes: number;
}

export interface ClientOptions {
  /** The base URL ends in a slash, and not in `/v1/`. */
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  readonly connections: Connections;
  readonly retry: RetryPolicy;
  readonly userAgent: string;
  readonly secrets: Secrets;
  /** Prints a line, redacted. */
  readonly trace: ((line: string) => void) | undefined;
  readonly meter?: Meter | undefined;
  /** The user's description of the service's listing. */
  readonly listing?: ListingDescription | undefined;
  readonly warn: (text: string) => void;
  /** Returns the command with the options that make it use the same service. */
  readonly hintCommand: (command: string) => string;
}

/** Returns the error about a listing without files. */
export function noFilesError(accession: AccessionNumber): FilingsError {
  return errorAbout({ accession }, 'not_found', 'the service lists no files', { hint: CHECK_NUMBER_AND_URL });
}

/** The two endpoints of the service (service.md, sections 3 and 4). */
export class ServiceClient {
  readonly options: ClientOptions;
  readonly #requests: Requests;
  readonly #paging: PagingMemory = {};

  constructor(options: ClientOptions) {
    this.options = options;
    this.#requests = new Requests(options);
  }

  /** The lead of the local clock over the service's, in milliseconds, or undefined until a response had a date. */
  get clockAhead(): number | undefined {
    return this.#requests.clockAhead;
  }

  /**
   * Returns a response that can be a file: 200, or if `range` has the fields Range and If-Range also 206 and 416.
   * Throws the error of any other response, and the errors of {@link Requests.follow}.
   */
  async openFile(
    accession: AccessionNumber,
    fileName: string,
    range: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ServiceResponse> {
    const url = this.#resource('download', [
      ['accession_no', accession],
      ['file_name', fileName],
    ]);
    const response = await this.#requests.follow(url, range, signal);
    const isExpected =
      response.status === 200 || ('range' in range && (response.status === 206 || response.status === 416));
    try {
      // The body of an expected 416 is not a file, so its type and coding do not matter.
      if (!isExpected || response.status !== 416)
        await this.#check(response, isExpected, { accession, fileName }, signal);
      return response;
    } catch (error) {
      throw withHosts(response.hosts, error);
    }
  }

  /**
   * Returns all files of a filing, at least one. Throws `integrity` for a response that is not a listing or only a part
   * of one, `not_found` if the filing has no files, and the errors of `listPage`.
   */
  async listFiles(
    accession: AccessionNumber,
    { query, pageSize }: { readonly query: readonly Parameter[]; readonly pageSize: number | undefined },
    signal: AbortSignal,
    onRetry?: RetryWatcher['onRetry'],
  ): Promise<Listing> {
    const { listing: description, warn } = this.options;
    const requestPage = (paging: readonly Parameter[]) =>
      this.listPage(accession, [...query, ...paging], signal, onRetry);
    const listing = await readAllPages({ accession, pageSize, description, memory: this.#paging, requestPage, warn });
    if (listing.files.length === 0) throw noFilesError(accession);
    return listing;
  }

  /**
   * Returns one page of a listing, and retries as a download does. Throws `integrity` for a response that is not a
   * listing, the error of any other response, and the errors of {@link Requests.follow}.
   */
  async listPage(
    accession: AccessionNumber,
    query: readonly Parameter[],
    signal: AbortSignal,
    onRetry?: RetryWatcher['onRetry'],
  ): Promise<Page> {
    const url = this.#resource('filings', [['accession_no', accession], ...query]);
    const resource = { accession };
    const requestOnce = async () => {
      const response = await this.#requests.follow(url, {}, signal);
      const { headers, hosts } = response;
      try {
        await this.#check(response, response.status === 200, resource, signal);
        if (headers['content-range'] !== undefined) {
          response.discard();
          throw errorAbout(resource, 'integrity', 'invalid response: 200 with Content-Range');
        }
        const body = await readAtMost(response, MAX_LISTING_BYTES, resource, (bytes) => {
          if (this.options.meter) this.options.meter.bytes += bytes;
        });
        return { body, link: headers.link, hosts };
      } catch (error) {
        throw withHosts(hosts, error);
      }
    };
    const attempt = () =>
      requestOnce().catch((error) => {
        throw withResource(resource, error);
      });
    const response = await retry(attempt, this.options.retry, signal, { onRetry });
    const { listing } = this.options;
    try {
      if (listing === undefined) return readListing(response, accession);
      const { readDescribedListing } = await import('./described-listing.ts');
      return readDescribedListing(response, accession, listing);
    } catch (error) {
      throw withHosts(response.hosts, error);
    }
  }

  #resource(name: 'download' | 'filings', query: readonly (readonly [string, string])[]): URL {
    const url = new URL(`v1/${name}`, this.options.baseUrl);
    url.search = query.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&');
    return url;
  }

  /**
   * Throws the error of a response with an unexpected status or with problem details, which are an error under any
   * status. Throws `integrity` for a content coding, because none was requested.
   */
  async #check(response: ServiceResponse, isExpected: boolean, resource: Resource, signal: AbortSignal): Promise<void> {
    const { headers } = response;
    const isProblem = /^application\/problem\+json\b/i.test(String(headers['content-type'] ?? ''));
    if (!isExpected || isProblem) throw await this.#errorFrom(response, resource, signal);
    const codings = String(headers['content-encoding'] ?? '');
    if (codings.split(',').every((one) => /^(identity)?$/i.test(one.trim()))) return;
    response.discard();
    throw errorAbout(resource, 'integrity', `it came in the content coding ${codings}, which was not asked for`);
  }

  async #errorFrom(response: ServiceResponse, resource: Resource, signal: AbortSignal): Promise<FilingsError> {
    const { meter, hintCommand, retry, secrets } = this.options;
    const { status, headers, retryAfterMs: waitMs } = response;
    // The wait begins with the head, because the body may take seconds.
    const times = waitMs === undefined ? {} : { retryAt: retry.now() + waitMs, retryDue: retry.monotonic() + waitMs };
    const { body, isTruncated } = await readErrorBytes(response, retry.sleep, signal);
    if (meter) meter.bytes += body.length;
    const hint = this.#hint(response);
    return errorFromResponse({ status, headers, body, isTruncated, resource, hint, hintCommand, ...times }, secrets);
  }

  #hint({ status, address }: ServiceResponse): Hint | undefined {
    const { hintCommand, baseUrl, credentials } = this.options;
    if (status !== 401) return undefined;
    const { host, origin } = new URL(address);
    if (origin !== baseUrl.origin) return `the service redirects to ${host}, where no key is sent`;
    const { source, token } = credentials;
    if (token === undefined) return { advice: 'check-key', source, command: hintCommand('filings config check') };
    return (
      clockSkew(this.clockAhead, true) ??
      `check ${source}: filings token inspect shows the JWT; is its public key imported for this API key?`
    );
  }
}
