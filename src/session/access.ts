import { join } from 'node:path';
import { FilingsError } from '../errors.ts';
import type { Credentials } from '../service/credentials.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import type { TokenSource } from '../settings/credentials.ts';
import { readSecret } from '../settings/read-secret.ts';
import type { Settings } from '../settings/settings.ts';
import type { World } from '../world.ts';

/** Where the service is and how to be let in. */
export interface Access {
  readonly baseUrl: URL;
  /** What files that outlive this run know the service by: its base URL; the sandbox has another port in every run. */
  readonly identity: string;
  readonly credentials: Credentials;
  close(): Promise<void>;
}

/** How what a person should know is said. */
export interface Told {
  readonly warn: (text: string) => void;
  /** A command that changes the config file, as a hint shows it: so that it changes this run's. */
  readonly again: (command: string) => string;
}

/** Where the service is, and the secrets that let us in; with `sandbox` the stand-in. Throws `config`, `auth`. */
export async function openAccess(settings: Settings, world: World, { warn, again }: Told): Promise<Access> {
  if (settings.sandbox) return openSandbox(world);
  const baseUrl = requireBaseUrl(settings, again);
  if (!settings.key) throw missingKey(again);
  const { keyHeader, basicUser } = settings;
  const key = await readSecret(settings.key, 'API key', world);
  // What Basic carries is the key in another form.
  world.secrets.add(`${basicUser}:${key}`);
  const token = settings.token && (await tokenOf(settings.token, world, warn));
  // A JWT takes Authorization (contract part 5, rule 1).
  const keyIn = settings.keyIn ?? (token ? 'header' : 'authorization');
  const source = [settings.key, settings.token].flatMap((one) => one?.source ?? []).join(' and ');
  const credentials = { source, key, keyIn, keyHeader, basicUser, token };
  return { baseUrl, identity: baseUrl.href, credentials, async close() {} };
}

/** What gives the JWT of each request: the one that was given, or a minter. */
async function tokenOf(token: TokenSource, world: World, warn: Told['warn']): Promise<() => Promise<string>> {
  if (token.kind !== 'recipe') {
    const given = await readSecret(token, 'JWT', world);
    return async () => given;
  }
  const { createMinter } = await import('../jwt/minter.ts');
  const minter = await createMinter(token.recipe, world);
  if (minter.warning !== undefined) warn(minter.warning);
  return minter.token;
}

async function openSandbox(world: World): Promise<Access> {
  const { startSandbox } = await import('../sandbox/server.ts');
  const key = 'sandbox-key';
  world.secrets.add(key);
  const sandbox = await startSandbox({
    directory: join(world.root, 'samples'),
    host: '127.0.0.1',
    port: 0,
    apiKey: key,
    jwtKeys: [],
    now: world.now,
    sleep: world.sleep,
    background: true,
  });
  const credentials = {
    source: 'the sandbox',
    key,
    keyIn: 'authorization',
    keyHeader: '',
    basicUser: '',
    token: undefined,
  } as const;
  return { baseUrl: new URL(sandbox.url), identity: 'sandbox', credentials, close: () => sandbox.close() };
}

function missingKey(again: Told['again']): FilingsError {
  return new FilingsError('auth', 'no API key: the service requires one', {
    hint: `set FILINGS_API_KEY or --api-key-file FILE, or keep it as apiKey in the config file: ${again('filings config set api-key')} asks for it; or try it with --sandbox`,
  });
}
