// Decides which redirects are followed, and names both hosts in errors after a redirect.
import { type ErrorCode, FilingsError } from '../errors.ts';

const MAX_REDIRECTS = 5;
/** The codes of errors about a response, whose host the message names. */
const CODES_OF_RESPONSES: readonly ErrorCode[] = ['auth', 'not_found', 'rejected', 'temporary', 'integrity'];

/** The hosts of the first and of the last request, each with its port. */
export type Hosts = readonly [first: string, last: string];

/**
 * Returns the URL that a redirect leads to (RFC 9110, section 15.4). `hop` counts from 1. Throws `integrity` for a
 * missing or invalid Location, a sixth hop, and a step from https to http.
 */
export function resolveRedirect(from: URL, location: string | string[] | undefined, hop: number): URL {
  const rejection = (target: string) =>
    new FilingsError('integrity', `${target} is not followed`, {
      subject: { host: from.host },
      hint: 'check the base URL',
    });
  if (hop > MAX_REDIRECTS) throw rejection(`more than ${MAX_REDIRECTS} redirects`);
  // An empty Location would lead to the same URL again and again.
  if (typeof location !== 'string' || location === '' || !URL.canParse(location, from.href))
    throw rejection('a redirect that leads nowhere');
  const to = new URL(location, from);
  if (to.protocol !== 'https:' && to.protocol !== 'http:')
    throw rejection(`a redirect to ${to.protocol}${to.host && `//${to.host}`}`);
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw rejection(`a redirect from https to http://${to.host}`);
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
