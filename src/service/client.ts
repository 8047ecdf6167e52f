// The two endpoints of the service. The retries of a download belong to transfer/transfer.ts, because it also decides
// where the download continues.
import { errorAbout, type FilingsError, type Resource, withResource } from '../errors.ts';
import type { Connections } from '../http/connections.ts';
import type { RateLimiter } from '../http/rate-limiter.ts';
import { type RetryPolicy, type RetryWatcher, retry } from '../http/retry.ts';
import { markForRedaction, type Secrets } from '../secrets.ts';
import { counted } from '../text.ts';
import type { World } from '../world.ts';
import type { AccessionNumber } from './accession.ts';
import { describeClockSkew } from './clock-skew.ts';
import type { Credentials } from './credentials.ts';
import type { ListingDescription } from './described-listing.ts';
import { getErrorTest, MAX_TESTED_BYTES, mediaTypeOf } from './error-page.ts';
import { CHECK_NUMBER_AND_URL, errorFromResponse } from './error-response.ts';
import { type Listing, type QueryParameter, readListing, withParameters } from './listing.ts';
import { peek, readAtMost, readCodings, readErrorBytes } from './read-body.ts';
import { type Hosts, Requests, type ServiceResponse, withHosts } from './requests.ts';

/** More than a page of any listing needs. A body without an end must not fill the memory. */
const MAX_LISTING_BYTES = 16 << 20;

/** What the run has used, for --max-requests and --max-bytes. */
export interface Meter {
  /** Retries and redirects are included. */
  requests: number;
  retries: number;
  /** Body bytes of files, listings and errors. */
  receivedBytes: number;
}

export interface ClientOptions extends Pick<World, 'now'> {
  /** Ends in a slash, but not in `/v1/`, because `v1/download` or `v1/filings` is added to it. */
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  readonly connections: Connections;
  readonly limiter: RateLimiter;
  readonly retry: RetryPolicy;
  readonly userAgent: string;
  readonly secrets: Secrets;
  /** Prints a line of --verbose. Text from elsewhere must be marked by `markForRedaction`. */
  readonly trace: ((line: string) => void) | undefined;
  readonly meter?: Meter | undefined;
  readonly listingDescription?: ListingDescription | undefined;
  /** The accession numbers of the sandbox. */
  readonly sandboxFilings?: readonly string[] | undefined;
}

export function noFilesError(
  accession: AccessionNumber,
  { recordCount }: Pick<Listing, 'recordCount'>,
  client: Pick<ServiceClient, 'hintAboutFiling'>,
): FilingsError {
  const reason =
    recordCount === 0
      ? 'there is no such filing, or it has no files'
      : `it has no files: the service sent ${counted(recordCount, 'record')} without a name or of another filing`;
  return errorAbout({ accession }, 'not_found', reason, {
    hint: client.hintAboutFiling(accession) ?? CHECK_NUMBER_AND_URL,
  });
}

export class ServiceClient {
  readonly baseUrl: URL;
  /** For `config check`, which shows them. */
  readonly credentials: Credentials;
  readonly #options: ClientOptions;
  readonly #requests: Requests;

  constructor(options: ClientOptions) {
    this.baseUrl = options.baseUrl;
    this.credentials = options.credentials;
    this.#options = options;
    this.#requests = new Requests(options);
  }

  /** Repeats an attempt as the user's settings say, and counts the retries. */
  retry<T>(attempt: () => Promise<T>, signal: AbortSignal, { countNewBytes, onRetry }: RetryWatcher = {}): Promise<T> {
    const { retry: policy, meter } = this.#options;
    return retry(attempt, policy, signal, {
      countNewBytes,
      onRetry(event) {
        if (meter) meter.retries += 1;
        onRetry?.(event);
      },
    });
  }

