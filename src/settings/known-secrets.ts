// Registers the secrets of environment and settings for redaction as soon as they are known, because the first message
// may already repeat one. `readSecret` registers the secrets of files and programs.
import querystring from 'node:querystring';
import type { JsonObject } from '../json.ts';
import type { World } from '../world.ts';
import { SETTINGS } from './table.ts';

/** The variables that name a proxy. */
const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/** Registers the secrets in the environment, including user and password in the URL of a proxy. */
export function rememberEnvironment({ env, secrets }: World): void {
  for (const spec of SETTINGS) if (spec.secret && spec.env) secrets.add((env[spec.env] ?? '').trim());
  for (const name of PROXIES) {
    const [, pair = ''] = /^(?:[a-z][\w+.-]*:\/\/)?([^/?#]+)@/i.exec(env[name] ?? '') ?? [];
    const credentials = querystring.unescape(pair);
    secrets.add(credentials);
    secrets.add(credentials.slice(credentials.indexOf(':') + 1));
  }
}

/** Registers the secrets among flags, or among the members of one level of the config file. */
export function rememberSettings(values: JsonObject, { secrets }: World): void {
  for (const { key, secret } of SETTINGS) {
    const value = secret && values[key];
    if (typeof value === 'string') secrets.add(value.trim());
  }
}
