import { FilingsError } from '../errors.ts';

export const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/**
 * Where a redirect leads (RFC 9110 section 15.4); `hop` counts from 1. Throws
 * `integrity` for no or a broken Location, a sixth hop, and a step from https to http.
 */
export function nextHop(from: URL, location: string | string[] | undefined, hop: number): URL {
  if (hop > MOST_REDIRECTS) throw refused(from, `more than ${MOST_REDIRECTS} redirects`);
  // An empty one leads back to where it came from, over and over.
  if (typeof location !== 'string' || location === '' || !URL.canParse(location, from.href))
    throw refused(from, 'a redirect that leads nowhere');
  const to = new URL(location, from);
  if (to.protocol !== 'https:' && to.protocol !== 'http:') throw refused(from, `a redirect to ${to.protocol}`);
  if (from.protocol === 'https:' && to.protocol === 'http:') throw refused(from, 'a redirect from https to http');
  to.hash = '';
  to.username = '';
  to.password = '';
  return to;
}

function refused(from: URL, why: string): FilingsError {
  return new FilingsError('integrity', `${from.host}: ${why} is not followed`, {
    hint: 'check the base URL: the service should answer there itself',
  });
}
