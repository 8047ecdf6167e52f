import querystring from 'node:querystring';
import type { JsonObject } from '../json.ts';
import type { World } from '../world.ts';
import { SETTINGS } from './table.ts';

const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/** User and password of a proxy's URL are among them. */
export function rememberEnvironment({ env, secrets }: World): void {
  for (const spec of SETTINGS) if (spec.secret && spec.env) secrets.add((env[spec.env] ?? '').trim());
  for (const name of PROXIES) {
    const [, pair = ''] = /^(?:[a-z][\w+.-]*:\/\/)?([^/?#]+)@/i.exec(env[name] ?? '') ?? [];
    const asSent = querystring.unescape(pair);
    secrets.add(asSent);
    secrets.add(asSent.slice(asSent.indexOf(':') + 1));
  }
}

export function rememberSettings(values: JsonObject, { secrets }: World): void {
  for (const { key, secret } of SETTINGS) {
    const value = secret && values[key];
    if (typeof value === 'string') secrets.add(value.trim());
  }
}
