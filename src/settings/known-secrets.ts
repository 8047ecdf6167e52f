import type { Secrets } from '../secrets.ts';
import type { World } from '../world.ts';
import { SETTINGS } from './table.ts';

// Whatever goes wrong from here on, these are not in the text about it.

const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/** The secrets that the environment holds, those in a proxy's URL among them. */
export function rememberEnvironment({ env, secrets }: World): void {
  for (const spec of SETTINGS) if (spec.secret && spec.env) secrets.add((env[spec.env] ?? '').trim());
  for (const name of PROXIES) rememberProxy(secrets, env[name] ?? '');
}

/** The secrets among flags, or in the config file: by their keys in the table of settings. */
export function rememberSettings(values: Readonly<Record<string, unknown>>, { secrets }: World): void {
  for (const { key, secret } of SETTINGS) {
    const value = secret && values[key];
    if (typeof value === 'string') secrets.add(value.trim());
  }
}

/** User and password of a proxy's URL, as written and as sent. */
function rememberProxy(secrets: Secrets, url: string): void {
  const [, pair] = /^(?:[a-z][\w+.-]*:\/\/)?([^/?#]+)@/i.exec(url) ?? [];
  if (pair === undefined) return;
  for (const text of [pair, decoded(pair)]) {
    secrets.add(text);
    secrets.add(text.slice(text.indexOf(':') + 1));
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
