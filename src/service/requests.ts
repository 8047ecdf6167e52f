// Sends requests with the credentials, and paces them. Follows redirects by hand, because undici would keep the key's
// field across origins. Takes the URL of a resource and gives the response at the end of all redirects, whatever its
// status is.
import { type ErrorCode, FilingsError } from '../errors.ts';
import type { HeaderFields } from '../http/head.ts';
import type { EndRequest } from '../http/rate-limiter.ts';
import { get, type HttpResponse } from '../http/request.ts';
import { isRetriedStatus, retryAfterMs } from '../http/retry.ts';
import { foreign, REDACTED, withoutKey } from '../secrets.ts';
import type { ClientOptions } from './client.ts';
import { clockAhead, serviceTime } from './clock-skew.ts';
import { type AuthorizedRequest, addCredentials, isKeyInAddress } from './credentials.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;
const VALIDATORS = ['etag', 'last-modified'];
/** The most URLs that are remembered for a retry. Far fewer requests are in flight at a time. */
const MAX_POSTPONED = 1000;
/** The codes of errors about a response, whose host the message names. */
const CODES_OF_RESPONSES: readonly ErrorCode[] = ['auth', 'not_found', 'rejected', 'temporary', 'integrity'];

/** The hosts of the first and of the last request, each with its port. */
export type Hosts = readonly [first: string, last: string];

/** The response at the end of all redirects. */
export interface ServiceResponse extends HttpResponse {
  /** The last URL, without credentials and query, so that it may be written to a file. */
  readonly address: string;
  /** The wait that the service asks for before a retry, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly hosts: Hosts;
}

/** The requests of a run. */
export class Requests {
  readonly #options: ClientOptions;
  /** The lead of the local clock over the last response's date, in milliseconds, or undefined without a date. */
  clockAhead: number | undefined;
  /** The URLs whose last response asked for a wait. Their retries go before other requests. */
  readonly #postponed = new Set<string>();

  constructor(options: ClientOptions) {
    this.#options = options;
    options.secrets.addName(options.credentials.keyHeader);
  }

  /**
   * Passes the response at the end of all redirects to `read`, and returns its result. After a redirect to another
   * origin no credential is sent. Throws `temporary` without a response, `integrity` for a redirect that is not
   * followed, the errors of `read`, and the signal's reason.
   */
  async follow<T>(
    resource: URL,
    fields: Readonly<Record<string, string>>,
    signal: AbortSignal,
    read: (response: ServiceResponse) => Promise<T>,
  ): Promise<T> {
    let url = resource;
    let isTrusted = true;
    try {
      for (let hop = 1; ; hop += 1) {
        const response = await this.#send(url, url === resource, isTrusted, fields, signal);
        if (!REDIRECTS.has(response.status)) {
          const headers = this.#withSafeValidators(response.headers);
          const address = `${url.origin}${url.pathname}`;
          return await read({ ...response, headers, address, hosts: [resource.host, url.host] });
        }
        response.discard();
        const { location } = response.headers;
        const to = resolveRedirect(url, location, hop);
        isTrusted &&= to.origin === url.origin;
        if (!isTrusted) this.#forbidCredential(url, to, `${location}`);
        url = to;
      }
    } catch (error) {
      throw withHosts([resource.host, url.host], error);
    }
  }

