import { FilingsError } from '../errors.ts';
import { isLoopback } from '../http/loopback.ts';
import type { Kind } from '../spec/kind.ts';

/**
 * Where the service is, with or without its version prefix (contract part 9) and final slashes. The URL has neither
 * prefix, and ends in one slash: `new URL('v1/download', baseUrl)` is an endpoint.
 */
export const BASE_URL: Kind<URL> = {
  parse(text) {
    // WHATWG parsing drops line breaks and takes backslashes for slashes: what would be asked is not what was written.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    if (!/^https?:\/\/[^\s\\?#\u0000-\u001f\u007f]+$/i.test(text) || !URL.canParse(text)) return undefined;
    const url = new URL(text);
    if (url.username !== '' || url.password !== '') return undefined;
    url.pathname = `${url.pathname.replace(/\/+(?:v1\/*)?$/, '')}/`;
    return url;
  },
  wanted: 'an http or https URL without user, query and fragment, such as https://api.example.com',
  hidden: true,
};

/**
 * Plain http would show the key to everybody on the way: only loopback is near enough.
 * @throws FilingsError `config`
 */
export function requireEncryption(url: URL, allowHttp: boolean): void {
  if (url.protocol === 'https:' || allowHttp || isLoopback(url.hostname)) return;
  throw new FilingsError('config', `${url.origin}: plain http would send the key unencrypted`, {
    hint: 'use https, or allow it with --allow-http (FILINGS_ALLOW_HTTP, allowHttp)',
  });
}
