// Sends requests with the credentials, and paces them. Follows redirects by hand, because undici would keep the key's
// field across origins. Takes the URL of a resource and gives the response at the end of all redirects, whatever its
// status is.
import { FilingsError } from '../errors.ts';
import type { HeaderFields } from '../http/head.ts';
import type { EndRequest } from '../http/rate-limiter.ts';
import { get, type HttpResponse } from '../http/request.ts';
import { isRetriedStatus, retryAfterMs } from '../http/retry.ts';
import { REDACTED } from '../secrets.ts';
import type { ClientOptions } from './client.ts';
import { clockAhead, serviceTime } from './clock-skew.ts';
import { type AuthorizedRequest, addCredentials, hasKeyInPosition, withoutCredentials } from './credentials.ts';
import { type Hosts, resolveRedirect, withHosts } from './redirect.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Fields that are masked by name, because a short key is not found in a text. */
const SECRET_FIELDS = ['authorization', 'proxy-authorization', 'set-cookie'];
const VALIDATORS = ['etag', 'last-modified'];
/** The most URLs that are remembered for a retry. Far fewer requests are in flight at a time. */
const MAX_POSTPONED = 1000;

/** The response at the end of all redirects. */
export interface ServiceResponse extends HttpResponse {
  /** The last URL, without credentials and query, so that it may be written to a file. */
  readonly address: string;
  /** The wait that the service asks for before a retry, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly hosts: Hosts;
}

/**
 * Returns all that the trace shows of the URL of a redirect. The rest may be credentials of somebody else, such as a
 * signature or the code of a login, which no redaction knows.
 */
function originAndPath(location: string, base: URL): string {
  if (!URL.canParse(location, base.href)) return 'not a URL';
  const { protocol, host, pathname } = new URL(location, base);
  return `${protocol}//${host}${pathname}`;
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
  }

  /**
   * Returns the response at the end of all redirects. After a redirect to another origin no credential is sent. Throws
   * `temporary` without a response, `integrity` for a redirect that is not followed, and the signal's reason.
   */
  async follow(resource: URL, fields: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ServiceResponse> {
    const { secrets, credentials } = this.#options;
    let url = resource;
    let isTrusted = true;
    try {
      for (let hop = 1; ; hop += 1) {
        const response = await this.#send(url, { isTrusted, isRedirected: hop > 1 }, fields, signal);
        if (!REDIRECTS.has(response.status)) {
          const path = url === resource ? url.pathname : secrets.redact(url.pathname);
          return { ...response, address: `${url.origin}${path}`, hosts: [resource.host, url.host] };
        }
        response.discard();
        const { location } = response.headers;
        const to = resolveRedirect(url, location, hop);
        isTrusted &&= to.origin === url.origin;
        if (!isTrusted) this.#forbidCredential(url, to, `${location}`);
        url = withoutCredentials(to, credentials.key);
      }
    } catch (error) {
      throw withHosts([resource.host, url.host], error);
    }
  }

  /** Sends one request, and returns its response whatever the status is. */
  async #send(
    url: URL,
    { isTrusted, isRedirected }: { readonly isTrusted: boolean; readonly isRedirected: boolean },
    fields: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Omit<ServiceResponse, 'address' | 'hosts'>> {
    const { connections, credentials, retry, meter, userAgent, trace } = this.#options;
    let request: AuthorizedRequest = { url, headers: {} };
    // A service may send our fields back.
    const isSecret = (field: string, text: unknown) =>
      SECRET_FIELDS.includes(field) ||
      Object.entries(request.headers).some(([name, value]) => name.toLowerCase() === field || value === String(text));
    const traceHead = (direction: string, start: string, fields: HeaderFields) => {
      if (!trace) return;
      trace(`${direction} ${start}`);
      for (const [name, value] of Object.entries(fields)) {
        const shown = name === 'location' ? originAndPath(`${value}`, url) : value;
        trace(`${direction}   ${name}: ${isSecret(name, value) ? REDACTED : shown}`);
      }
    };
    let sentAt = 0;
    let endRequest: EndRequest = () => {};
    try {
      const response = await get(connections, async () => {
        // `get` prepares a second request if the server closed a reused connection before the first one arrived.
        endRequest(false);
        endRequest = await retry.limiter.acquire(signal, this.#postponed.delete(url.href));
        if (meter) meter.requests += 1;
        // The token is made after the wait, because it may expire during the wait.
        if (isTrusted) request = await addCredentials(url, credentials);
        const identity = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' };
        const headers = { ...identity, ...fields, ...request.headers };
        const shown = isRedirected ? originAndPath(request.url.href, url) : request.url.href;
        traceHead('>', `GET ${shown}`, headers);
        sentAt = retry.monotonic();
        return { url: request.url, headers, signal };
      });
      const receivedAt = retry.now();
      // The clock may have been set since the request, so its time is counted back from now.
      this.clockAhead = clockAhead(response.headers.date, receivedAt - (retry.monotonic() - sentAt), receivedAt);
      traceHead('<', `${response.status}`, response.headers);
      const headers = this.#withoutSecretValidators(response.headers);
      return { ...response, headers, retryAfterMs: this.#pauseIfRequested(url, response) };
    } finally {
      endRequest();
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

  /** Throws `integrity` if a URL of another origin holds our credential, as that of a login page does. */
  #forbidCredential(from: URL, to: URL, location: string): void {
    const { secrets, credentials } = this.#options;
    // Both texts are searched: only the Location still has user, password and fragment, and only the URL is without
    // `..`.
    const addresses = `${location} ${to.href}`;
    if (!secrets.holds(addresses) && !hasKeyInPosition(addresses, credentials)) return;
    const reason = `a redirect to ${to.host} that carries our credential is not followed`;
    const inUrl = credentials.keyIn === 'query' || credentials.keyIn === 'path';
    throw new FilingsError('integrity', reason, {
      subject: { host: from.host },
      hint: inUrl ? { advice: 'key-in-header' } : 'check the base URL',
    });
  }

  /**
   * Returns the fields without validators that hold a secret, because they would go into the report and into records.
   */
  #withoutSecretValidators(headers: HeaderFields): HeaderFields {
    const withSecret = VALIDATORS.filter((name) => this.#options.secrets.holds(String(headers[name] ?? '')));
    return { ...headers, ...Object.fromEntries(withSecret.map((name) => [name, undefined])) };
  }
}
