// The two endpoints of the service. The retries of a download belong to transfer/transfer.ts, because it also decides
// where the download continues.
import { addResource, FilingsError, type Resource } from '../errors.ts';
import type { Connections } from '../http/connections.ts';
import type { RateLimiter } from '../http/rate-limiter.ts';
import { type RetryPolicy, type RetryWatcher, retry } from '../http/retry.ts';
import { markForRedaction } from '../secrets.ts';
import { counted } from '../text.ts';
import type { World } from '../world.ts';
import type { AccessionNumber } from './accession.ts';
import { describeClockSkew } from './clock-skew.ts';
import type { Credentials } from './credentials.ts';
import type { ListingDescription } from './described-listing.ts';
import { CHECK_NUMBER_AND_URL, errorFromResponse, isErrorBody, mediaTypeOf } from './error-response.ts';
import { type Listing, type QueryParameter, type RequestPage, readListing, withParameters } from './listing.ts';
import { readAtMost, readCodings, readErrorBytes } from './read-body.ts';
import { Requester, type ServiceResponse } from './requester.ts';

/** More than a page of any listing needs. A body without an end must not fill the memory. */
const MAX_LISTING_BYTES = 16 << 20;

/** What the run has used. */
export interface Meter {
  /** Retries and redirects are included. */
  requests: number;
  retries: number;
  /** Body bytes of files, listings and errors. */
  receivedBytes: number;
}

export interface ClientOptions {
  /** Ends in a slash, but not in `/v1/`, because `v1/download` or `v1/filings` is added to it. */
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  readonly connections: Connections;
  readonly limiter: RateLimiter;
  readonly retryPolicy: RetryPolicy;
  readonly userAgent: string;
  readonly world: Pick<World, 'monotonic' | 'now' | 'random' | 'secrets' | 'sleep'>;
  /** Prints a line of --verbose. Text from elsewhere must be marked by `markForRedaction`. */
  readonly trace: ((line: string) => void) | undefined;
  readonly meter: Meter;
  readonly listingDescription?: ListingDescription | undefined;
  /** The accession numbers of the sandbox. */
  readonly sandboxFilings?: readonly string[] | undefined;
}

export class ServiceClient {
  readonly baseUrl: URL;
  readonly #options: ClientOptions;
  // `config check` shows these two.
  readonly credentials: Credentials;
  readonly requester: Requester;

  constructor(options: ClientOptions) {
    this.baseUrl = options.baseUrl;
    this.credentials = options.credentials;
    this.#options = options;
    this.requester = new Requester(options);
  }

  /** Repeats an attempt as the user's settings say, and counts the retries. */
  retry<T>(attempt: () => Promise<T>, signal: AbortSignal, { countNewBytes, onRetry }: RetryWatcher = {}): Promise<T> {
    const { retryPolicy, meter, world } = this.#options;
    return retry(attempt, retryPolicy, world, signal, {
      countNewBytes,
      onRetry(event) {
        meter.retries += 1;
        onRetry?.(event);
      },
    });
  }

  readonly countBytes = (bytes: number): void => {
    this.#options.meter.receivedBytes += bytes;
  };

  noFilesError(accession: AccessionNumber, { recordCount }: Listing): FilingsError {
    const reason =
      recordCount === 0
        ? 'there is no such filing, or it has no files'
        : `it has no files: the service sent ${counted(recordCount, 'record')} without a name or of another filing`;
    const hint = this.#hintAboutFiling(accession) ?? CHECK_NUMBER_AND_URL;
    return new FilingsError('not_found', reason, { subject: { resource: { accession } }, hint });
  }

