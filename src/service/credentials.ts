// Adds credentials to requests as service.md, section 5, has them, and finds them in the URLs of redirects.
import { holdsWord } from '../secrets.ts';

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

const QUERY_PARAMETER = 'apikey';
const PATH_PREFIX = 'APIKEY-';

/** Returns the request for a URL with the credentials. Throws the errors of signing a JWT. */
export async function addCredentials(url: URL, credentials: Credentials): Promise<AuthorizedRequest> {
  const { key, keyIn, keyHeader, basicUser } = credentials;
  const urlWithKey = new URL(url);
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
      urlWithKey.search += `${urlWithKey.search ? '&' : '?'}${QUERY_PARAMETER}=${encodeURIComponent(key)}`;
      return { url: urlWithKey, headers: bearer };
    case 'path':
      urlWithKey.pathname = `${urlWithKey.pathname.replace(/\/$/, '')}/${PATH_PREFIX}${encodeURIComponent(key)}`;
      return { url: urlWithKey, headers: bearer };
  }
}

/** Returns the URL without this key in the positions where a key is sent. Another key stays, because it is not ours. */
export function withoutCredentials(url: URL, key: string): URL {
  const clean = new URL(url);
  for (const [name, value] of [...clean.searchParams]) {
    if (name.toLowerCase() === QUERY_PARAMETER && value === key) clean.searchParams.delete(name, value);
  }
  const segments = clean.pathname.split('/');
  clean.pathname = segments.filter((segment) => percentDecoded(segment) !== `${PATH_PREFIX}${key}`).join('/');
  return clean;
}

function percentDecoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/**
 * Returns whether a text holds the key, in any encoding, in a position where a key is sent. In these positions a key of
 * any length counts. Elsewhere a short key may be a part of the text by chance.
 */
export function hasKeyInPosition(text: string, { key, keyHeader, basicUser }: Credentials): boolean {
  const prefixes = [
    `${QUERY_PARAMETER}=`,
    PATH_PREFIX,
    `${keyHeader}=`,
    `${keyHeader}:`,
    `${keyHeader}: `,
    `${basicUser}:`,
  ];
  return holdsWord(
    text,
    prefixes.map((prefix) => `${prefix}${key}`),
  );
}
