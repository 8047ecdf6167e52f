// Where requests are sent, and with which credentials: those of the settings, or the sandbox with its own.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FilingsError } from '../errors.ts';
import type { Credentials } from '../service/credentials.ts';
import { readSecret, type SecretSource } from '../settings/read-secret.ts';
import type { KeySource, Settings, TokenSource } from '../settings/settings.ts';
import { roughDuration } from '../text.ts';
import type { World } from '../world.ts';

interface Access {
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  readonly sandboxFilings?: readonly string[];
  close(): Promise<void>;
}

/**
 * Reading the key may prompt on a terminal. Expects that `resolveSettings` has found a base URL, unless the sandbox is
 * used.
 */
export async function openAccess(settings: Settings, world: World, warn: (text: string) => void): Promise<Access> {
  if (settings.sandbox) return openSandbox(settings, world, warn);
  if (!settings.keySource) {
    throw new FilingsError('auth', 'no API key: the service requires one', {
      hint: `set it with filings config set api-key, --api-key-file FILE or FILINGS_API_KEY; or try --sandbox`,
    });
  }
  const credentials = await openCredentials(settings, settings.keySource, world, warn);
  return { baseUrl: settings.baseUrl as URL, credentials, async close() {} };
}

/** The settings of a run with the sandbox have no key, no token, and the defaults of all others. */
async function openSandbox(settings: Settings, world: World, warn: (text: string) => void): Promise<Access> {
  const { SANDBOX_KEY, startSandbox } = await import('../sandbox/server.ts');
  const keySource = { kind: 'value', value: SANDBOX_KEY, setBy: 'the sandbox' } as const;
  const credentials = await openCredentials(settings, keySource, world, warn);
  const directory = join(world.root, 'samples');
  const sandboxFilings = (await readdir(directory)).sort();
  const { url, close } = await startSandbox({ directory }, world);
  return { baseUrl: new URL(url), credentials, sandboxFilings, close };
}

async function openCredentials(
  { tokenSource, keyIn, keyHeader, basicUser }: Settings,
  keySource: KeySource,
  world: World,
  warn: (text: string) => void,
): Promise<Credentials> {
  const key = await openSecret(keySource, 'API key', world);
  const token = tokenSource && (await openToken(tokenSource, world, warn));
  return {
    setBy: [keySource.setBy, ...(tokenSource ? [tokenSource.setBy] : [])].join(' and '),
    keyIn,
    keyHeader,
    basicUser,
    sendsToken: tokenSource !== undefined,
    current: async () => ({ key: await key.current(), token: await token?.current() }),
    renew: async (sent) => (await Promise.all([key.renew(sent.key), token?.renew(sent.token)])).includes(true),
  };
}

/** A key or a token, which may change during the run. */
interface RenewableSecret {
  /** Called for each request. */
  current(): Promise<string>;
  /** Returns whether `current` is another one than `sent`, if necessary after the file was read again. */
  renew(sent: string | undefined): Promise<boolean>;
}

/** Mounted secrets and cron jobs replace the file of a key or a token during a run. */
async function openSecret(source: SecretSource, label: 'API key' | 'JWT', world: World): Promise<RenewableSecret> {
  let secret = await readSecret(source, label, world);
  const path = source.kind === 'file' ? source.path : undefined;
  return {
    current: async () => secret,
    async renew(sent) {
      try {
        // A pipe is not even opened again, because that would disturb its writer.
        if (secret === sent && path !== undefined && (await stat(path)).isFile())
          secret = await readSecret(source, label, world);
      } catch {
        // A file that cannot be used has no new secret, and the service's error says enough.
      }
      return secret !== sent;
    },
  };
}

async function openToken(
  tokenSource: TokenSource,
  world: World,
  warn: (text: string) => void,
): Promise<RenewableSecret> {
  if (tokenSource.kind === 'recipe') {
    const { createMinter } = await import('../jwt/sign.ts');
    return { current: await createMinter(tokenSource.recipe, world, warn), renew: async () => false };
  }
  const secret = await openSecret(tokenSource, 'JWT', world);
  const { readExpiry } = await import('../jwt/token.ts');
  // If the expiry cannot be read, the service decides.
  const secondsSinceExpiry = (token: string) => world.now() / 1000 - (readExpiry(token) ?? Number.POSITIVE_INFINITY);
  return {
    async current() {
      let token = await secret.current();
      if (secondsSinceExpiry(token) >= 0 && (await secret.renew(token))) token = await secret.current();
      const secondsAgo = secondsSinceExpiry(token);
      if (secondsAgo < 0) return token;
      throw new FilingsError('auth', `the JWT expired ${roughDuration(secondsAgo)} ago`, {
        subject: { name: tokenSource.setBy },
        hint: "get a new one, or check this machine's clock: date -u",
        stopsRun: true,
      });
    },
    renew: secret.renew,
  };
}
