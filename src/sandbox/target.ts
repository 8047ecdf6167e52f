/** A request target, taken apart (RFC 9112 section 3.2). */
export interface Target {
  /** The decoded path without a key segment: what routing sees. */
  readonly resource: string;
  /** The key of the path's last segment, where that is `APIKEY-<key>` (contract part 5). */
  readonly pathKey: string | undefined;
  readonly query: URLSearchParams;
}

const KEY_SEGMENT = 'APIKEY-';

/** Takes a request target apart; undefined when its percent-encoding is broken. */
export function parseTarget(url: string): Target | undefined {
  const [path = '', ...rest] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  const segments = decodeSegments(path);
  if (segments === undefined) return undefined;
  // A slash at the end means the same as none.
  while (segments.at(-1) === '') segments.pop();
  const last = segments.at(-1);
  const pathKey = last?.startsWith(KEY_SEGMENT) ? last.slice(KEY_SEGMENT.length) : undefined;
  if (pathKey !== undefined) segments.pop();
  // A decoded slash must not make two segments of one.
  const resource = `/${segments.map((segment) => segment.replaceAll('/', '%2F')).join('/')}`;
  return { resource, pathKey, query: new URLSearchParams(rest.join('?')) };
}

function decodeSegments(path: string): string[] | undefined {
  try {
    return path.replace(/^\//, '').split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
