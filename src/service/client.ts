// The client of the service: opens files and lists filings, with retries. Turns every unexpected response into an
// error.
import { errorAbout, type FilingsError, type Resource, withResource } from '../errors.ts';
import type { Connections } from '../http/connections.ts';
import { type RetryPolicy, type RetryWatcher, retry } from '../http/retry.ts';
import { foreign, type Secrets } from '../secrets.ts';
import { counted } from '../text.ts';
import type { AccessionNumber } from './accession.ts';
import { clockSkew } from './clock-skew.ts';
import type { Credentials } from './credentials.ts';
import type { ListingDescription } from './described-listing.ts';
import { errorTestFor } from './error-page.ts';
import { CHECK_NUMBER_AND_URL, errorFromResponse } from './error-response.ts';
import { type Listing, type Parameter, readListing, withParameters } from './listing.ts';
import { readAtMost, readErrorBytes } from './read-body.ts';
import { type Hosts, Requests, type ServiceResponse, withHosts } from './requests.ts';

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
  /** Prints a line, in which text from elsewhere is marked by `foreign`. */
  readonly trace: ((line: string) => void) | undefined;
  readonly meter?: Meter | undefined;
  /** The user's description of the service's listing. */
  readonly listing?: ListingDescription | undefined;
}

/** Returns the error about a listing without files. `records` is the number of its records. */
export function noFilesError(accession: AccessionNumber, records: number): FilingsError {
  const reason =
    records === 0
      ? 'there is no such filing, or it has no files'
      : `it has no files: the service sent ${counted(records, 'record')} without a name or of another filing`;
  return errorAbout({ accession }, 'not_found', reason, { hint: CHECK_NUMBER_AND_URL });
}

/** The two endpoints of the service (service.md, sections 3 and 4). */
export class ServiceClient {
  readonly options: ClientOptions;
  readonly #requests: Requests;

  constructor(options: ClientOptions) {
    this.options = options;
    this.#requests = new Requests(options);
  }

  /** The lead of the local clock over the service's, in milliseconds, or undefined until a response had a date. */
  get clockAhead(): number | undefined {
    return this.#requests.clockAhead;
  }

  /**
   * Returns a response that can be a file: 200 with a body that is not an error in disguise, or if `range` has the fields Range and If-Range also 206 and 416.
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
    return this.#requests.follow(url, range, signal, async (response) => {
      const { status } = response;
      const isExpected = status === 200 || ('range' in range && (status === 206 || status === 416));
      // The body of an expected 416 is not a file, so its type and coding do not matter.
      if (!isExpected || status !== 416) await this.#check(response, isExpected, { accession, fileName }, signal);
      if (status === 200 && (await isErrorPage(response, fileName)))
        throw await this.#errorFrom(response, { accession, fileName }, signal);
      return response;
    });
  }

  /**
   * Returns all files of a filing, as far as the responses are certain to name all. Throws `integrity` if they are not,
   * the error of any other response, and the errors of {@link Requests.follow}. Retries as a download does.
   */
  async listFiles(
    accession: AccessionNumber,
    query: readonly Parameter[],
    signal: AbortSignal,
    onRetry?: RetryWatcher['onRetry'],
  ): Promise<Listing> {
    const first = this.#resource('filings', [['accession_no', accession], ...query]);
    const description = this.options.listing;
    let hosts: Hosts | undefined;
    const requestPage = async (url: URL) => {
      const attempt = () => this.#requestPage(url, accession, signal);
      const response = await retry(attempt, this.options.retry, signal, { onRetry });
      hosts = response.hosts;
      return response;
    };
    try {
      if (description === undefined) return readListing(await requestPage(first), accession);
      const { readDescribedListing } = await import('./described-listing.ts');
      return await readDescribedListing(description, accession, first, requestPage);
    } catch (error) {
      throw hosts ? withHosts(hosts, error) : error;
    }
  }

  async #requestPage(url: URL, accession: AccessionNumber, signal: AbortSignal) {
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

  #resource(name: 'download' | 'filings', query: readonly (readonly [string, string])[]): URL {
    return withParameters(new URL(`v1/${name}`, this.options.baseUrl), query);
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
    throw errorAbout(resource, 'integrity', 'encoded although no encoding was requested', { quote: codings });
  }

  async #errorFrom(response: ServiceResponse, resource: Resource, signal: AbortSignal): Promise<FilingsError> {
    const { meter, retry, secrets } = this.options;
    const { status, headers, retryAfterMs: waitMs } = response;
    // The wait begins with the head, because the body may take seconds.
    const times = waitMs === undefined ? {} : { retryAt: retry.now() + waitMs, retryDue: retry.monotonic() + waitMs };
    const { received, body, isTruncated } = await readErrorBytes(response, retry.sleep, signal);
    if (meter) meter.bytes += received;
    const hint = this.#hint(response);
    return errorFromResponse({ status, headers, body, isTruncated, resource, hint, ...times }, secrets);
  }

  #hint({ status, address }: ServiceResponse): string | undefined {
    const { baseUrl, credentials } = this.options;
    if (status === 200) return 'the service sent this in place of the file: check the API key and the base URL';
    if (status !== 401) return undefined;
    const { host, origin } = new URL(address);
    if (origin !== baseUrl.origin)
      return `the service redirects to ${foreign(host)}, and the key is never sent to another host`;
    const { source, token, keyIn } = credentials;
    if (token === undefined) {
      return `check the API key from ${source}, how it is sent (now by --key-in ${keyIn}), and whether the service also requires a JWT`;
    }
    return (
      clockSkew(this.clockAhead, true) ??
      `check ${source}: \`filings token inspect\` shows the JWT, whose public key must be imported for this API key`
    );
  }
}

/** Reads as much of a body as it takes to tell whether it is an error, and puts it back. */
async function isErrorPage({ headers, length, body }: ServiceResponse, fileName: string): Promise<boolean> {
  const test = errorTestFor(fileName, String(headers['content-type'] ?? ''), length);
  let start = Buffer.alloc(0);
  let isError = test ? undefined : false;
  while (isError === undefined) {
    // An error of the body comes again at its next read.
    const chunks = await body.read().catch(() => undefined);
    start = Buffer.concat([start, ...(chunks ?? [])]);
    isError = test?.(start, chunks === undefined);
  }
  body.unread(start);
  return isError;
}
