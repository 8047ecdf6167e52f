// Adds credentials to requests as service.md, section 5, has them.

/** The ways to pass an API key. */
export type KeyWay = 'authorization' | 'header' | 'query' | 'path' | 'basic';

export interface Credentials {
  /** The source of the key, for the message that the service rejects the key. */
  readonly source: string;
  readonly key: string;
  readonly keyIn: KeyWay;
  readonly keyHeader: string;
  readonly basicUser: string;
  /** Returns a JWT that is valid now. The function is undefined if no JWT is sent. */
  readonly token: (() => Promise<string>) | undefined;
}

export interface AuthorizedRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns whether the key is a part of the address, which a login page copies into its own. */
export function isKeyInAddress({ keyIn }: Credentials): boolean {
  return keyIn === 'query' || keyIn === 'path';
}

/** Returns the request for a URL with the credentials. Throws the errors of signing a JWT. */
export async function addCredentials(url: URL, credentials: Credentials): Promise<AuthorizedRequest> {
  const { key, keyIn, keyHeader, basicUser } = credentials;
  const token = await credentials.token?.();
  const bearer: AuthorizedRequest['headers'] = token === undefined ? {} : { authorization: `Bearer ${token}` };
  switch (keyIn) {
    case 'authorization':
      return { url, headers: { authorization: key } };
    case 'basic':
      // Basic authentication is RFC 7617.
      return { url, headers: { authorization: `Basic ${Buffer.from(`${basicUser}:${key}`).toString('base64')}` } };
    case 'header':
      return { url, headers: { [keyHeader]: key, ...bearer } };
    case 'query':
      return {
        url: withPart(url, 'search', url.search ? '&' : '?', `apikey=${encodeURIComponent(key)}`),
        headers: bearer,
      };
    case 'path':
      return { url: withPart(url, 'pathname', '/', `APIKEY-${encodeURIComponent(key)}`), headers: bearer };
  }
}

/** Returns the URL with the key at the end of this part, unless a redirect has copied it there. */
function withPart(url: URL, part: 'search' | 'pathname', separator: string, key: string): URL {
  const withKey = new URL(url);
  if (!url[part].split(/[?&/]/).includes(key)) withKey[part] = `${url[part].replace(/\/$/, '')}${separator}${key}`;
  return withKey;
}
