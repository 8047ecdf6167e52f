// Adds credentials to requests, in the places that the service defines (service.md, section 5).

/** Where an API key can be sent. */
export const KEY_PLACEMENTS = ['authorization', 'header', 'query', 'path', 'basic'] as const;
export type KeyPlacement = (typeof KEY_PLACEMENTS)[number];

export interface Credentials {
  /** Where the key comes from, in words for an error message. */
  readonly source: string;
  readonly key: string;
  readonly keyIn: KeyPlacement;
  readonly keyHeader: string;
  readonly basicUser: string;
  /** Returns a JWT that is valid now. Undefined if no JWT is sent. */
  readonly token: (() => Promise<string>) | undefined;
}

export interface AuthorizedRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns whether the key is sent in the URL of a request. The URL of a redirect may then repeat it. */
export function isKeyInUrl({ keyIn }: Credentials): boolean {
  return keyIn === 'query' || keyIn === 'path';
}

/** Returns the request for a URL with the credentials. Throws the errors of signing a JWT. */
export async function addCredentials(url: URL, credentials: Credentials): Promise<AuthorizedRequest> {
  const { key, keyIn, keyHeader, basicUser } = credentials;
  const token = await credentials.token?.();
  const bearer: AuthorizedRequest['headers'] = token === undefined ? {} : { authorization: `Bearer ${token}` };
  switch (keyIn) {
    // `token` is undefined here and for `basic`: the settings refuse a JWT with these placements, because both would need
    // the Authorization header (docs/service.md, section 5).
    case 'authorization':
      return { url, headers: { authorization: key } };
    case 'basic':
      // RFC 7617.
      return { url, headers: { authorization: `Basic ${Buffer.from(`${basicUser}:${key}`).toString('base64')}` } };
    case 'header':
      return { url, headers: { [keyHeader]: key, ...bearer } };
    case 'query':
      return {
        url: withKeyAtEnd(url, 'search', url.search ? '&' : '?', `apikey=${encodeURIComponent(key)}`),
        headers: bearer,
      };
    case 'path':
      return { url: withKeyAtEnd(url, 'pathname', '/', `APIKEY-${encodeURIComponent(key)}`), headers: bearer };
  }
}

/** Returns the URL with the key at the end of its query or path, unless a redirect has already put it there. */
function withKeyAtEnd(url: URL, place: 'search' | 'pathname', separator: string, key: string): URL {
  const withKey = new URL(url);
  // A path that ends in a slash would get an empty segment. In a query, the slash is data.
  const start = place === 'pathname' ? url.pathname.replace(/\/$/, '') : url.search;
  if (!url[place].split(/[?&/]/).includes(key)) withKey[place] = `${start}${separator}${key}`;
  return withKey;
}
