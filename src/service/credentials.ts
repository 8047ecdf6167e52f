// The places of credentials in requests (docs/service.md, section 5).
import type { GetRequest } from '../http/request.ts';

export const KEY_PLACEMENTS = ['authorization', 'header', 'query', 'path', 'basic'] as const;
export type KeyPlacement = (typeof KEY_PLACEMENTS)[number];

export interface SentSecrets {
  readonly key: string;
  readonly token: string | undefined;
}

export interface Credentials {
  /** The settings of the key and the JWT, such as `FILINGS_API_KEY and FILINGS_JWT`. */
  readonly setBy: string;
  readonly keyIn: KeyPlacement;
  readonly keyHeader: string;
  readonly basicUser: string;
  /** Whether a JWT is sent besides the key. */
  readonly sendsToken: boolean;
  /** Called for each request, because both may change during the run. Throws `auth` if the JWT has expired. */
  current(): Promise<SentSecrets>;
  /** Called when the service has rejected `sent`. Returns whether there is something else to send now. */
  renew(sent: SentSecrets): Promise<boolean>;
}

export type AuthorizedRequest = Pick<GetRequest, 'url' | 'headers'>;

export function addCredentials(
  url: URL,
  { keyIn, keyHeader, basicUser }: Pick<Credentials, 'keyIn' | 'keyHeader' | 'basicUser'>,
  { key, token }: SentSecrets,
): AuthorizedRequest {
  const bearer: AuthorizedRequest['headers'] = token === undefined ? {} : { authorization: `Bearer ${token}` };
  switch (keyIn) {
    // There is never a token here or for `basic`: the settings refuse a JWT with these placements, because the key and
    // the token would both need the Authorization header (docs/service.md, section 5).
    case 'authorization':
      // The service expects the bare key, without a scheme such as `Bearer` (docs/service.md, section 5).
      return { url, headers: { authorization: key } };
    case 'basic':
      // RFC 7617.
      return { url, headers: { authorization: `Basic ${Buffer.from(`${basicUser}:${key}`).toString('base64')}` } };
    case 'header':
      return { url, headers: { [keyHeader]: key, ...bearer } };
    case 'query':
    case 'path':
      return { url: addKey(url, keyIn, encodeURIComponent(key)), headers: bearer };
  }
}

/** The URL of a redirect may already contain the key, because services repeat it. Then it is not added again. */
function addKey(url: URL, keyIn: 'query' | 'path', key: string): URL {
  const [part, place] = keyIn === 'query' ? [`apikey=${key}`, url.search] : [`APIKEY-${key}`, url.pathname];
  // The key has no separator in it, because it is percent-encoded.
  if (place.split(/[?&/]/).includes(part)) return url;
  const result = new URL(url);
  if (keyIn === 'query') result.search = `${url.search}${url.search && '&'}${part}`;
  // A path that ends in a slash would get an empty segment.
  else result.pathname = `${url.pathname.replace(/\/$/, '')}/${part}`;
  return result;
}
