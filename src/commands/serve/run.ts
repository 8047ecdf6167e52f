// Runs `serve`: reads the keys, starts the sandbox, prints its URL and where its API key comes from, and waits for a
// signal.
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { onAbort } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import { chooseAlgorithm } from '../../jwt/key-fit.ts';
import { type JwtKey, type KeyFiles, readJwtKey } from '../../jwt/keys.ts';
import { isLoopback } from '../../loopback.ts';
import { startSandbox } from '../../sandbox/server.ts';
import { markForRedaction } from '../../secrets.ts';
import { asAccession } from '../../service/accession.ts';
import { readSecret } from '../../settings/read-secret.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Invocation } from '../../spec/command.ts';
import { type Values, valueError } from '../../spec/option.ts';
import { guardStream, write } from '../../stdio/output.ts';
import { createLogger } from '../../terminal/messages.ts';
import type { World } from '../../world.ts';
import type { OPTIONS } from './spec.ts';

const DEFAULT_KEY = 'sandbox-key';

/** Serves until the first signal, which is its normal end, so the exit status is 0. Throws `usage` and `local_io`. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  // With `--sandbox` (or FILINGS_SANDBOX=1), the settings would ignore the API key.
  const { settings, rawSettings } = await resolveSettings({ ...flags, sandbox: false }, world);
  guardStream(world.stderr);
  const log = createLogger(settings, world.secrets, (line) => world.stderr.write(line));
  const { host } = options;
  if (args[0] === '')
    throw new FilingsError('usage', 'must be a directory, but is empty', { subject: { name: 'DIRECTORY' } });
  // With an empty host, Node would listen on every address.
  if (!/^[\w.:%-]+$/.test(host)) throw valueError('--host', 'must be an address or a name of this machine', host);
  // A key in the config file belongs to the real service, so the sandbox must not use it.
  const keySetting = [rawSettings.get('apiKey'), rawSettings.get('apiKeyFile')].find(
    (setting) => setting && /^(flag|env)$/.test(setting.sourceKind),
  );
  const directory = args[0] === undefined ? join(world.root, 'samples') : resolve(world.cwd, args[0]);
  const jwtKeys = await readJwtKeys(options, world);
  const sandbox = await startSandbox({
    directory,
    host,
    port: options.port,
    apiKey: await readKey(host, keySetting && settings.keySource, world),
    jwtKeys,
    pageSize: options.pages,
    platform: world.platform,
    now: world.now,
    log: (line) => log('log', markForRedaction(line)),
  });
  try {
    if (!isLoopback(host)) log('warning', `other machines can reach ${host}, and anyone in between can read the keys`);
    log('note', `the API key ${keySetting === undefined ? `is ${DEFAULT_KEY}` : `comes from ${keySetting.source}`}`);
    const accession = (await readdir(directory)).sort().find((name) => asAccession(name) === name);
    // Another key would have to be passed, and pages would first have to be described in the config file (`listing`).
    if (accession && keySetting === undefined && jwtKeys.length === 0 && options.pages === undefined)
      log('note', `try it: filings list ${accession} --base-url ${sandbox.url} --api-key ${DEFAULT_KEY}`);
    // The URL comes last. When a program has read it, the messages above are already on stderr.
    await write(world.stdout, `${sandbox.url}\n`);
    await new Promise((stop) => onAbort(world.interrupt, stop));
  } finally {
    await sandbox.close();
  }
  return 0;
}

async function readKey(host: string, source: Settings['keySource'], world: World): Promise<string> {
  const key = source ? await readSecret(source, 'API key', world) : DEFAULT_KEY;
  if (isLoopback(host) || key !== DEFAULT_KEY) return key;
  throw new FilingsError('usage', 'other machines can reach this address, and the default key is public', {
    subject: { name: `--host ${host}` },
    hint: 'set your own key with --api-key-file FILE or FILINGS_API_KEY',
  });
}

async function readJwtKeys({ jwtKey, jwtSecret }: Values<typeof OPTIONS>, world: World): Promise<JwtKey[]> {
  const files: KeyFiles[] = jwtKey.map((path) => ({ keyFile: resolve(world.cwd, path) }));
  if (jwtSecret !== undefined) files.push({ secretFile: resolve(world.cwd, jwtSecret) });
  return Promise.all(
    files.map(async (file) => {
      const key = await readJwtKey(file, 'verify', world);
      // Refuses a key that fits no algorithm.
      chooseAlgorithm(key, 'verify');
      return key;
    }),
  );
}
