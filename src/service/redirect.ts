import { type ErrorCode, FilingsError } from '../errors.ts';

const MAX_REDIRECTS = 5;

/**
 * RFC 9110 section 15.4; `hop` counts from 1. Throws `integrity` for no or a broken Location, a sixth hop, and a step
 * from https to http.
 */
export function nextHop(from: URL, location: string | string[] | undefined, hop: number): URL {
  const refused = (why: string) =>
    new FilingsError('integrity', `${why} is not followed`, {
      subject: { host: from.host },
      hint: 'check the base URL',
    });
  if (hop > MAX_REDIRECTS) throw refused(`more than ${MAX_REDIRECTS} redirects`);
  // An empty one leads back over and over.
  if (typeof location !== 'string' || location === '' || !URL.canParse(location, from.href))
    throw refused('a redirect that leads nowhere');
  const to = new URL(location, from);
  if (to.protocol !== 'https:' && to.protocol !== 'http:')
    throw refused(`a redirect to ${to.protocol}${to.host && `//${to.host}`}`);
  if (from.protocol === 'https:' && to.protocol === 'http:')
    throw refused(`a redirect from https to http://${to.host}`);
  to.hash = '';
  to.username = '';
  to.password = '';
  return to;
}

/** Errors of other codes are not about an answer. */
const OF_ANSWERS: readonly ErrorCode[] = ['auth', 'not_found', 'rejected', 'temporary', 'integrity'];

/** The hosts of the first and of the last request, each with its port. */
export type Hosts = readonly [first: string, last: string];

/** Returns an error behind a redirect to another host so that it names both; any other error as it is. */
export function namingHosts([first, last]: Hosts, error: unknown): unknown {
  if (first === last || !(error instanceof FilingsError) || !OF_ANSWERS.includes(error.code) || error.isTimeUp)
    return error;
  return error.with({ subject: { host: last, redirectedFrom: first } });
}
