import { REDACTED } from '../secrets.ts';

/** The ways to carry a key (contract part 5). */
export type KeyWay = 'authorization' | 'header' | 'query' | 'path' | 'basic';

/** What authenticates a request, and how it travels. */
export interface Credentials {
  /** Where key and token were given, for whoever says that they are refused. */
  readonly source: string;
  readonly key: string;
  readonly keyIn: KeyWay;
  readonly keyHeader: string;
  readonly basicUser: string;
  /** A JWT that is valid now; undefined when none is sent. */
  readonly token: (() => Promise<string>) | undefined;
}

/** A URL and the header fields that carry credentials. */
interface Carriers {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Credentialed extends Carriers {
  /** The same as it may be told, with a mark in the place of each credential. */
  readonly shown: Carriers;
}

const QUERY_PARAMETER = 'apikey';
const PATH_PREFIX = 'APIKEY-';

/** Puts the credentials on a request. */
export async function carry(url: URL, credentials: Credentials): Promise<Credentialed> {
  const { key, basicUser } = credentials;
  const token = await credentials.token?.();
  const pair = Buffer.from(`${basicUser}:${key}`).toString('base64');
  const masked = { key: REDACTED, inUrl: REDACTED, pair: REDACTED, token: token && REDACTED };
  return {
    ...carriers(url, credentials, { key, inUrl: encodeURIComponent(key), pair, token }),
    shown: carriers(url, credentials, masked),
  };
}

/** The credentials as they are written in each place. */
interface Written {
  readonly key: string;
  readonly inUrl: string;
  /** User and key, for Basic (RFC 7617). */
  readonly pair: string;
  readonly token: string | undefined;
}

function carriers(url: URL, { keyIn, keyHeader }: Credentials, { key, inUrl, pair, token }: Written): Carriers {
  const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
  switch (keyIn) {
    case 'authorization':
      return { url, headers: { authorization: key } };
    case 'basic':
      return { url, headers: { authorization: `Basic ${pair}` } };
    case 'header':
      return { url, headers: { [keyHeader]: key, ...bearer } };
    case 'query':
      return { url: withQuery(url, inUrl), headers: bearer };
    case 'path':
      return { url: withSegment(url, inUrl), headers: bearer };
  }
}

function withQuery(url: URL, key: string): URL {
  const carried = new URL(url);
  carried.search += `${carried.search ? '&' : '?'}${QUERY_PARAMETER}=${key}`;
  return carried;
}

function withSegment(url: URL, key: string): URL {
  const carried = new URL(url);
  carried.pathname = `${carried.pathname.replace(/\/$/, '')}/${PATH_PREFIX}${key}`;
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
