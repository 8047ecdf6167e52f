// The client of the service, which knows its two endpoints: it opens files and lists filings. Every response that is
// not what the caller asked for becomes an error. Listings are retried here. The retries of a download belong to
// transfer/transfer.ts, because it also decides where the download continues.
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
import { getErrorTest } from './error-page.ts';
import { CHECK_NUMBER_AND_URL, errorFromResponse } from './error-response.ts';
import { type Listing, type QueryParameter, readListing, withParameters } from './listing.ts';
import { readAtMost, readErrorBytes } from './read-body.ts';
import { type Hosts, Requests, type ServiceResponse, withHosts } from './requests.ts';

/** More than a page of any listing needs. A body without an end must not fill the memory. */
const MAX_LISTING_BYTES = 16 << 20;

/** What a run has used so far, for --max-requests and --max-bytes. */
export interface Meter {
  /** Includes retries and redirects. */
  requests: number;
  /** The body bytes of listings and errors. Those of downloads are counted in batch/files.ts. */
  bytes: number;
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
  /**
   * How the user has described the service's listings in the config file. Without it, only two common forms are read.
   */
  readonly listingDescription?: ListingDescription | undefined;
}

/** Returns the error for a listing without files. It may have records without a file name, or of other filings. */
export function noFilesError(accession: AccessionNumber, { recordCount }: Pick<Listing, 'recordCount'>): FilingsError {
  const reason =
    recordCount === 0
      ? 'there is no such filing, or it has no files'
      : `it has no files: the service sent ${counted(recordCount, 'record')} without a name or of another filing`;
  return errorAbout({ accession }, 'not_found', reason, { hint: CHECK_NUMBER_AND_URL });
}

export class ServiceClient {
  /** Public, because `config check` shows the base URL and the credentials. */
  readonly options: ClientOptions;
  readonly #requests: Requests;

  constructor(options: ClientOptions) {
    this.options = options;
    this.#requests = new Requests(options);
  }

  /** By how many milliseconds this machine's clock is ahead of the service's. Undefined if that is not known. */
  get clockLeadMs(): number | undefined {
    return this.#requests.clockLeadMs;
  }

