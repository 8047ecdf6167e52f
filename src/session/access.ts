// Opens the service of a run, or the sandbox. Takes the settings, and gives the base URL and the credentials.
import { join } from 'node:path';
import { FilingsError } from '../errors.ts';
import type { Credentials } from '../service/credentials.ts';
import { configCommand } from '../settings/hint-command.ts';
import { readSecret } from '../settings/read-secret.ts';
import type { Settings } from '../settings/settings.ts';
import type { Flags } from '../spec/command.ts';
import type { World } from '../world.ts';

/** The service and the credentials for it. */
interface Access {
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  close(): Promise<void>;
}

/** Returns the service of the settings, or starts the sandbox. Throws `config`, `auth` or `local_io`. */
export async function openAccess(
  settings: Settings,
  flags: Flags,
  world: World,
  warn: (text: string) => void,
): Promise<Access> {
  if (settings.sandbox) return openSandbox(world);
  const { baseUrl, key: keySource, token: tokenSource, keyHeader, basicUser } = settings;
  if (!baseUrl) {
    const set = configCommand('filings config set base-url URL', flags);
    throw new FilingsError('config', "no base URL: the service's address is not set", {
      hint: `set --base-url URL, FILINGS_BASE_URL, or baseUrl in the config file: ${set}; or try --sandbox`,
    });
  }
  if (!keySource) {
    const set = configCommand('filings config set api-key', flags);
    throw new FilingsError('auth', 'no API key: the service requires one', {
      hint: `set FILINGS_API_KEY, --api-key-file FILE, or apiKey in the config file: ${set}; or try --sandbox`,
    });
  }
  const key = await readSecret(keySource, 'API key', world);
  const token = tokenSource && (await openTokenSource(tokenSource, world, warn));
  // A JWT needs the Authorization header for itself (service.md, section 5).
  const keyIn = settings.keyIn ?? (token ? 'header' : 'authorization');
  const source = [keySource.source, ...(tokenSource ? [tokenSource.source] : [])].join(' and ');
  const credentials = { source, key, keyIn, keyHeader, basicUser, token };
  return { baseUrl, credentials, async close() {} };
}

/** Returns a function that gives a valid token and mints it if necessary. Throws `config`. */
async function openTokenSource(source: NonNullable<Settings['token']>, world: World, warn: (text: string) => void) {
  if (source.kind !== 'recipe') {
    const token = await readSecret(source, 'JWT', world);
    return async () => token;
  }
  const { createMinter } = await import('../jwt/minter.ts');
  const minter = await createMinter(source.recipe, world);
  if (minter.warning !== undefined) warn(minter.warning);
  return minter.token;
}

async function openSandbox(world: World): Promise<Access> {
  const { startSandbox } = await import('../sandbox/server.ts');
  const key = 'sandbox-key';
  world.secrets.add(key);
  const { url, close } = await startSandbox({
    directory: join(world.root, 'samples'),
    host: '127.0.0.1',
    port: 0,
    apiKey: key,
    jwtKeys: [],
    platform: world.platform,
    now: world.now,
    sleep: world.sleep,
  });
  const options = { keyIn: 'authorization', keyHeader: '', basicUser: '', token: undefined } as const;
  return { baseUrl: new URL(url), credentials: { source: 'the sandbox', key, ...options }, close };
}
