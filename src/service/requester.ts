// Sends the requests for a resource: with the credentials, at the pace of the rate limiter, and through all redirects.
// undici does not follow them, because it would send the header with the key to other origins.
import { type ErrorCode, FilingsError } from '../errors.ts';
import type { HeaderFields } from '../http/head.ts';
import { type GetRequest, get, type HttpResponse } from '../http/request.ts';
import { parseRetryAfter, RETRIED_STATUSES } from '../http/retry.ts';
import { markForRedaction, REDACTED, redactKeyInUrl } from '../secrets.ts';
import type { ClientOptions } from './client.ts';
import { measureClockAhead } from './clock-skew.ts';
import { type AuthorizedRequest, addCredentials, type SentSecrets } from './credentials.ts';

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;
/** More URLs than ever wait for a retry at the same time. `#pauseIfRequested` says why there is a limit. */
const MAX_REFUSED_URLS = 1000;
/** After a redirect, the messages of these errors name the first and the last host. */
const RESPONSE_ERROR_CODES: readonly ErrorCode[] = ['auth', 'not_found', 'rejected', 'temporary', 'integrity'];

/** The hosts of the first and of the last request, with their ports. */
export type Hosts = readonly [first: string, last: string];

interface TimedResponse extends HttpResponse {
  /** How long the response asks to wait. */
  readonly retryAfterMs: number | undefined;
}

export interface ServiceResponse extends TimedResponse {
  /**
   * The last URL, without query and credentials. It is written to a file when a download is interrupted. The path of a
   * redirect may still repeat the key, so `transfer/part.ts` first searches it for secrets.
   */
  readonly address: string;
  readonly hosts: Hosts;
  /** Whether the request had no credentials, because of a redirect to another origin. */
  readonly isOtherOrigin: boolean;
}

/** A request, and the redirects that it has led to. */
interface Chain {
  readonly firstUrl: URL;
  readonly isUrlFromService: boolean;
  readonly headers: GetRequest['headers'];
  readonly signal: AbortSignal;
  /** Of the last request. */
  url: URL;
  isOtherOrigin: boolean;
  sent?: SentSecrets;
}

export class Requester {
  readonly #options: ClientOptions;
  /** The header of the last response, and when its request was sent and it arrived, in milliseconds since the epoch. */
  #lastResponse: readonly [headers: HeaderFields, sentAt: number, receivedAt: number] | undefined;
  /**
   * URLs that were refused with a Retry-After. Their next requests go first: in a simulation (600 files, 64 jobs, one
   * request accepted per second, 5 retries), 2 files failed instead of 63.
   */
  readonly #refusedUrls = new Set<string>();

  constructor(options: ClientOptions) {
    this.#options = options;
    // Redacts whatever follows the name of this header in foreign text.
    options.world.secrets.addCredentialName(options.credentials.keyHeader);
  }

  /**
   * After a redirect to another origin, no request of the chain has credentials, even if the chain leads back. The
   * whole chain is repeated once after a 401 if the key or the token has been renewed.
   *
   * @param isUrlFromService whether the service has made `firstUrl` or a part of it
   */
  async request<T>(
    firstUrl: URL,
    headers: Chain['headers'],
    signal: AbortSignal,
    handle: (response: ServiceResponse) => Promise<T>,
    isUrlFromService = false,
  ): Promise<T> {
    const { credentials, trace } = this.#options;
    const begin = (): Chain => ({ firstUrl, isUrlFromService, headers, signal, url: firstUrl, isOtherOrigin: false });
    let chain = begin();
    try {
      let response = await this.#followRedirects(chain);
      const rejected = response.status === 401 && !chain.isOtherOrigin ? chain.sent : undefined;
      if (rejected && (await credentials.renew(rejected))) {
        response.discard();
        trace?.('* the file of the key or the token has changed: repeating the request');
        chain = begin();
        response = await this.#followRedirects(chain);
      }
      const { url, isOtherOrigin } = chain;
      const address = `${url.origin}${url.pathname}`;
      const hosts = [firstUrl.host, url.host] as const;
      return await handle({ ...response, address, hosts, isOtherOrigin });
    } catch (error) {
      // `#followRedirects` keeps `chain` up to date, so it describes the last request here, too.
      throw addHosts([firstUrl.host, chain.url.host], chain.isOtherOrigin ? markOtherOrigin(error) : error);
    }
  }

