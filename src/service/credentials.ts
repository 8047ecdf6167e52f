/** The ways to carry a key (contract part 5). */
export type KeyWay = 'authorization' | 'header' | 'query' | 'path' | 'basic';

/** What authenticates a request, and how it travels. */
export interface Credentials {
  readonly key: string;
  readonly keyIn: KeyWay;
  readonly keyHeader: string;
  readonly basicUser: string;
  /** A JWT that is valid now; undefined when none is sent. */
  readonly token: (() => Promise<string>) | undefined;
}

export interface Credentialed {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

const QUERY_PARAMETER = 'apikey';
const PATH_PREFIX = 'APIKEY-';

/** Puts the credentials on a request. */
export async function carry(url: URL, credentials: Credentials): Promise<Credentialed> {
  const { key, keyIn, keyHeader, basicUser } = credentials;
  const bearer = credentials.token ? { authorization: `Bearer ${await credentials.token()}` } : {};
  switch (keyIn) {
    case 'authorization':
      return { url, headers: { authorization: key } };
    case 'basic':
      return { url, headers: { authorization: `Basic ${Buffer.from(`${basicUser}:${key}`).toString('base64')}` } };
    case 'header':
      return { url, headers: { [keyHeader]: key, ...bearer } };
    case 'query':
      return { url: withQuery(url, key), headers: bearer };
    case 'path':
      return { url: withSegment(url, key), headers: bearer };
  }
}

function withQuery(url: URL, key: string): URL {
  const carried = new URL(url);
  carried.search += `${carried.search ? '&' : '?'}${QUERY_PARAMETER}=${encodeURIComponent(key)}`;
  return carried;
}

function withSegment(url: URL, key: string): URL {
  const carried = new URL(url);
  carried.pathname = `${carried.pathname.replace(/\/$/, '')}/${PATH_PREFIX}${encodeURIComponent(key)}`;
  return carried;
}

/** A URL without the carriers of this key, wherever a redirect may have copied them to; other keys are not ours to touch. */
export function withoutCredentials(url: URL, key: string): URL {
  const clean = new URL(url);
  for (const [name, value] of [...clean.searchParams]) {
    if (name.toLowerCase() === QUERY_PARAMETER && value === key) clean.searchParams.delete(name, value);
  }
  clean.pathname = clean.pathname
    .split('/')
    .filter((segment) => segment !== `${PATH_PREFIX}${key}` && segment !== `${PATH_PREFIX}${encodeURIComponent(key)}`)
    .join('/');
  return clean;
}
