import { errorAbout, type FilingsError, type Hint, type Resource, withResource } from '../errors.ts';
import type { Connections } from '../http/connections.ts';
import { type RetryPolicy, type RetryWatcher, retry } from '../http/retry.ts';
import type { Secrets } from '../secrets.ts';
import type { AccessionNumber } from './accession.ts';
import { clockSkew } from './clock-skew.ts';
import type { Credentials } from './credentials.ts';
import { type ListingDescription, type Page, readListing } from './listing.ts';
import { type Listing, type PagingMemory, type Parameter, readAllPages } from './listing-pages.ts';
import { readAtMost, readErrorBytes } from './read-body.ts';
import { namingHosts } from './redirect.ts';
import { CHECK_NUMBER_AND_URL, errorFromAnswer } from './refusal.ts';
import { Requests, type ServiceAnswer } from './requests.ts';

/** More than metadata needs. Bytes. */
const MAX_LISTING = 16 << 20;

export interface Meter {
  /** Sent: listings, files, further tries, redirects. */
  requests: number;
  /** Body bytes of listings and errors; whoever takes a file counts its own. */
  bytes: number;
}

export interface ClientOptions {
  /** Ends in a slash, and not in `/v1/`. */
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  readonly connections: Connections;
  readonly retry: RetryPolicy;
  readonly userAgent: string;
  readonly secrets: Secrets;
  /** Redacts what it shows. */
  readonly trace: ((line: string) => void) | undefined;
  readonly meter?: Meter | undefined;
  /** How the service's listing is to be read, if the user has described it. */
  readonly listing?: ListingDescription | undefined;
  readonly warn: (text: string) => void;
  /** Words a command so that it asks the same service. */
  readonly again: (command: string) => string;
}

/** The error about a listing without any file. */
export function noFiles(accession: AccessionNumber): FilingsError {
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

  get clockAhead(): number | undefined {
    return this.#requests.clockAhead;
  }

  /**
   * `range` holds Range and If-Range or nothing. The answer can be a file: 200, or with a range also 206 and 416.
   * Throws what any other answer means.
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
    try {
      if (!welcome || answer.status !== 416) await this.#refuseUnless(welcome, answer, { accession, fileName }, signal);
      return answer;
    } catch (error) {
      throw namingHosts(answer.hosts, error);
    }
  }

  /**
   * Returns all files of a filing, at least one. Throws `integrity` for a response that is no listing or a part of one,
   * `not_found` if the filing has no files.
   */
  async listFiles(
    accession: AccessionNumber,
    { query, pageSize }: { readonly query: readonly Parameter[]; readonly pageSize: number | undefined },
    signal: AbortSignal,
    onRetry?: RetryWatcher['onRetry'],
  ): Promise<Listing> {
    const { listing: description, warn } = this.options;
    const ask = (paging: readonly Parameter[]) => this.listPage(accession, [...query, ...paging], signal, onRetry);
    const listing = await readAllPages({ accession, pageSize, description, memory: this.#paging, ask, warn });
    if (listing.files.length > 0) return listing;
    throw noFiles(accession);
  }

  /** Requests and reads one response of the listing. Retried as a download is. Throws as `listFiles`. */
  async listPage(
    accession: AccessionNumber,
    query: readonly Parameter[],
    signal: AbortSignal,
    onRetry?: RetryWatcher['onRetry'],
  ): Promise<Page> {
    const url = this.#resource('filings', [['accession_no', accession], ...query]);
    const resource = { accession };
    const attempt = async () => {
      const answer = await this.#requests.follow(url, {}, signal);
      const { headers, hosts } = answer;
      try {
        await this.#refuseUnless(answer.status === 200, answer, resource, signal);
        if (headers['content-range'] !== undefined) {
          answer.discard();
          throw errorAbout(resource, 'integrity', 'invalid response: 200 with Content-Range');
        }
        const body = await readAtMost(answer, MAX_LISTING, resource, (bytes) => {
          if (this.options.meter) this.options.meter.bytes += bytes;
        });
        return { body, link: headers.link, hosts };
      } catch (error) {
        throw namingHosts(hosts, error);
      }
    };
    const telling = (error: unknown) => Promise.reject(withResource(resource, error));
    const response = await retry(() => attempt().catch(telling), this.options.retry, signal, { onRetry });
    const { listing } = this.options;
    try {
      if (listing === undefined) return readListing(response, accession);
      const { readDescribedListing } = await import('./described-listing.ts');
      return readDescribedListing(response, accession, listing);
    } catch (error) {
      throw namingHosts(response.hosts, error);
    }
  }

  #resource(name: 'download' | 'filings', query: readonly (readonly [string, string])[]): URL {
    const url = new URL(`v1/${name}`, this.options.baseUrl);
    url.search = query.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&');
    return url;
  }

  /** Throws `integrity` for a coded answer; problem details are an error under any status. */
  async #refuseUnless(welcome: boolean, answer: ServiceAnswer, resource: Resource, signal: AbortSignal): Promise<void> {
    const { headers } = answer;
    const isProblem = /^application\/problem\+json\b/i.test(String(headers['content-type'] ?? ''));
    if (!welcome || isProblem) throw await this.#errorFrom(answer, resource, signal);
    const codings = String(headers['content-encoding'] ?? '');
    if (codings.split(',').every((one) => /^(identity)?$/i.test(one.trim()))) return;
    answer.discard();
    throw errorAbout(resource, 'integrity', `it came in the content coding ${codings}, which was not asked for`);
  }

  async #errorFrom(answer: ServiceAnswer, resource: Resource, signal: AbortSignal): Promise<FilingsError> {
    const { meter, again, retry, secrets } = this.options;
    const { status, headers } = answer;
    // Counted from here, because the body may be long in coming.
    const { retryAfterMs: waitMs } = answer;
    const asked = waitMs === undefined ? {} : { retryAt: retry.now() + waitMs, retryDue: retry.monotonic() + waitMs };
    const { body, truncated } = await readErrorBytes(answer, retry.sleep, signal);
    if (meter) meter.bytes += body.length;
    const hint = this.#hint(answer);
    return errorFromAnswer({ status, headers, body, truncated, resource, hint, again, ...asked }, secrets);
  }

  #hint({ status, address }: ServiceAnswer): Hint | undefined {
    const { again, baseUrl, credentials } = this.options;
    if (status !== 401) return undefined;
    const { host, origin } = new URL(address);
    if (origin !== baseUrl.origin) return `the service redirects to ${host}, where no key is sent`;
    const { source, token } = credentials;
    if (token === undefined) return { advice: 'check-key', source, command: again('filings config check') };
    return (
      clockSkew(this.clockAhead, true) ??
      `check ${source}: filings token inspect shows the JWT; is its public key imported for this API key?`
    );
  }
}