  #hintAboutFiling(accession: string): string | undefined {
    const { sandboxFilings } = this.#options;
    if (sandboxFilings === undefined || sandboxFilings.includes(accession)) return undefined;
    return `the sandbox has sample filings only: ${sandboxFilings.join(', ')}`;
  }

  /**
   * Gives a 200 whose body is not an error, or a 206 or a 416 if a range was requested (docs/service.md, section 3).
   *
   * @param rangeHeaders Range and If-Range, or none to request the whole file
   */
  async requestFile(
    accession: AccessionNumber,
    fileName: string,
    rangeHeaders: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ServiceResponse> {
    const url = this.#buildUrl('download', [
      ['accession_no', accession],
      ['file_name', fileName],
    ]);
    return this.requester.request(url, rangeHeaders, signal, async (response) => {
      const { status } = response;
      const isExpected = status === 200 || ('range' in rangeHeaders && (status === 206 || status === 416));
      const isExpected416 = isExpected && status === 416;
      // Only the header of a 416 is used, so its media type and encoding do not matter.
      if (!isExpected416) await this.#check(response, isExpected, { accession, fileName }, signal);
      // Only a 200 is searched for an error page: transfer/resume.ts accepts a 206 only if it continues the same
      // version of the file.
      if (status === 200 && (await isErrorBody(response, fileName)))
        throw await this.#readError(response, { accession, fileName }, signal);
      return response;
    });
  }

  /** Requests all pages (docs/service.md, section 4), with retries. */
  async fetchListing(
    accession: AccessionNumber,
    query: readonly QueryParameter[],
    signal: AbortSignal,
    onRetry?: RetryWatcher['onRetry'],
  ): Promise<Listing> {
    const listingUrl = this.#buildUrl('filings', [['accession_no', accession], ...query]);
    const description = this.#options.listingDescription;
    const requestPage: RequestPage = (url, read, isUrlFromService) => {
      // The page is read here, so that an error in its content names the hosts, as an error of the request does.
      const handle = async (response: ServiceResponse) => {
        await this.#check(response, response.status === 200, { accession }, signal);
        return read({
          body: await readAtMost(response, MAX_LISTING_BYTES, this.countBytes),
          headers: response.headers,
        });
      };
      return this.retry(() => this.requester.request(url, {}, signal, handle, isUrlFromService), signal, { onRetry });
    };
    try {
      if (description === undefined) return await requestPage(listingUrl, (page) => readListing(page, accession));
      // Imported only now, because loading the JMESPath library takes time.
      const { readDescribedListing } = await import('./described-listing.ts');
      return await readDescribedListing({ description, accession, listingUrl }, requestPage);
    } catch (error) {
      throw addResource({ accession }, error);
    }
  }

  #buildUrl(endpoint: 'download' | 'filings', query: readonly (readonly [string, string])[]): URL {
    return withParameters(new URL(`v1/${endpoint}`, this.baseUrl), query);
  }

  /** Problem details (RFC 9457) are an error under any status. */
  async #check(response: ServiceResponse, isExpected: boolean, resource: Resource, signal: AbortSignal): Promise<void> {
    const isProblem = mediaTypeOf(response.headers) === 'application/problem+json';
    if (!isExpected || isProblem) throw await this.#readError(response, resource, signal);
    const codings = readCodings(response);
    if (codings.length === 0) return;
    response.discard();
    const reason = 'the response has a content encoding that was not requested';
    const hint = 'the service compresses it, whatever is asked: curl --compressed decodes it';
    throw new FilingsError('integrity', reason, { quote: codings.join(', '), hint });
  }

  async #readError(response: ServiceResponse, resource: Resource, signal: AbortSignal): Promise<FilingsError> {
    const { now, secrets, sleep } = this.#options.world;
    const { status, headers, retryAfterMs } = response;
    // The wait begins when the head arrives, so compute its end before reading the body, which may take seconds.
    const retryAt = retryAfterMs === undefined ? undefined : now() + retryAfterMs;
    const body = await readErrorBytes(response, sleep, signal, this.countBytes);
    const hint = this.#chooseHint(response) ?? (status === 404 ? this.#hintAboutFiling(resource.accession) : undefined);
    return errorFromResponse({ status, headers, body, resource, hint, retryAt }, secrets);
  }

  /** Undefined if the usual hint for the status is enough. */
  #chooseHint({ status, isOtherOrigin, hosts }: ServiceResponse): string | undefined {
    const { credentials } = this.#options;
    if (isOtherOrigin && [200, 401, 403, 407].includes(status))
      return `the service redirects to ${markForRedaction(hosts[1])}, and the key is never sent to another host: check the base URL`;
    if (status === 200)
      return 'the service sent this instead of what was requested: check the API key and the base URL';
    if (status !== 401) return undefined;
    const { setBy, sendsToken, keyIn } = credentials;
    if (!sendsToken) {
      return `check the API key from ${setBy}, how it is sent (now by --key-in ${keyIn}), and whether the service also requires a JWT`;
    }
    // A wrong clock is the first suspect, because the service rejects a JWT from the future or the past.
    return (
      describeClockSkew(this.requester.clockAheadMs, true) ??
      `check ${setBy}, how the key is sent (now by --key-in ${keyIn}), and whether the service's portal has the key that verifies the JWT, imported for this API key; filings token inspect shows what the JWT says`
    );
  }
}