  /** By how many milliseconds this machine's clock is ahead of the `Date` of the last response. */
  get clockAheadMs(): number | undefined {
    return this.#lastResponse && measureClockAhead(...this.#lastResponse);
  }

  async #followRedirects(chain: Chain): Promise<TimedResponse> {
    for (let hop = 1; ; hop += 1) {
      const response = await this.#send(chain);
      if (!REDIRECT_STATUSES.has(response.status)) return response;
      response.discard();
      const { location } = response.headers;
      const to = resolveRedirect(chain.url, location, hop);
      chain.isOtherOrigin ||= to.origin !== chain.url.origin;
      if (chain.isOtherOrigin) this.#checkForLeak(chain.url, to, `${location}`);
      chain.url = to;
    }
  }

  async #send(chain: Chain): Promise<TimedResponse> {
    const { connections, limiter, meter, world } = this.#options;
    for (;;) {
      const endRequest = await limiter.acquire(chain.signal, this.#refusedUrls.delete(chain.url.href));
      let wasAnswered = true;
      try {
        const request = await this.#makeRequest(chain);
        meter.requests += 1;
        const sentAt = world.monotonic();
        const response = await get(connections, request);
        wasAnswered = response !== undefined;
        if (response === undefined) continue;
        const receivedAt = world.now();
        // On the monotonic clock, because this machine's clock may have been set in the meantime.
        const elapsedMs = world.monotonic() - sentAt;
        this.#lastResponse = [response.headers, receivedAt - elapsedMs, receivedAt];
        this.#trace('<', `${response.status}`, response.headers);
        return { ...response, retryAfterMs: this.#pauseIfRequested(chain, response) };
      } finally {
        // After `#pauseIfRequested`, whose pause tells the limiter that the service refused the request.
        endRequest(wasAnswered);
      }
    }
  }

  /** The credentials are added after the wait for the limiter, because a token might expire during it. */
  async #makeRequest(chain: Chain): Promise<GetRequest> {
    const { credentials, userAgent } = this.#options;
    let authorized: AuthorizedRequest = { url: chain.url, headers: {} };
    if (!chain.isOtherOrigin) {
      const current = await credentials.current();
      // The URL of a redirect may contain the key, so all requests of a chain send the same one.
      chain.sent = { ...current, key: chain.sent?.key ?? current.key };
      authorized = addCredentials(chain.url, credentials, chain.sent);
    }
    // Without a content encoding, a range of the body is a range of the file.
    const ownHeaders = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' };
    const headers = { ...ownHeaders, ...chain.headers, ...authorized.headers };
    this.#trace('>', `GET ${formatUrl(authorized.url.href, chain)}`, headers);
    return { url: authorized.url, headers, signal: chain.signal };
  }

  /** A credential is redacted by the name of its header, because a short one is not recognized by its value. */
  #trace(direction: '>' | '<', start: string, headers: HeaderFields): void {
    const { trace, world } = this.#options;
    if (!trace) return;
    trace(`${direction} ${start}`);
    for (const [name, value] of Object.entries(headers)) {
      const isSecret = world.secrets.holdsCredential(name) || name === 'set-cookie';
      // The query of a redirect's URL may hold a credential that the service has made for it, such as a signature.
      const shown = name === 'location' ? withoutQuery(`${value}`) : `${value}`;
      const line = `${name}: ${isSecret ? REDACTED : shown}`;
      // The headers of a request are the program's own words.
      trace(`${direction}   ${direction === '<' ? markForRedaction(line) : line}`);
    }
  }

  /**
   * Nothing is paused if the wait is longer than --max-retry-after, because http/retry.ts ends the run, nor
   * if a host behind a redirect asks for it, because it says nothing about the service.
   */
  #pauseIfRequested({ url, isOtherOrigin }: Chain, { status, headers }: HttpResponse): number | undefined {
    const { limiter, retryPolicy, world } = this.#options;
    const waitMs = RETRIED_STATUSES.has(status) ? parseRetryAfter(headers, world.now()) : undefined;
    if (waitMs === undefined || waitMs > retryPolicy.maxRetryAfter || isOtherOrigin) return waitMs;
    limiter.pause(waitMs);
    // A URL leaves the set when it is requested again, so one whose retries are used up would stay for ever. If the
    // limit clears the set, the other retries only lose their place at the front of the queue.
    if (this.#refusedUrls.size === MAX_REFUSED_URLS) this.#refusedUrls.clear();
    this.#refusedUrls.add(url.href);
    return waitMs;
  }

  /**
   * A redirect to another origin might reveal a credential. If the key is sent in the URL, every one is refused,
   * because the URL of a login page often contains the requested URL in some encoding.
   */
  #checkForLeak(from: URL, to: URL, location: string): void {
    const { credentials, world } = this.#options;
    const leakError = (why: string, hint?: string) =>
      redirectError(from, `redirect to ${markForRedaction(to.host)} (${why})`, hint);
    if (credentials.keyIn === 'query' || credentials.keyIn === 'path') {
      const hint = 'send the key in a header instead: --key-in header';
      throw leakError('its URL may contain the key, because the key was sent in the URL', hint);
    }
    // Resolving a Location drops its password and any tabs, so both forms are searched.
    if (world.secrets.occurIn(location) || world.secrets.occurIn(to.href))
      throw leakError('its URL contains the key or the token');
  }
}