  /**
   * Requests a file (service.md, section 3), and returns a response that can be used for it: a 200 whose body is not an
   * error, or a 206 or a 416 if a part of the file was requested. Does not retry. Throws the error for any other
   * response, and the errors of {@link Requests.follow}, for example if no response arrives.
   * @param rangeHeaders Range and If-Range, or none to request the whole file
   */
  async openFile(
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
      // A 416 to a request for a range needs no check: only its header is used, so its media type and encoding do not
      // matter.
      if (!isExpected || status !== 416) await this.#check(response, isExpected, { accession, fileName }, signal);
      // Only a 200 is searched for an error page: transfer/resume.ts accepts a 206 only if it continues the same
      // version of the file.
      if (status === 200 && (await isErrorBody(response, fileName)))
        throw await this.#readError(response, { accession, fileName }, signal);
      return response;
    });
  }

  /**
   * Requests the listing of a filing (service.md, section 4), with retries, and returns all its files. Throws
   * `integrity` if the listing may be incomplete, the error for a response that is no listing, and the errors of
   * {@link Requests.follow}.
   */
  async fetchListing(
    accession: AccessionNumber,
    query: readonly QueryParameter[],
    signal: AbortSignal,
    onRetry?: RetryWatcher['onRetry'],
  ): Promise<Listing> {
    const listingUrl = this.#buildUrl('filings', [['accession_no', accession], ...query]);
    const description = this.options.listingDescription;
    // The hosts of the page that is being read. Undefined during a request, whose errors name their hosts themselves.
    let hosts: Hosts | undefined;
    const requestPage = async (url: URL) => {
      hosts = undefined;
      const attempt = () => this.#requestPage(url, accession, signal);
      const response = await retry(attempt, this.options.retry, signal, { onRetry });
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

  /** Requests one page of a listing, which is often the only one. Does not retry. */
  async #requestPage(url: URL, accession: AccessionNumber, signal: AbortSignal) {
    // Without a file name, errors are about the listing.
    const resource = { accession };
    const onBytes = (bytes: number) => {
      if (this.options.meter) this.options.meter.bytes += bytes;
    };
    try {
      return await this.#requests.follow(url, {}, signal, async (response) => {
        await this.#check(response, response.status === 200, resource, signal);
        const body = await readAtMost(response, MAX_LISTING_BYTES, resource, onBytes);
        return { body, headers: response.headers, hosts: response.hosts };
      });
    } catch (error) {
      throw withResource(resource, error);
    }
  }

  #buildUrl(endpoint: 'download' | 'filings', query: readonly (readonly [string, string])[]): URL {
    return withParameters(new URL(`v1/${endpoint}`, this.options.baseUrl), query);
  }

  /**
   * Throws the error for a response with an unexpected status, or with problem details (RFC 9457), which are an error
   * under any status. Throws `integrity` for a content encoding, because none was requested.
   */
  async #check(response: ServiceResponse, isExpected: boolean, resource: Resource, signal: AbortSignal): Promise<void> {
    const { headers } = response;
    const isProblem = /^application\/problem\+json\b/i.test(String(headers['content-type'] ?? ''));
    if (!isExpected || isProblem) throw await this.#readError(response, resource, signal);
    const encodings = String(headers['content-encoding'] ?? '');
    if (encodings.split(',').every((encoding) => /^(identity)?$/i.test(encoding.trim()))) return;
    response.discard();
    const reason = 'the response has a content encoding that was not requested';
    throw errorAbout(resource, 'integrity', reason, { quote: encodings });
  }

  /** Reads the body of an error response, and returns the error. */
  async #readError(response: ServiceResponse, resource: Resource, signal: AbortSignal): Promise<FilingsError> {
    const { meter, now, retry, secrets } = this.options;
    const { status, headers, retryAfterMs: waitMs } = response;
    // The wait that the service asks for begins when the head arrives, so compute its end before reading the body,
    // which may take seconds. The end is needed on two clocks: `retryAt` is shown to the user, `retryDue` is used to
    // wait.
    const times = waitMs === undefined ? {} : { retryAt: now() + waitMs, retryDue: retry.monotonic() + waitMs };
    const { receivedBytes, body, isTruncated } = await readErrorBytes(response, retry.sleep, signal);
    if (meter) meter.bytes += receivedBytes;
    const hint = this.#chooseHint(response);
    return errorFromResponse({ status, headers, body, isTruncated, resource, hint, ...times }, secrets);
  }

  /** Returns a hint to use instead of the usual one for the status, or undefined if the usual one is enough. */
  #chooseHint({ status, address }: ServiceResponse): string | undefined {
    const { baseUrl, credentials } = this.options;
    if (status === 200)
      return 'the service sent this instead of what was requested: check the API key and the base URL';
    if (status !== 401) return undefined;
    const { host, origin } = new URL(address);
    if (origin !== baseUrl.origin)
      return `the service redirects to ${markForRedaction(host)}, and the key is never sent to another host: check the base URL`;
    const { source, token, keyIn } = credentials;
    if (token === undefined) {
      return `check the API key from ${source}, how it is sent (now by --key-in ${keyIn}), and whether the service also requires a JWT`;
    }
    // With a JWT, `source` names the settings of both the key and the JWT. A wrong clock is the first suspect, because
    // the service rejects a JWT from the future or the past.
    return (
      describeClockSkew(this.clockLeadMs, true) ??
      `check ${source}: 'filings token inspect - < FILE' shows what a JWT says, and the public key that verifies it must be imported in the service's portal for this API key`
    );
  }
}

/** Reads the beginning of a body until it is clear whether the body is an error, and puts the bytes back. */
async function isErrorBody({ headers, length, body }: ServiceResponse, fileName: string): Promise<boolean> {
  const test = getErrorTest(fileName, String(headers['content-type'] ?? ''), length);
  let start = Buffer.alloc(0);
  let isError = test ? undefined : false;
  while (isError === undefined) {
    // Undefined at the end of the body. An error ends the body, too, but it is not lost: the next read throws it again.
    const chunks = await body.read().catch(() => undefined);
    start = Buffer.concat([start, ...(chunks ?? [])]);
    isError = test?.(start, chunks === undefined);
  }
  body.unread(start);
  return isError;
}
