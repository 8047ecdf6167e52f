import { FilingsError } from '../errors.ts';
import type { HeaderFields } from '../http/head.ts';
import { type Answer, get } from '../http/request.ts';
import { REDACTED } from '../secrets.ts';
import type { ClientOptions } from './client.ts';
import { clockAhead } from './clock-skew.ts';
import { type Credentialed, type Credentials, carry, withoutCredentials } from './credentials.ts';

const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Fields that hold credentials, whoever sends them. */
const SECRET_FIELDS = ['authorization', 'proxy-authorization', 'cookie', 'set-cookie'];

type Fields = Readonly<Record<string, string>>;

/** An answer of the service, or of where it has led us. */
export interface ServiceAnswer extends Answer {
  /** Where it came from in the end, without credentials and query. */
  readonly address: string;
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
   * One GET, redirects followed by hand: once another origin is entered, no credential goes along any more. Throws what
   * keeps an answer from coming, `integrity` for a redirect that is not followed, the signal's reason.
   */
  async follow(resource: URL, fields: Fields, signal: AbortSignal): Promise<ServiceAnswer> {
    let credentials: Credentials | undefined = this.#options.credentials;
    let url = resource;
    for (let hop = 1; ; hop += 1) {
      const answer = await this.#send(url, credentials, fields, signal);
      if (!REDIRECTS.has(answer.status)) return { ...answer, address: `${url.origin}${url.pathname}` };
      answer.discard();
      const to = nextHop(url, answer.headers.location, hop);
      if (to.origin !== url.origin) credentials = undefined;
      url = this.#withoutSecrets(to);
    }
  }

  async #send(url: URL, credentials: Credentials | undefined, fields: Fields, signal: AbortSignal): Promise<Answer> {
    const { connections, monotonic, retry, meter, userAgent, trace = () => {} } = this.#options;
    const bare = { url, headers: {} };
    const carried = credentials ? await carry(url, credentials) : { ...bare, shown: bare };
    const own = { 'user-agent': userAgent, accept: '*/*', 'accept-encoding': 'identity', ...fields };
    for (const line of requestLines(own, carried)) trace(line);
    const headers = { ...own, ...carried.headers };
    const beforeSend = async () => {
      await retry.limiter.acquire(signal);
      meter?.request();
    };
    const sent = monotonic();
    const answer = await get(connections, { url: carried.url, headers, signal, beforeSend });
    const received = retry.now();
    // By the clock as it is now: it may have been set since.
    this.#clockAhead = clockAhead(answer.headers.date, { sent: received - (monotonic() - sent), received });
    for (const line of answerLines(answer, carried)) trace(line);
    return this.#withoutTellingValidators(answer);
  }

  /** A service may copy our key into its Location; it is put on anew where it may go. */
  #withoutSecrets(to: URL): URL {
    const clean = withoutCredentials(to, this.#options.credentials.key);
    if (!this.#options.secrets.holds(clean.href)) return clean;
    throw new FilingsError('integrity', `${to.host}: a redirect that carries our credential is not followed`);
  }

  /**
   * An answer whose validators hold no secret: one that a service made of our key would go into the report, the
   * resume record and If-Range. Such a file is one without a validator.
   */
  #withoutTellingValidators(answer: Answer): Answer {
    const isTelling = ([name, value]: [string, unknown]) =>
      /^(etag|last-modified)$/.test(name) && this.#options.secrets.holds(String(value));
    const fields = Object.entries(answer.headers);
    if (!fields.some(isTelling)) return answer;
    return { ...answer, headers: Object.fromEntries(fields.filter((field) => !isTelling(field))) };
  }
}

/**
 * Where a redirect leads (RFC 9110 section 15.4); `hop` counts from 1. Throws
 * `integrity` for no or a broken Location, a sixth hop, and a step from https to http.
 */
export function nextHop(from: URL, location: string | string[] | undefined, hop: number): URL {
  const refused = (why: string) =>
    new FilingsError('integrity', `${from.host}: ${why} is not followed`, {
      hint: 'check the base URL: the service should answer there itself',
    });
  if (hop > MOST_REDIRECTS) throw refused(`more than ${MOST_REDIRECTS} redirects`);
  // An empty one leads back to where it came from, over and over.
  if (typeof location !== 'string' || location === '' || !URL.canParse(location, from.href))
    throw refused('a redirect that leads nowhere');
  const to = new URL(location, from);
  if (to.protocol !== 'https:' && to.protocol !== 'http:') throw refused(`a redirect to ${to.protocol}`);
  if (from.protocol === 'https:' && to.protocol === 'http:') throw refused('a redirect from https to http');
  to.hash = '';
  to.username = '';
  to.password = '';
  return to;
}

/** A request as `--verbose` tells it. What it carries is masked by its place, since a short key is found no other way. */
function requestLines(fields: Fields, { shown }: Credentialed): string[] {
  return [`> GET ${shown.url.href}`, ...fieldLines('>', { ...fields, ...shown.headers })];
}

/** An answer's head as `--verbose` tells it; a service may send back what it was sent. */
function answerLines({ status, headers }: Answer, sent: Credentialed): string[] {
  const secretNames = [...SECRET_FIELDS, ...Object.keys(sent.headers).map((name) => name.toLowerCase())];
  const secretValues = Object.values(sent.headers);
  const isSecret = (name: string, value: unknown) => secretNames.includes(name) || secretValues.includes(String(value));
  const shown = Object.entries(headers).map(([name, value]) => [name, isSecret(name, value) ? REDACTED : value]);
  return [`< ${status}`, ...fieldLines('<', Object.fromEntries(shown))];
}

function fieldLines(direction: string, fields: HeaderFields): string[] {
  return Object.entries(fields).map(([name, value]) => `${direction}   ${name}: ${value}`);
}