/** The query of a redirect's URL may hold a credential that the service has put there. */
function formatUrl(url: string, { url: last, firstUrl, isUrlFromService }: Chain): string {
  if (last !== firstUrl) return markForRedaction(withoutQuery(url));
  return isUrlFromService ? markForRedaction(url) : redactKeyInUrl(url);
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '');
}

function redirectError(from: URL, what: string, hint = 'check the base URL'): FilingsError {
  return new FilingsError('integrity', `refused to follow a ${what}`, { subject: { host: from.host }, hint });
}

/** RFC 9110, section 15.4. `hop` is 1 for the first redirect of a chain. */
export function resolveRedirect(from: URL, location: string | string[] | undefined, hop: number): URL {
  if (hop > MAX_REDIRECTS) throw redirectError(from, `chain of more than ${MAX_REDIRECTS} redirects`);
  // An empty Location is a valid reference to the same URL, which would redirect again.
  if (typeof location !== 'string' || location === '' || !URL.canParse(location, from.href))
    throw redirectError(from, 'redirect without a valid Location');
  const to = new URL(location, from);
  if (to.protocol !== 'https:' && to.protocol !== 'http:')
    throw redirectError(from, `redirect to ${markForRedaction(`${to.protocol}${to.host && `//${to.host}`}`)}`);
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw redirectError(from, `redirect from https to ${markForRedaction(`http://${to.host}`)}`);
  // None of these is sent. The password may be somebody's secret, so they are not shown either.
  [to.hash, to.username, to.password] = ['', '', ''];
  return to;
}

/** What another host answers says nothing about the service. */
function markOtherOrigin(error: unknown): unknown {
  if (!isAboutResponse(error)) return error;
  const hint = error.isUnreachable ? 'the service redirects there: run it again later' : error.hint;
  return error.with({ isOtherOrigin: true, stopsRun: false, hint });
}

/** Changes only errors of a request or its response, and only if redirects led to another host. */
export function addHosts([first, last]: Hosts, error: unknown): unknown {
  if (first === last || !isAboutResponse(error)) return error;
  return error.with({ subject: { host: last, redirectedFrom: first } });
}

function isAboutResponse(error: unknown): error is FilingsError {
  return error instanceof FilingsError && !error.isInterruption && RESPONSE_ERROR_CODES.includes(error.code);
}