  /** Sends one request, and returns its response whatever the status is. */
  async #send(
    url: URL,
    isOurs: boolean,
    isTrusted: boolean,
    fields: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Omit<ServiceResponse, 'address' | 'hosts'>> {
    const { connections, credentials, retry, meter, userAgent } = this.#options;
    let request: AuthorizedRequest = { url, headers: {} };
    let sentAt = 0;
    let endRequest: EndRequest = () => {};
    try {
      const response = await get(connections, async () => {
        // `get` prepares a second request if the server closed a reused connection before the first one arrived.
        endRequest(false);
        endRequest = await retry.limiter.acquire(signal, this.#postponed.delete(url.href));
        // The token is made after the wait, because it may expire during the wait.
        if (isTrusted) request = await addCredentials(url, credentials);
        if (meter) meter.requests += 1;
        const identity = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' };
        const headers = { ...identity, ...fields, ...request.headers };
        const shownUrl = isOurs ? withoutKey(request.url.href) : foreign(withoutQuery(request.url.href));
        this.#trace('>', `GET ${shownUrl}`, headers);
        sentAt = retry.monotonic();
        return { url: request.url, headers, signal };
      });
      const receivedAt = retry.now();
      // The clock may have been set since the request, so its time is counted back from now.
      this.clockAhead = clockAhead(response.headers.date, receivedAt - (retry.monotonic() - sentAt), receivedAt);
      this.#trace('<', `${response.status}`, response.headers);
      return { ...response, retryAfterMs: this.#pauseIfRequested(url, response) };
    } finally {
      endRequest();
    }
  }

  /** Prints a head. Masks the fields that hold credentials, whatever their length is. */
  #trace(direction: '>' | '<', start: string, fields: HeaderFields): void {
    const { trace, secrets } = this.#options;
    if (!trace) return;
    trace(`${direction} ${start}`);
    for (const [name, value] of Object.entries(fields)) {
      const isSecret = secrets.isSecretName(name) || name === 'set-cookie';
      // The query of another place may hold a credential for it.
      const shown = name === 'location' ? withoutQuery(`${value}`) : `${value}`;
      const line = `${name}: ${isSecret ? REDACTED : shown}`;
      trace(`${direction}   ${direction === '<' ? foreign(line) : line}`);
    }
  }

  /** Pauses all jobs if the response asks for a wait. Returns the wait in milliseconds, or undefined. */
  #pauseIfRequested(url: URL, { status, headers }: HttpResponse): number | undefined {
    const { now, limiter, maxRetryAfterMs } = this.#options.retry;
    const waitMs = isRetriedStatus(status)
      ? retryAfterMs(headers['retry-after'], serviceTime(now(), this.clockAhead))
      : undefined;
    if (waitMs === undefined || waitMs > maxRetryAfterMs) return waitMs;
    limiter.pause(waitMs);
    // URLs whose retries are used up stay in the set, so that it must be bounded.
    if (this.#postponed.size === MAX_POSTPONED) this.#postponed.clear();
    this.#postponed.add(url.href);
    return waitMs;
  }

  /**
   * Throws `integrity` for a redirect to another origin while the key is sent in the address, because the address of a
   * login page copies ours in some encoding, and for one whose Location holds a secret.
   */
  #forbidCredential(from: URL, to: URL, location: string): void {
    const { secrets, credentials } = this.#options;
    const refuse = (why: string, hint?: string) => rejection(from, `redirect to ${foreign(to.host)} (${why})`, hint);
    if (isKeyInAddress(credentials)) {
      const hint = 'send the key in a header, which no address copies: --key-in header';
      throw refuse('its address may copy the key, which is sent in ours', hint);
    }
    if (secrets.holds(location) || secrets.holds(to.href)) throw refuse('its address holds the key or token');
  }

  /** Returns the fields without validators that hold a secret, because validators are written to files. */
  #withSafeValidators(headers: HeaderFields): HeaderFields {
    const unsafe = VALIDATORS.filter((name) => this.#options.secrets.holds(String(headers[name] ?? '')));
    return { ...headers, ...Object.fromEntries(unsafe.map((name) => [name, undefined])) };
  }
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '');
}

function rejection(from: URL, what: string, hint = 'check the base URL'): FilingsError {
  return new FilingsError('integrity', `refused to follow a ${what}`, { subject: { host: from.host }, hint });
}

/**
 * Returns the URL that a redirect leads to (RFC 9110, section 15.4). `hop` counts from 1. Throws `integrity` for a
 * missing or invalid Location, a sixth hop, and a step from https to http.
 */
export function resolveRedirect(from: URL, location: string | string[] | undefined, hop: number): URL {
  if (hop > MAX_REDIRECTS) throw rejection(from, `chain of more than ${MAX_REDIRECTS} redirects`);
  // An empty Location would lead to the same URL again and again.
  if (typeof location !== 'string' || location === '' || !URL.canParse(location, from.href))
    throw rejection(from, 'redirect without a valid Location');
  const to = new URL(location, from);
  if (to.protocol !== 'https:' && to.protocol !== 'http:')
    throw rejection(from, `redirect to ${foreign(`${to.protocol}${to.host && `//${to.host}`}`)}`);
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw rejection(from, `redirect from https to ${foreign(`http://${to.host}`)}`);
  to.hash = '';
  to.username = '';
  to.password = '';
  return to;
}

/** Returns an error after a redirect to another host with both hosts as its subject, and any other error unchanged. */
export function withHosts([first, last]: Hosts, error: unknown): unknown {
  if (first === last || !(error instanceof FilingsError) || error.isTimeUp) return error;
  if (!CODES_OF_RESPONSES.includes(error.code)) return error;
  return error.with({ subject: { host: last, redirectedFrom: first } });
}
