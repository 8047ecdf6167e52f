import { FilingsError } from '../errors.ts';
import type { HeaderFields } from '../http/head.ts';
import type { EndTurn } from '../http/rate-limiter.ts';
import { type Answer, get } from '../http/request.ts';
import { isRetriedStatus, retryAfterMs } from '../http/retry.ts';
import { REDACTED } from '../secrets.ts';
import type { ClientOptions } from './client.ts';
import { clockAhead, serviceTime } from './clock-skew.ts';
import { type AuthorizedRequest, carry, holdsKeyInPlace, withoutCredentials } from './credentials.ts';
import { type Hosts, namingHosts, nextHop } from './redirect.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Masked by name, since a short key is found no other way. */
const SECRET_FIELDS = ['authorization', 'proxy-authorization', 'set-cookie'];
const VALIDATORS = ['etag', 'last-modified'];
/** Far more requests than are in flight at a time. */
const MAX_REMEMBERED_REFUSALS = 1000;

export interface ServiceAnswer extends Answer {
  /** In the end, without credentials and query; it may be written to a file. */
  readonly address: string;
  /** The wait that an answer asks for whose request may be tried again, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  readonly hosts: Hosts;
}

export class Requests {
  readonly #options: ClientOptions;
  /** By the last answer, in milliseconds; undefined when none told its date. */
  clockAhead: number | undefined;
  /** Resources whose last answer asked for a wait: when they are requested again, they go first. */
  readonly #refused = new Set<string>();

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /**
   * Follows redirects; behind one to another origin no credential is sent any more. Throws an error without an answer,
   * `integrity` for a redirect that is not followed, and the signal's reason.
   */
  async follow(resource: URL, fields: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ServiceAnswer> {
    const { secrets, credentials } = this.#options;
    let url = resource;
    let trusted = true;
    try {
      for (let hop = 1; ; hop += 1) {
        const answer = await this.#send(url, trusted, fields, signal);
        if (!REDIRECTS.has(answer.status)) {
          const path = url === resource ? url.pathname : secrets.redact(url.pathname);
          return { ...answer, address: `${url.origin}${path}`, hosts: [resource.host, url.host] };
        }
        answer.discard();
        const { location } = answer.headers;
        const to = nextHop(url, location, hop);
        trusted &&= to.origin === url.origin;
        if (!trusted) this.#requireClear(url, to, `${location}`);
        url = withoutCredentials(to, credentials.key);
      }
    } catch (error) {
      throw namingHosts([resource.host, url.host], error);
    }
  }

  async #send(
    url: URL,
    trusted: boolean,
    fields: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Omit<ServiceAnswer, 'address' | 'hosts'>> {
    const { connections, credentials, retry, meter, userAgent, trace } = this.#options;
    let carried: AuthorizedRequest = { url, headers: {} };
    // A service may send back what it was sent.
    const isSecret = (field: string, text: unknown) =>
      SECRET_FIELDS.includes(field) ||
      Object.entries(carried.headers).some(([name, value]) => name.toLowerCase() === field || value === String(text));
    const show = (direction: string, start: string, fields: HeaderFields) => {
      if (!trace) return;
      trace(`${direction} ${start}`);
      for (const [name, value] of Object.entries(fields))
        trace(`${direction}   ${name}: ${isSecret(name, value) ? REDACTED : value}`);
    };
    let sent = 0;
    let endTurn: EndTurn = () => {};
    try {
      const answer = await get(connections, async () => {
        // The server had closed the connection of the last turn before the request reached it.
        endTurn(false);
        endTurn = await retry.limiter.acquire(signal, this.#refused.delete(url.href));
        if (meter) meter.requests += 1;
        // Not before the wait: a token may expire in it.
        if (trusted) carried = await carry(url, credentials);
        const identity = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity' };
        const headers = { ...identity, ...fields, ...carried.headers };
        show('>', `GET ${carried.url.href}`, headers);
        sent = retry.monotonic();
        return { url: carried.url, headers, signal };
      });
      const received = retry.now();
      // The clock may have been set since.
      this.clockAhead = clockAhead(answer.headers.date, received - (retry.monotonic() - sent), received);
      show('<', `${answer.status}`, answer.headers);
      const headers = this.#withoutTellingValidators(answer.headers);
      return { ...answer, headers, retryAfterMs: this.#pauseAsAsked(url, answer) };
    } finally {
      endTurn();
    }
  }

  /** Pauses all jobs if the answer asks for a wait. Returns the wait in milliseconds. */
  #pauseAsAsked(url: URL, { status, headers }: Answer): number | undefined {
    const { now, limiter, maxRetryAfterMs } = this.#options.retry;
    const waitMs = isRetriedStatus(status)
      ? retryAfterMs(headers['retry-after'], serviceTime(now(), this.clockAhead))
      : undefined;
    if (waitMs === undefined || waitMs > maxRetryAfterMs) return waitMs;
    limiter.pause(waitMs);
    // One whose retries are used up is not requested again.
    if (this.#refused.size === MAX_REMEMBERED_REFUSALS) this.#refused.clear();
    this.#refused.add(url.href);
    return waitMs;
  }

  /** Throws `integrity` if the address of another origin holds a credential, as that of a login page does. */
  #requireClear(from: URL, to: URL, location: string): void {
    const { secrets, credentials } = this.#options;
    // A user, a password and a fragment are in the first one alone; in the second one dots are resolved.
    const addresses = `${location} ${to.href}`;
    if (!secrets.holds(addresses) && !holdsKeyInPlace(addresses, credentials)) return;
    const why = `a redirect to ${to.host} that carries our credential is not followed`;
    const inUrl = credentials.keyIn === 'query' || credentials.keyIn === 'path';
    throw new FilingsError('integrity', why, {
      subject: { host: from.host },
      hint: inUrl ? { advice: 'key-in-header' } : 'check the base URL',
    });
  }

  /** A validator made of our key would go into the report, the resume record and If-Range. */
  #withoutTellingValidators(headers: HeaderFields): HeaderFields {
    const telling = VALIDATORS.filter((name) => this.#options.secrets.holds(String(headers[name] ?? '')));
    return { ...headers, ...Object.fromEntries(telling.map((name) => [name, undefined])) };
  }
}
