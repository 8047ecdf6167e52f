import { FilingsError } from '../errors.ts';

const MOST_REDIRECTS = 5;

/**
 * RFC 9110 section 15.4; `hop` counts from 1. Throws `integrity` for no or a broken Location, a sixth hop, and a step
 * from https to http.
 */
export function nextHop(from: URL, location: string | string[] | undefined, hop: number): URL {
  const refused = (why: string) =>
    new FilingsError('integrity', `${from.host}: ${why} is not followed`, { hint: 'check the base URL' });
  if (hop > MOST_REDIRECTS) throw refused(`more than ${MOST_REDIRECTS} redirects`);
  // An empty one leads back over and over.
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