  readonly countBytes = (bytes: number): void => {
    if (this.#options.meter) this.#options.meter.receivedBytes += bytes;
  };

  hintAboutFiling(accession: string): string | undefined {
    const { sandboxFilings } = this.#options;
    if (sandboxFilings === undefined || sandboxFilings.includes(accession)) return undefined;
    return `the sandbox has sample filings only: ${sandboxFilings.join(', ')}`;
  }

  /** By how many milliseconds this machine's clock is ahead of the service's. */
  get clockLeadMs(): number | undefined {
    return this.#requests.clockLeadMs;
  }

  /**
   * Returns a 200 whose body is not an error, or a 206 or a 416 if a range was requested (service.md, section 3).
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
    return this.#requests.follow(url, rangeHeaders, signal, async (response) => {
      const { status } = response;
      const isExpected = status === 200 || ('range' in rangeHeaders && (status === 206 || status === 416));
      // Only the header of a 416 is used, so its media type and encoding do not matter.
      if (!isExpected || status !== 416) await this.#check(response, isExpected, { accession, fileName }, signal);
      // Only a 200 is searched for an error page: transfer/resume.ts accepts a 206 only if it continues the same
      // version of the file.
      if (status === 200 && (await isErrorBody(response, fileName)))
        throw await this.#readError(response, { accession, fileName }, signal);
      return response;
    });
  }

  /** Requests all pages (service.md, section 4), with retries. */
  async fetchListing(
    accession: AccessionNumber,
    query: readonly QueryParameter[],
    signal: AbortSignal,
    onRetry?: RetryWatcher['onRetry'],
  ): Promise<Listing> {
    const listingUrl = this.#buildUrl('filings', [['accession_no', accession], ...query]);
    const description = this.#options.listingDescription;
    // The hosts of the page that is being read. During a request there are none, because its errors name their hosts.
    let hosts: Hosts | undefined;
    const requestPage = async (url: URL, isForeignText = false) => {
      hosts = undefined;
      const attempt = () => this.#requestPage(url, isForeignText, accession, signal);
      const response = await this.retry(attempt, signal, { onRetry });
      hosts = response.hosts;
      return response;
    };
    try {
      if (description === undefined) return readListing(await requestPage(listingUrl), accession);
      // Imported only now, because loading the JMESPath library takes time.
      const { readDescribedListing } = await import('./described-listing.ts');
      return await readDescribedListing(description, accession, listingUrl, requestPage);
    } catch (error) {
      // An error in the content of a page must name the host that sent it, as an error of the request does.
      throw hosts ? withHosts(hosts, error) : error;
    }
  }

  async #requestPage(url: URL, isForeignText: boolean, accession: AccessionNumber, signal: AbortSignal) {
    const resource = { accession };
    const read = async (response: ServiceResponse) => {
      await this.#check(response, response.status === 200, resource, signal);
      const body = await readAtMost(response, MAX_LISTING_BYTES, resource, this.countBytes);
      return { body, headers: response.headers, hosts: response.hosts };
    };
    try {
      return await this.#requests.follow(url, {}, signal, read, isForeignText);
    } catch (error) {
      throw withResource(resource, error);
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
    const what = resource.fileName === undefined ? 'listing' : 'file';
    const hint = `the service sends this ${what} compressed, whatever is asked: curl --compressed decodes it`;
    throw errorAbout(resource, 'integrity', reason, { quote: codings.join(', '), hint });
  }

  async #readError(response: ServiceResponse, resource: Resource, signal: AbortSignal): Promise<FilingsError> {
    const { now, retry, secrets } = this.#options;
    const { status, headers, retryAfterMs: waitMs } = response;
    // The wait begins when the head arrives, so compute its end before reading the body, which may take seconds.
    const times = waitMs === undefined ? {} : { retryAt: now() + waitMs, retryDue: retry.monotonic() + waitMs };
    const { body, isTruncated } = await readErrorBytes(response, retry.sleep, signal, this.countBytes);
    const hint = this.#chooseHint(response) ?? (status === 404 ? this.hintAboutFiling(resource.accession) : undefined);
    return errorFromResponse({ status, headers, body, isTruncated, resource, hint, ...times }, secrets);
  }

  /** Returns undefined if the usual hint for the status is enough. */
  #chooseHint({ status, isForeign, hosts }: ServiceResponse): string | undefined {
    const { credentials } = this.#options;
    if (isForeign && [200, 401, 403, 407].includes(status))
      return `the service redirects to ${markForRedaction(hosts[1])}, and the key is never sent to another host: check the base URL`;
    if (status === 200)
      return 'the service sent this instead of what was requested: check the API key and the base URL';
    if (status !== 401) return undefined;
    const { source, inspectCommand, keyIn } = credentials;
    if (inspectCommand === undefined) {
      return `check the API key from ${source}, how it is sent (now by --key-in ${keyIn}), and whether the service also requires a JWT`;
    }
    // A wrong clock is the first suspect, because the service rejects a JWT from the future or the past.
    return (
      describeClockSkew(this.clockLeadMs, true) ??
      `check ${source}, how the key is sent (now by --key-in ${keyIn}), and whether the service's portal has the key that verifies the JWT, imported for this API key; to see what the JWT says: ${inspectCommand}`
    );
  }
}

async function isErrorBody(response: ServiceResponse, fileName: string): Promise<boolean> {
  const test = getErrorTest(fileName, mediaTypeOf(response.headers));
  return test?.(await peek(response, MAX_TESTED_BYTES)) ?? false;
}
