// The places of credentials in requests (service.md, section 5).

export const KEY_PLACEMENTS = ['authorization', 'header', 'query', 'path', 'basic'] as const;
export type KeyPlacement = (typeof KEY_PLACEMENTS)[number];

export interface Credentials {
  /** The settings of the key and the JWT, such as `FILINGS_API_KEY and FILINGS_JWT`. */
  readonly source: string;
  readonly key: string;
  readonly keyIn: KeyPlacement;
  readonly keyHeader: string;
  readonly basicUser: string;
  /** Throws if the JWT has expired. Undefined if no JWT is sent. */
  readonly token: (() => Promise<string>) | undefined;
}

export interface AuthorizedRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** If so, the URL of a redirect may repeat the key. */
export function isKeyInUrl({ keyIn }: Credentials): boolean {
  return keyIn === 'query' || keyIn === 'path';
}

/** Throws the errors of `credentials.token`. */
export async function addCredentials(url: URL, credentials: Credentials): Promise<AuthorizedRequest> {
  const { key, keyIn, keyHeader, basicUser } = credentials;
  const token = await credentials.token?.();
  const bearer: AuthorizedRequest['headers'] = token === undefined ? {} : { authorization: `Bearer ${token}` };
  switch (keyIn) {
    // There is never a token here or for `basic`: the settings refuse a JWT with these placements, because the key and
    // the token would both need the Authorization header (service.md, section 5).
    case 'authorization':
      // The service expects the bare key, without a scheme such as `Bearer` (service.md, section 5).
      return { url, headers: { authorization: key } };
    case 'basic':
      // RFC 7617.
      return { url, headers: { authorization: `Basic ${Buffer.from(`${basicUser}:${key}`).toString('base64')}` } };
    case 'header':
      // The settings also refuse `authorization` as `keyHeader`.
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

/** The URL of a redirect may already contain `keyPart`, because services repeat it. Then it is not added again. */
function withKeyAtEnd(url: URL, place: 'search' | 'pathname', separator: string, keyPart: string): URL {
  const withKey = new URL(url);
  // A path that ends in a slash would get an empty segment, so its slash goes. In a query, a slash is data.
  const start = place === 'pathname' ? url.pathname.replace(/\/$/, '') : url.search;
  // `keyPart` has no separator in it, because the key is percent-encoded.
  if (!url[place].split(/[?&/]/).includes(keyPart)) withKey[place] = `${start}${separator}${keyPart}`;
  return withKey;
}
