import type { World } from '../world.ts';
import { type NamedSetting, SETTINGS } from './table.ts';

// Whatever goes wrong from here on, these are not in the text about it.

const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/** The secrets that the environment holds, those in a proxy's URL among them. */
export function rememberEnvironment(world: World): void {
  rememberSecrets(world, world.env, ({ env }) => env);
  for (const name of PROXIES) rememberProxy(world, world.env[name] ?? '');
}

/** The secrets among the flags, by their keys in the table of settings. */
export function rememberFlags(flags: Readonly<Record<string, unknown>>, world: World): void {
  rememberSecrets(world, flags, ({ key }) => key);
}

function rememberSecrets(
  { secrets }: World,
  values: Readonly<Record<string, unknown>>,
  nameOf: (spec: NamedSetting) => string | undefined,
): void {
  for (const spec of SETTINGS.filter(({ secret }) => secret)) {
    const value = values[nameOf(spec) ?? ''];
    if (typeof value === 'string') secrets.add(value.trim());
  }
}

/** User and password of a proxy's URL, as written and as sent. */
function rememberProxy({ secrets }: World, url: string): void {
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
