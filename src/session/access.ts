// Opens the service of a run, or the sandbox. Takes the settings, and gives the base URL and the credentials.
import { join } from 'node:path';
import { FilingsError } from '../errors.ts';
import type { Credentials } from '../service/credentials.ts';
import { readSecret } from '../settings/read-secret.ts';
import type { Settings, TokenSource } from '../settings/settings.ts';
import { span } from '../text.ts';
import type { World } from '../world.ts';

/** The service and the credentials for it. */
interface Access {
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  close(): Promise<void>;
}

/** Returns the service of the settings, or starts the sandbox. Throws `config`, `auth` or `local_io`. */
export async function openAccess(settings: Settings, world: World, warn: (text: string) => void): Promise<Access> {
  if (settings.sandbox) return openSandbox(world);
  const { baseUrl, keySource, tokenSource, keyIn, keyHeader, basicUser } = settings;
  if (!baseUrl) {
    throw new FilingsError('config', "no base URL: the service's address is not set", {
      hint: `set --base-url URL, FILINGS_BASE_URL, or baseUrl in the config file: filings config set base-url URL; or try --sandbox`,
    });
  }
  if (!keySource) {
    throw new FilingsError('auth', 'no API key: the service requires one', {
      hint: `set FILINGS_API_KEY, --api-key-file FILE, or apiKey in the config file: filings config set api-key; or try --sandbox`,
    });
  }
  const key = await readSecret(keySource, 'API key', world);
  const token = tokenSource && (await openTokenSource(tokenSource, world, warn));
  const source = [keySource.source, ...(tokenSource ? [tokenSource.source] : [])].join(' and ');
  const credentials = { source, key, keyIn, keyHeader, basicUser, token };
  return { baseUrl, credentials, async close() {} };
}

/** Returns a function that gives a valid token and mints it if necessary. Throws `config`. */
async function openTokenSource(source: TokenSource, world: World, warn: (text: string) => void) {
  if (source.kind !== 'recipe') {
    const token = await readSecret(source, 'JWT', world);
    const { readExpiry } = await import('../jwt/token.ts');
    const expiry = readExpiry(token) ?? Number.POSITIVE_INFINITY;
    return async () => {
      const ago = world.now() / 1000 - expiry;
      if (ago < 0) return token;
      throw new FilingsError('auth', `the JWT expired ${span(ago)} ago`, {
        subject: { name: source.source },
        hint: "get a new one, or check this machine's clock: date -u",
        stopsRun: true,
      });
    };
  }
  const { createMinter } = await import('../jwt/sign.ts');
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
  });
  const options = { keyIn: 'authorization', keyHeader: '', basicUser: '', token: undefined } as const;
  return { baseUrl: new URL(url), credentials: { source: 'the sandbox', key, ...options }, close };
}
