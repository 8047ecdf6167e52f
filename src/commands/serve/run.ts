import { join, resolve } from 'node:path';
import { onAbort } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import { chooseAlgorithm } from '../../jwt/key-fit.ts';
import { type JwtKey, type JwtKeySource, readJwtKey } from '../../jwt/keys.ts';
import { isLoopback } from '../../loopback.ts';
import { SANDBOX_KEY, startSandbox } from '../../sandbox/server.ts';
import { markForRedaction } from '../../secrets.ts';
import { readSecret } from '../../settings/read-secret.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Invocation } from '../../spec/command.ts';
import { type Values, valueError } from '../../spec/option.ts';
import { write } from '../../stdio/output.ts';
import { createLogger } from '../../terminal/messages.ts';
import type { World } from '../../world.ts';
import type { OPTIONS } from './spec.ts';

/** An interruption is the normal end. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  // `--sandbox` is for commands that send requests, and would make the settings ignore the API key, which the new
  // server needs. So the switch is overridden.
  const { settings, rawSettings } = await resolveSettings({ ...flags, sandbox: false }, world);
  const log = createLogger(settings, world.secrets, (line) => world.stderr.write(line));
  const { host } = options;
  // An empty string, perhaps from an unset variable, would mean the working directory.
  if (args[0] === '')
    throw new FilingsError('usage', 'must be a directory, but is empty', { subject: { name: 'DIRECTORY' } });
  // With an empty host, Node would listen on every address. The `%` is for IPv6 with a zone: `fe80::1%eth0`.
  if (!/^[\w.:%-]+$/.test(host)) throw valueError('--host', 'must be an address or a name of this machine', host);
  // A key in the config file belongs to the real service.
  const keySetting = [rawSettings.get('apiKey'), rawSettings.get('apiKeyFile')].find(
    (setting) => setting && /^(flag|env)$/.test(setting.sourceKind),
  );
  const directory = args[0] === undefined ? join(world.root, 'samples') : resolve(world.cwd, args[0]);
  const sandboxOptions = {
    directory,
    host,
    port: options.port,
    // Without a `keySetting`, `keySource` can only be the key of the config file.
    apiKey: await readApiKey(host, keySetting && settings.keySource, world),
    jwtKeys: await readJwtKeys(options, world, (text) => log('warning', text)),
    pageSize: options.pages,
    // A log line quotes the request, which may contain a key or a token.
    log: (line: string) => log('log', markForRedaction(line)),
  };
  const sandbox = await startSandbox(sandboxOptions, world);
  try {
    if (!isLoopback(host)) log('warning', `other machines can reach ${host}, and anyone in between can read the keys`);
    log('note', `the API key ${keySetting === undefined ? `is ${SANDBOX_KEY}` : `comes from ${keySetting.setBy}`}`);
    // The URL is printed last, so that a program that has read it finds the messages above already on stderr.
    await write(world.stdout, `${sandbox.url}\n`);
    // SIGINT or the like, and --deadline, are a normal end.
    await new Promise((stop) => onAbort(world.interrupt, stop));
  } finally {
    await sandbox.close();
  }
  return 0;
}

/** Throws `usage` if the default key would protect a server that other machines can reach. */
async function readApiKey(host: string, keySource: Settings['keySource'], world: World): Promise<string> {
  const key = keySource ? await readSecret(keySource, 'API key', world) : SANDBOX_KEY;
  if (isLoopback(host) || key !== SANDBOX_KEY) return key;
  throw new FilingsError('usage', 'other machines can reach this address, and the default key is public', {
    subject: { name: `--host ${host}` },
    hint: 'set your own key with --api-key-file FILE or FILINGS_API_KEY',
  });
}

/** Without such keys, the sandbox requires no JWT. */
async function readJwtKeys(
  { jwtKey, jwtSecret }: Values<typeof OPTIONS>,
  world: World,
  warn: (text: string) => void,
): Promise<JwtKey[]> {
  const sources: JwtKeySource[] = jwtKey.map((path) => ({ kind: 'key', path: resolve(world.cwd, path) }));
  if (jwtSecret !== undefined) sources.push({ kind: 'secret', path: resolve(world.cwd, jwtSecret) });
  return Promise.all(
    sources.map(async (source) => {
      const key = await readJwtKey(source, 'verify', world, warn);
      // Throws if the key fits no algorithm.
      chooseAlgorithm(key, 'verify');
      return key;
    }),
  );
}
