// Runs `serve`: takes a folder of filings, starts the sandbox on a port, prints its URL on stdout, and serves until a
// signal.
import { opendir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { onAbort } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import { type KeyFiles, readJwtKey } from '../../jwt/key-file.ts';
import { requireFit } from '../../jwt/key-fit.ts';
import type { JwtKey } from '../../jwt/keys.ts';
import { isLoopback } from '../../loopback.ts';
import { startSandbox } from '../../sandbox/server.ts';
import { accessionIn } from '../../service/accession.ts';
import type { RawSetting } from '../../settings/layers.ts';
import { readSecret } from '../../settings/read-secret.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Invocation } from '../../spec/command.ts';
import { type Values, valueError } from '../../spec/option.ts';
import { guardStream, write } from '../../stdio/output.ts';
import { createLogger, type Logger } from '../../terminal/messages.ts';
import type { World } from '../../world.ts';
import type { OPTIONS } from './spec.ts';

const DEFAULT_KEY = 'sandbox-key';
const SAMPLE = '0001234567-24-000001';

/**
 * Serves until the first signal. Returns 0, because a signal is its normal end. Throws `usage` and errors of listening.
 */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  // With `--sandbox` in force, the settings would ignore the key.
  const { settings, rawSettings } = await resolveSettings({ ...flags, sandbox: false }, world);
  guardStream(world.stderr);
  const log = createLogger(settings, world.secrets, (line) => world.stderr.write(line));
  const { host } = options;
  if (args[0] === '')
    throw new FilingsError('usage', 'must be a folder, and is empty', { subject: { name: 'DIRECTORY' } });
  // An empty host would listen on every address.
  if (!/^[\w.:%-]+$/.test(host)) throw valueError('--host', 'must be an address or a name of this machine', host);
  // A key of the config file belongs to the real service.
  const keySetting = [rawSettings.get('apiKey'), rawSettings.get('apiKeyFile')].find(
    (setting) => setting && /^(flag|env)$/.test(setting.level),
  );
  const directory = args[0] === undefined ? join(world.root, 'samples') : resolve(world.cwd, args[0]);
  const sandbox = await startSandbox({
    directory,
    host,
    port: options.port,
    apiKey: await readKey(host, keySetting && settings.key, world),
    jwtKeys: await readJwtKeys(options, world),
    latencyMs: options.latency,
    pages: options.pages,
    rateLimit: options.rateLimit,
    platform: world.platform,
    now: world.now,
    sleep: world.sleep,
    log: (line) => log('log', line),
  });
  try {
    const example = args[0] === undefined ? SAMPLE : await findFiling(directory).catch(() => undefined);
    // A program that waits for the URL on stdout can then read these messages on stderr, before the request log.
    introduce(sandbox.url, host, keySetting, example, log);
    await write(world.stdout, `${sandbox.url}\n`);
    await new Promise((resolve) => onAbort(world.interrupt, resolve));
  } finally {
    await sandbox.close();
  }
  return 0;
}

/** Returns the key. Throws `usage` if other machines could use the default key, which is public. */
async function readKey(host: string, source: Settings['key'], world: World): Promise<string> {
  const key = source ? await readSecret(source, 'API key', world) : DEFAULT_KEY;
  if (isLoopback(host) || key !== DEFAULT_KEY) return key;
  throw new FilingsError('usage', 'other machines may reach it, and the default key is public', {
    subject: { name: `--host ${host}` },
    hint: 'give it a key of its own: --api-key-file FILE or FILINGS_API_KEY',
  });
}

/** Returns the accession number of a filing with files in `directory`, or undefined if there is none. */
async function findFiling(directory: string): Promise<string | undefined> {
  for await (const { name } of await opendir(directory)) {
    if (accessionIn(name) !== name) continue;
    const files = await readdir(join(directory, name)).catch(() => []);
    if (files.some((file) => !file.startsWith('.'))) return name;
  }
  return undefined;
}

/** Prints the key and a command to try. */
function introduce(
  url: string,
  host: string,
  key: RawSetting | undefined,
  example: string | undefined,
  log: Logger,
): void {
  if (!isLoopback(host)) log('warning', `${host} may be reached by other machines, and keys travel readable`);
  log('note', key === undefined ? `the key is ${DEFAULT_KEY}` : `the key is the one of ${key.name}`);
  const allow = isLoopback(host) ? '' : ' --allow-http';
  const withKey = key?.level === 'env' ? '' : ` --api-key ${key === undefined ? DEFAULT_KEY : 'KEY'}`;
  if (example === undefined) log('warning', 'no filings found: files must be laid out as DIRECTORY/ACCESSION/FILE');
  else log('note', `try it: filings list ${example} --base-url ${url}${allow}${withKey}`);
}

async function readJwtKeys({ jwtKey, jwtSecret }: Values<typeof OPTIONS>, world: World): Promise<JwtKey[]> {
  const files: KeyFiles[] = jwtKey.map((path) => ({ keyFile: resolve(world.cwd, path) }));
  if (jwtSecret !== undefined) files.push({ secretFile: resolve(world.cwd, jwtSecret) });
  return Promise.all(
    files.map(async (file) => {
      const key = await readJwtKey(file, 'verify', world);
      requireFit(key, 'verify');
      return key;
    }),
  );
}
