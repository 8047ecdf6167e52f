export type QueryParameter = readonly [name: string, value: string];

/**
 * Not by URLSearchParams, which would rewrite the existing query: `a%20b/c` would become `a+b%2Fc`. The URL of a next
 * page comes from the service, so its query must be sent back exactly as it came.
 */
export function withParameters(url: URL, query: readonly QueryParameter[]): URL {
  const parameters = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
  const result = new URL(url);
  result.search = [url.search.slice(1), parameters].filter(Boolean).join('&');
  return result;
}
