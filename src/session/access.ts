// Where requests are sent, and with which credentials: those of the settings, or the sandbox with its own.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FilingsError } from '../errors.ts';
import type { Credentials } from '../service/credentials.ts';
import { readSecret } from '../settings/read-secret.ts';
import type { Settings, TokenSource } from '../settings/settings.ts';
import { roughDuration } from '../text.ts';
import type { World } from '../world.ts';

interface Access {
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  readonly sandboxFilings?: readonly string[];
  close(): Promise<void>;
}

/**
 * Reading the key may prompt on a terminal. Throws `config` if no base URL is set, `auth` if no key is set, the errors
 * of `readSecret` and `createMinter`, or `local_io` if the sandbox cannot listen.
 */
export async function openAccess(settings: Settings, world: World, note: (text: string) => void): Promise<Access> {
  if (settings.sandbox) return openSandbox(world);
  const { baseUrl, keySource, tokenSource, keyIn, keyHeader, basicUser } = settings;
  if (!baseUrl) {
    throw new FilingsError('config', "no base URL: the service's address is not set", {
      hint: `set it with filings config set base-url URL, --base-url URL or FILINGS_BASE_URL; or try --sandbox`,
    });
  }
  if (!keySource) {
    throw new FilingsError('auth', 'no API key: the service requires one', {
      hint: `set it with filings config set api-key, --api-key-file FILE or FILINGS_API_KEY; or try --sandbox`,
    });
  }
  const key = await readSecret(keySource, 'API key', world);
  const token = tokenSource && (await openTokenSource(tokenSource, world, note));
  const source = [keySource.source, ...(tokenSource ? [tokenSource.source] : [])].join(' and ');
  const credentials = { source, key, keyIn, keyHeader, basicUser, token };
  return { baseUrl, credentials, async close() {} };
}

/**
 * The result is called for each request. A token from a file or the environment is always the same, so the function
 * throws `auth` when it has expired.
 */
async function openTokenSource(tokenSource: TokenSource, world: World, note: (text: string) => void) {
  if (tokenSource.kind !== 'recipe') {
    const token = await readSecret(tokenSource, 'JWT', world);
    const { readExpiry } = await import('../jwt/token.ts');
    // If the expiry cannot be read, the service decides.
    const expiresAtSeconds = readExpiry(token) ?? Number.POSITIVE_INFINITY;
    return async () => {
      const secondsAgo = world.now() / 1000 - expiresAtSeconds;
      if (secondsAgo < 0) return token;
      throw new FilingsError('auth', `the JWT expired ${roughDuration(secondsAgo)} ago`, {
        subject: { name: tokenSource.source },
        hint: "get a new one, or check this machine's clock: date -u",
        stopsRun: true,
      });
    };
  }
  const { createMinter } = await import('../jwt/sign.ts');
  const minter = await createMinter(tokenSource.recipe, world);
  if (minter.warning !== undefined) note(minter.warning);
  return minter.token;
}

async function openSandbox(world: World): Promise<Access> {
  const { startSandbox } = await import('../sandbox/server.ts');
  const key = 'sandbox-key';
  const directory = join(world.root, 'samples');
  const sandboxFilings = (await readdir(directory)).sort();
  world.secrets.add(key);
  const { url, close } = await startSandbox({
    directory,
    host: '127.0.0.1',
    port: 0,
    apiKey: key,
    jwtKeys: [],
    platform: world.platform,
    now: world.now,
  });
  // `keyHeader` and `basicUser` are not used for this `keyIn`.
  const options = { keyIn: 'authorization', keyHeader: '', basicUser: '', token: undefined } as const;
  return { baseUrl: new URL(url), credentials: { source: 'the sandbox', key, ...options }, sandboxFilings, close };
}
