import { FilingsError } from '../errors.ts';
import { isLoopback } from '../http/loopback.ts';
import type { ValueSource } from '../spec/option.ts';
import type { Settings } from './settings.ts';

/**
 * Where the service is, with or without its version prefix (contract part 9) and final slashes.
 * The URL given back has neither prefix, and ends in one slash. The text is never echoed: it may hold a password.
 * @throws FilingsError `usage` or `config`
 */
export function parseBaseUrl(text: string, source: ValueSource): URL {
  const refuse = (why: string) =>
    new FilingsError(source.code, `${source.name}: ${why}`, { hint: 'write it like https://api.example.com' });
  // WHATWG parsing drops line breaks and takes backslashes for slashes: what would be asked is not what was written.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\s\\\u0000-\u001f\u007f]/.test(text)) throw refuse('must be a URL without blanks and backslashes');
  if (!/^https?:\/\/./i.test(text) || !URL.canParse(text)) {
    throw refuse('must be an http or https URL');
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw refuse('must not hold a user or a password');
  if (text.includes('?') || text.includes('#')) throw refuse('must not have a query or a fragment');
  url.pathname = `${withoutSlashes(withoutSlashes(url.pathname).replace(/\/v1$/, ''))}/`;
  return url;
}

/** Without the slashes at its end; of a run that ends elsewhere only the first is tried. */
function withoutSlashes(path: string): string {
  return path.replace(/(?<!\/)\/+$/, '');
}

/**
 * Plain http would show the key to everybody on the way: only loopback is near enough.
 * @throws FilingsError `config`
 */
export function checkBaseUrl(url: URL, allowHttp: boolean): void {
  if (url.protocol === 'https:' || allowHttp || isLoopback(url.hostname)) return;
  throw new FilingsError('config', `${url.origin}: plain http would send the key unencrypted`, {
    hint: 'use https, or allow it with --allow-http (FILINGS_ALLOW_HTTP, allowHttp)',
  });
}

/**
 * The base URL of a command that needs the service. `again` words a command that changes this run's config file.
 * @throws FilingsError `config` when it was not set
 */
export function requireBaseUrl(settings: Pick<Settings, 'baseUrl'>, again: (command: string) => string): URL {
  if (settings.baseUrl !== undefined) return settings.baseUrl;
  throw new FilingsError('config', "no base URL: the service's address is not set", {
    hint: `set --base-url URL or FILINGS_BASE_URL, or keep it as baseUrl in the config file: ${again('filings config set base-url URL')}; or try it with --sandbox`,
  });
}
