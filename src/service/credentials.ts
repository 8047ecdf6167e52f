import { holdsWord } from '../secrets.ts';

/** The ways to pass an API key (service.md, section 5). */
export type KeyWay = 'authorization' | 'header' | 'query' | 'path' | 'basic';

export interface Credentials {
  /** For whoever says that they are refused. */
  readonly source: string;
  readonly key: string;
  readonly keyIn: KeyWay;
  readonly keyHeader: string;
  readonly basicUser: string;
  /** Valid now; undefined when none is sent. */
  readonly token: (() => Promise<string>) | undefined;
}

export interface AuthorizedRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

const QUERY_PARAMETER = 'apikey';
const PATH_PREFIX = 'APIKEY-';

export async function carry(url: URL, credentials: Credentials): Promise<AuthorizedRequest> {
  const { key, keyIn, keyHeader, basicUser } = credentials;
  const carried = new URL(url);
  const token = await credentials.token?.();
  const bearer: AuthorizedRequest['headers'] = token === undefined ? {} : { authorization: `Bearer ${token}` };
  switch (keyIn) {
    case 'authorization':
      return { url, headers: { authorization: key } };
    case 'basic':
      // RFC 7617.
      return { url, headers: { authorization: `Basic ${Buffer.from(`${basicUser}:${key}`).toString('base64')}` } };
    case 'header':
      return { url, headers: { [keyHeader]: key, ...bearer } };
    case 'query':
      carried.search += `${carried.search ? '&' : '?'}${QUERY_PARAMETER}=${encodeURIComponent(key)}`;
      return { url: carried, headers: bearer };
    case 'path':
      carried.pathname = `${carried.pathname.replace(/\/$/, '')}/${PATH_PREFIX}${encodeURIComponent(key)}`;
      return { url: carried, headers: bearer };
  }
}

/** Returns the URL without copies of this key in the places where it is sent; another key there is not ours. */
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
 * Returns whether a text holds the key in a place where it may be sent, in any encoding: there a key counts whatever its
 * length, while elsewhere a short one is likely to be there by chance.
 */
export function holdsKeyInPlace(text: string, { key, keyHeader, basicUser }: Credentials): boolean {
  const places = [
    `${QUERY_PARAMETER}=`,
    PATH_PREFIX,
    `${keyHeader}=`,
    `${keyHeader}:`,
    `${keyHeader}: `,
    `${basicUser}:`,
  ];
  return holdsWord(
    text,
    places.map((place) => `${place}${key}`),
  );
}
