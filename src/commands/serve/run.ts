// Runs `serve`: reads the keys, starts the sandbox (the local stand-in for the service), prints its URL and where its
// API key comes from, and waits for SIGINT or another signal that ends a run.
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

/** It is public: the help and the documentation show it. */
const DEFAULT_KEY = 'sandbox-key';

/** Serves until it is interrupted, which is its normal end: it returns 0. Throws `usage`, `config` or `local_io`. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  // `--sandbox` (or FILINGS_SANDBOX=1) is for commands that send requests, and would make the settings ignore the API
  // key. `serve` needs that key, because it is the one that the new server accepts. So the switch is overridden.
  const { settings, rawSettings } = await resolveSettings({ ...flags, sandbox: false }, world);
  // Nobody awaits the writes of the log, and their errors must not end the server.
  guardStream(world.stderr);
  const log = createLogger(settings, world.secrets, (line) => world.stderr.write(line));
  const { host } = options;
  // An empty string, perhaps from an unset variable, would mean the working directory.
  if (args[0] === '')
    throw new FilingsError('usage', 'must be a directory, but is empty', { subject: { name: 'DIRECTORY' } });
  // With an empty host, Node would listen on every address. The `%` is for IPv6 with a zone: `fe80::1%eth0`.
  if (!/^[\w.:%-]+$/.test(host)) throw valueError('--host', 'must be an address or a name of this machine', host);
  // Only a key from a flag or a variable is used: one in the config file belongs to the real service. The two settings
  // exclude each other, so at most one is found.
  const keySetting = [rawSettings.get('apiKey'), rawSettings.get('apiKeyFile')].find(
    (setting) => setting && /^(flag|env)$/.test(setting.sourceKind),
  );
  const directory = args[0] === undefined ? join(world.root, 'samples') : resolve(world.cwd, args[0]);
  const jwtKeys = await readJwtKeys(options, world);
  const sandbox = await startSandbox({
    directory,
    host,
    port: options.port,
    // `settings.keySource` says where to read the key. Without a `keySetting`, it can only name the key of the config
    // file, which is not used.
    apiKey: await readApiKey(host, keySetting && settings.keySource, world),
    jwtKeys,
    pageSize: options.pages,
    platform: world.platform,
    now: world.now,
    // A log line quotes the request, which may contain a key or a token. `log` redacts these in marked text only.
    log: (line) => log('log', markForRedaction(line)),
  });
  try {
    if (!isLoopback(host)) log('warning', `other machines can reach ${host}, and anyone in between can read the keys`);
    log('note', `the API key ${keySetting === undefined ? `is ${DEFAULT_KEY}` : `comes from ${keySetting.source}`}`);
    // The first filing, for the example below. `asAccession` also accepts a number without hyphens, but the sandbox
    // does not serve a directory with such a name.
    const accession = (await readdir(directory)).sort().find((name) => asAccession(name) === name);
    // The command in this note works only if the sandbox wants no more than the default key, and sends the list of a
    // filing's files as a whole. To follow pages, the client needs the member `listing` in its config file.
    if (accession && keySetting === undefined && jwtKeys.length === 0 && options.pages === undefined)
      log('note', `try it: filings list ${accession} --base-url ${sandbox.url} --api-key ${DEFAULT_KEY}`);
    // Printed last, so that a program that has read the URL finds the messages above already on stderr.
    await write(world.stdout, `${sandbox.url}\n`);
    // `interrupt` aborts on SIGINT or the like, and at --deadline. Either is a normal end.
    await new Promise((stop) => onAbort(world.interrupt, stop));
  } finally {
    await sandbox.close();
  }
  return 0;
}

/**
 * Returns the API key that requests must send: the default key if there is no `keySource`. Throws `usage` if that key
 * would protect a server that other machines can reach.
 */
async function readApiKey(host: string, keySource: Settings['keySource'], world: World): Promise<string> {
  const key = keySource ? await readSecret(keySource, 'API key', world) : DEFAULT_KEY;
  if (isLoopback(host) || key !== DEFAULT_KEY) return key;
  throw new FilingsError('usage', 'other machines can reach this address, and the default key is public', {
    subject: { name: `--host ${host}` },
    hint: 'set your own key with --api-key-file FILE or FILINGS_API_KEY',
  });
}

/** Reads the keys that verify JWTs. If there are none, the sandbox requires no JWT. Throws `config`. */
async function readJwtKeys({ jwtKey, jwtSecret }: Values<typeof OPTIONS>, world: World): Promise<JwtKey[]> {
  // Both options are paths.
  const files: KeyFiles[] = jwtKey.map((path) => ({ keyFile: resolve(world.cwd, path) }));
  if (jwtSecret !== undefined) files.push({ secretFile: resolve(world.cwd, jwtSecret) });
  return Promise.all(
    files.map(async (file) => {
      const key = await readJwtKey(file, 'verify', world);
      // Called only because it throws if the key fits no algorithm.
      chooseAlgorithm(key, 'verify');
      return key;
    }),
  );
}
