import { FilingsError } from '../errors.ts';
import type { Answer } from '../http/request.ts';
import { get } from '../http/request.ts';
import type { ClientOptions } from './client.ts';
import { clockAhead } from './clock-skew.ts';
import { type Credentials, carry, withoutCredentials } from './credentials.ts';
import { isRedirect, nextHop } from './redirect.ts';
import { answerLines, requestLines, withoutTellingValidators } from './trace.ts';

/** An answer of the service, or of where it has led us. */
export interface ServiceAnswer extends Answer {
  /** Where it came from in the end, without credentials and query. */
  readonly address: string;
}

/** A request of its own: a redirect is another. */
interface Sending {
  readonly url: URL;
  /** Undefined: they may not go there. */
  readonly credentials: Credentials | undefined;
  readonly fields: Readonly<Record<string, string>>;
  readonly beforeSend: () => Promise<void>;
}

/** Sends requests: one for a resource, and one more for each redirect. */
export class Requests {
  readonly #options: ClientOptions;
  #clockAhead: number | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** How far the local clock is ahead of the last answer's, in milliseconds; undefined when none told its date. */
  get clockAhead(): number | undefined {
    return this.#clockAhead;
  }

  /**
   * One GET, redirects followed by hand: once another origin is entered, no credential goes along any more. Throws what keeps a
   * request from going out or an answer from coming, `integrity` for a redirect that is not followed, the signal's reason.
   */
  async follow(resource: URL, fields: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ServiceAnswer> {
    let credentials: Credentials | undefined = this.#options.credentials;
    let url = resource;
    const beforeSend = async () => {
      await this.#options.retry.limiter.acquire(signal);
      this.#options.meter?.request();
    };
    for (let hop = 0; ; hop += 1) {
      const answer = await this.#send({ url, credentials, fields, beforeSend }, signal);
      if (!isRedirect(answer.status)) return { ...answer, address: `${url.origin}${url.pathname}` };
      answer.discard();
      const to = nextHop(url, answer.headers.location, hop + 1);
      if (to.origin !== url.origin) credentials = undefined;
      url = this.#withoutSecrets(to);
    }
  }

  async #send({ url, credentials, fields, beforeSend }: Sending, signal: AbortSignal): Promise<Answer> {
    const { connections, idleTimeout, monotonic, retry, secrets, userAgent, trace } = this.#options;
    const bare = { url, headers: {} };
    const carried = credentials ? await carry(url, credentials) : { ...bare, shown: bare };
    const own = {
      'user-agent': userAgent,
      accept: '*/*',
      'accept-encoding': 'identity',
      ...fields,
    };
    if (trace) for (const line of requestLines(own, carried)) trace(line);
    const headers = { ...own, ...carried.headers };
    const sent = monotonic();
    const answer = await get(connections, { url: carried.url, headers, idleTimeout, signal, monotonic, beforeSend });
    const received = retry.now();
    // By the clock as it is now: it may have been set since.
    this.#clockAhead = clockAhead(answer.headers.date, { sent: received - (monotonic() - sent), received });
    if (trace) for (const line of answerLines(answer, carried)) trace(line);
    return withoutTellingValidators(answer, secrets);
  }

  /** A service may copy our key into its Location; it is put on anew where it may go. */
  #withoutSecrets(to: URL): URL {
    const clean = withoutCredentials(to, this.#options.credentials.key);
    if (!this.#options.secrets.holds(clean.href)) return clean;
    throw new FilingsError('integrity', `${to.host}: a redirect that carries our credential is not followed`);
  }
}
