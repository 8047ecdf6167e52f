import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Invocation } from './commands/invocation.ts';
import { FilingsError } from './errors.ts';
import { Connections } from './http/connections.ts';
import { Pace } from './http/pace.ts';
import { ServiceClient } from './service/client.ts';
import { type Credentials, chooseKeyWay } from './service/credentials.ts';
import { checkBaseUrl, requireBaseUrl } from './settings/base-url.ts';
import { resolveSettings } from './settings/resolve.ts';
import { readKey, readToken } from './settings/secret-source.ts';
import type { Settings } from './settings/settings.ts';
import { createProgress, type Progress } from './terminal/progress.ts';
import type { World } from './world.ts';

/** What a command that asks the service works with. */
export interface Session {
  readonly settings: Settings;
  readonly client: ServiceClient;
  /** Aborted by a signal of the system or by the deadline. */
  readonly signal: AbortSignal;
  /** All that is said on stderr meanwhile. */
  readonly progress: Progress;
  close(): Promise<void>;
}

/** Where the service is and how to be let in. */
interface Access {
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  close(): Promise<void>;
}

/**
 * Opens the service that the command line and its settings describe: the real one,
 * or with `--sandbox` a stand-in inside the process. Throws `usage`, `config`, `auth`.
 */
export async function openSession(flags: Invocation['flags'], world: World): Promise<Session> {
  const { settings } = await resolveSettings(flags, world);
  const deadline = startDeadline(settings.deadline, world.interrupt);
  const access = await openAccess(settings, world, deadline.signal);
  const { secrets, monotonic, now, random, env } = world;
  const progress = createProgress({
    mode: settings.progress,
    errorFormat: settings.errorFormat,
    quiet: settings.quiet,
    verbose: settings.verbose,
    stream: world.stderr,
    color: settings.color,
    term: env.TERM,
    secrets,
    monotonic,
  });
  const connections = new Connections({ env, connectTimeout: settings.connectTimeout });
  const pace = new Pace(settings.rate, monotonic);
  const client = new ServiceClient({
    ...access,
    connections,
    persistence: { retries: settings.retries, maxRetryAfterMs: settings.maxRetryAfter, pace, now, random },
    userAgent: `filings/${versionIn(world.root)}`,
    idleTimeout: settings.idleTimeout,
    monotonic,
    secrets,
    trace: (line) => progress.trace(line),
  });
  return {
    settings,
    client,
    signal: deadline.signal,
    progress,
    async close() {
      deadline.stop();
      progress.stop();
      connections.close();
      await access.close();
    },
  };
}

async function openAccess(settings: Settings, world: World, signal: AbortSignal): Promise<Access> {
  return settings.sandbox ? openSandbox(world) : openService(settings, world, signal);
}

async function openService(settings: Settings, world: World, signal: AbortSignal): Promise<Access> {
  const baseUrl = requireBaseUrl(settings);
  checkBaseUrl(baseUrl, settings.allowHttp);
  const keyIn = chooseKeyWay(settings.keyIn, settings.token !== undefined);
  if (!settings.key) throw missingKey();
  const key = await readKey(settings.key, world, signal);
  const { keyHeader, basicUser } = settings;
  // What Basic carries is the key in another form.
  world.secrets.add(`${basicUser}:${key}`);
  return {
    baseUrl,
    credentials: { key, keyIn, keyHeader, basicUser, token: await tokens(settings, world, signal) },
    async close() {},
  };
}

async function tokens(settings: Settings, world: World, signal: AbortSignal): Promise<Credentials['token']> {
  const { token } = settings;
  if (!token) return undefined;
  if (token.kind === 'recipe') {
    const { createMinter } = await import('./jwt/minter.ts');
    return (await createMinter(token.recipe, world)).token;
  }
  const given = await readToken(token, world, signal);
  return async () => given;
}

async function openSandbox(world: World): Promise<Access> {
  const { startSandbox } = await import('./sandbox/server.ts');
  const key = 'sandbox-key';
  world.secrets.add(key);
  const sandbox = await startSandbox({
    directory: join(world.root, 'samples'),
    host: '127.0.0.1',
    port: 0,
    apiKey: key,
    jwtKeys: [],
    now: world.now,
    background: true,
  });
  const credentials = { key, keyIn: 'authorization', keyHeader: '', basicUser: '', token: undefined } as const;
  return { baseUrl: new URL(sandbox.url), credentials, close: () => sandbox.close() };
}

function missingKey(): FilingsError {
  return new FilingsError('auth', 'no API key: the service lets nobody in without one', {
    hint: 'set FILINGS_API_KEY, --api-key-file FILE or apiKey in the config file; or try it with --sandbox',
  });
}

/** Bounds the whole command. */
function startDeadline(ms: number | undefined, interrupt: AbortSignal): { signal: AbortSignal; stop(): void } {
  if (ms === undefined) return { signal: interrupt, stop() {} };
  const controller = new AbortController();
  const onInterrupt = () => controller.abort(interrupt.reason);
  interrupt.addEventListener('abort', onInterrupt, { once: true });
  if (interrupt.aborted) onInterrupt();
  const timer = setTimeout(() => controller.abort(deadlinePassed(ms)), ms);
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer);
      interrupt.removeEventListener('abort', onInterrupt);
    },
  };
}

function deadlinePassed(ms: number): FilingsError {
  return new FilingsError('temporary', `the deadline of ${ms / 1000} s has passed`, {
    hint: 'running it again goes on where it can; --deadline allows more',
    stopsRun: true,
  });
}

function versionIn(root: string): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}
